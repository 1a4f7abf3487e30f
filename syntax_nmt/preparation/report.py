"""A short report of `syntax-nmt prepare`."""

from __future__ import annotations

from syntax_nmt.data.annotation import KINDS
from syntax_nmt.data.text_columns import NO_FIGURE, table
from syntax_nmt.preparation.preparation import Preparation


def summary(done: Preparation) -> str:
    """A table of the splits."""
    rows: list[tuple[str, ...]] = [
        ("split", "lines", "words", "empty", "pieces/word", "unknown", "annotated")
    ]
    for split in done.plan.splits:
        for lang in done.plan.languages:
            rows.append(_row(done, f"{split.name}.{lang}"))
    return table(rows, left=1)


def _row(done: Preparation, name: str) -> tuple[str, ...]:
    words = done.reports[f"words/{name}"]
    pieces = done.reports[f"pieces/{name}"]
    unknown = done.reports["data-bin"]["unknown"].get(name, 0.0)
    return (
        name,
        f"{words['lines']:,}",
        f"{words['words']:,}",
        f"{words['empty']:,}",
        f"{pieces['pieces'] / max(1, pieces['words']):.3f}",
        f"{unknown:g}%",
        _annotated_shares(done, name),
    )


def _annotated_shares(done: Preparation, name: str) -> str:
    """The source of each kind of annotation, and the number of lines that have it."""
    shares = []
    for kind in KINDS:
        report = done.reports.get(f"words/{name}.{kind.ending}")
        if report is None:
            continue
        if "from" in report:
            skipped = f", {report['skipped']:,} skipped" if "skipped" in report else ""
            shares.append(f"{kind.ending} given{skipped}")
        else:
            share = report["annotated"] / max(1, report["lines"])
            shares.append(f"{kind.ending} by Stanza ({share:.2%})")
    return "; ".join(shares) or NO_FIGURE
