"""A table of what a preparation made, from the reports of its steps."""

from collections.abc import Mapping

from syntax_nmt.data.annotation import TEXT_KINDS
from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.preparation.plan import Plan
from syntax_nmt.preparation.steps import ANNOTATED, PARSER, SKIPPED, TAKEN_FROM, UNKNOWN, Report
from syntax_nmt.reporting.findings import PLAIN, Table


def summary(plan: Plan, reports: Mapping[str, Report]) -> str:
    """A table of the splits.

    Args:
        reports: of the steps, by their names.
    """
    head = ("split", "lines", "words", "empty", "pieces/word", "unknown", "annotated")
    names = [f"{split.name}.{lang}" for split in plan.splits for lang in plan.languages]
    rows = [_row(reports, name) for name in names if f"words/{name}" in reports]
    return Table(head, rows).render(PLAIN)


def _row(reports: Mapping[str, Report], name: str) -> tuple[str, ...]:
    words, pieces = reports[f"words/{name}"], reports[f"pieces/{name}"]
    unknown = reports["data-bin"][UNKNOWN].get(name, 0.0)
    return (
        name,
        f"{words['lines']:,}",
        f"{words['words']:,}",
        f"{words['empty']:,}",
        f"{pieces['pieces'] / max(1, pieces['words']):.3f}",
        f"{unknown:g}%",
        _annotated_shares(reports, name),
    )


def _annotated_shares(reports: Mapping[str, Report], name: str) -> str:
    """The source of each kind of annotation, and the number of lines that have it."""
    shares = []
    for kind in TEXT_KINDS:
        report = reports.get(f"words/{name}.{kind.ending}")
        if report is None:
            continue
        if TAKEN_FROM in report:
            skipped = f", {report[SKIPPED]:,} skipped" if SKIPPED in report else ""
            shares.append(f"{kind.ending} given{skipped}")
        else:
            share = report[ANNOTATED] / max(1, report["lines"])
            parser = report.get(PARSER, "Stanza").partition(",")[0]  # and its version
            shares.append(f"{kind.ending} by {parser} ({share:.2%})")
    return "; ".join(shares) or NO_FIGURE
