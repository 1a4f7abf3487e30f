"""A table as Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tabulate import tabulate

from syntax_nmt.data.text_files import write_bytes_atomically

_NONE = "–"
_NOT_RUN = "not run"
# What LaTeX's default fonts lack.
_LATEX = {"±": r"$\pm$", "−": "$-$", "→": r"$\rightarrow$", "≤": r"$\leq$", "≥": r"$\geq$"}
_LATEX |= {"λ": r"$\lambda$", "α": r"$\alpha$", "β": r"$\beta$", "τ": r"$\tau$", "²": r"$^2$"}
_LATEX |= {"–": "--", "×": r"$\times$", "…": r"\ldots{}", "½": r"$\frac12$", "Δ": r"$\Delta$"}

Sheet = tuple[str, list[str], list[list[str]]]
"""A caption, the head and the rows."""


def write_table(figures: Mapping[str, Any], folder: Path) -> None:
    """Writes `table.md`, `table.tex`, `table.csv` and `table.json`.

    Args:
        figures: of :class:`experiments.measured_table.MeasuredTable`.
        folder: of the results.
    """
    sheets, notes = [*sheets_of(figures)], notes_of(figures)
    files = {
        "md": _markdown(figures["title"], sheets, notes),
        "tex": _latex(sheets, notes),
        "csv": _csv(figures),
        "json": json.dumps(figures, indent=1, ensure_ascii=False) + "\n",
    }
    for ending, text in files.items():
        write_bytes_atomically(folder / f"table.{ending}", text.encode())


def sheets_of(figures: Mapping[str, Any]) -> list[Sheet]:
    """Scores on each test set, scores by length, trainings, and the grid if there is one.

    Args:
        figures: of the table.
    """
    tests = dict.fromkeys(
        test["test"] for family in figures["families"] for test in family["tests"]
    )
    sheets = [_scores(figures, test) for test in tests or [""]]
    sheets += [
        _by_length(family, test) for family in figures["families"] for test in family["tests"]
    ]
    sheets.append(_trainings(figures))
    if figures["trials"]:
        sheets.append(_trials(figures))
    return sheets


def _scores(figures: Mapping[str, Any], test: str) -> Sheet:
    """A row a system: scores, differences, further figures, and what was published."""
    by_family = {
        family["name"]: found
        for family in figures["families"]
        for found in family["tests"]
        if found["test"] == test
    }
    names = list(next(iter(by_family.values()))["metrics"]) if by_family else []
    main = _name_of(figures["primary"], names)
    further = list(dict.fromkeys(name for row in figures["rows"] for name in row["figures"]))
    head = ["system", "seeds", main, "difference", "p", "p (Holm)"]
    head += [*(name for name in names if name != main), *further, "published"]
    rows = []
    for row in figures["rows"]:
        label = f"{row['label']} (baseline)" if row["baseline"] else row["label"]
        found = by_family.get(row["family"], {"systems": {}})["systems"].get(row["system"])
        if found is None:
            cells = [label, _seeds(row), _NOT_RUN, *[_NONE] * (len(head) - 4), row["published"]]
            rows.append(cells)
            continue
        item = found[main]
        cells = [label, _seeds(row), _with_spread(item["score"], item["spread"], 1)]
        cells += [_signed(item.get("difference")), _p(item.get("p_value")), _p(item.get("p_holm"))]
        cells += [
            _with_spread(found[name]["score"], found[name]["spread"], 1)
            for name in names
            if name != main
        ]
        cells += [_mean_cell(row.get(name), 1) for name in further]
        rows.append([*cells, row["published"]])
    sentences = {found["sentences"] for found in by_family.values()}
    caption = f"{test}, {', '.join(map(str, sentences))} sentences" if by_family else "Scores"
    return caption, head, rows


def _name_of(key: str, names: Sequence[str]) -> str:
    """The metric as sacrebleu writes it: chrf, chrF2."""
    return next((name for name in names if name.lower().startswith(key)), key)


def _by_length(family: Mapping[str, Any], test: Mapping[str, Any]) -> Sheet:
    metric = next(iter(test["metrics"]))
    bins = test["by_length"]
    head = ["system", *(group["label"] for group in bins)]
    rows = [["sentences", *(str(group["sentences"]) for group in bins)]]
    for system in test["systems"]:
        cells = [group["scores"][metric][system] for group in bins]
        rows.append([system, *(_with_spread(cell["score"], cell["spread"], 1) for cell in cells)])
    return f"{metric} by length of the source, {test['test']}, {family['name']}", head, rows


def _trainings(figures: Mapping[str, Any]) -> Sheet:
    head = ["system", "setting", "validation nll", "training nll", "parameters", "updates"]
    head += ["hours", "tokens/s"]
    rows = []
    for row in figures["rows"]:
        hours = row["seconds"] and row["seconds"]["mean"] / 3600
        rows.append(
            [
                row["label"],
                row["setting"] or _NONE,
                _mean_cell(row["validation_nll"], 3),
                _mean_cell(row["training_nll"], 3),
                _NONE if row["parameters"] is None else f"{row['parameters']:,}",
                _mean_cell(row["updates"], 0),
                _NONE if hours is None else f"{hours:.2f}",
                _mean_cell(row["tokens_per_second"], 0),
            ]
        )
    return "Trainings; nll in bits a token, hours and tokens of one run", head, rows


def _trials(figures: Mapping[str, Any]) -> Sheet:
    """What distinguishes the options of all that was tried, and which was chosen."""
    options = [set(re.findall(r"-\S+(?: [^-]\S*)*", run["options"])) for run in figures["trials"]]
    common = set.intersection(*options)
    rows = [
        [
            run["run"],
            " ".join(sorted(own - common)),
            _NOT_RUN if run["validation_nll"] is None else f"{run['validation_nll']:.3f}",
            "chosen" if run["chosen"] else "",
        ]
        for run, own in zip(figures["trials"], options)
    ]
    return "Tried on the validation set", ["run", "options", "validation nll", ""], rows


def notes_of(figures: Mapping[str, Any]) -> list[str]:
    """What a reader must know beside the figures.

    Args:
        figures: of the table.
    """
    notes = [
        f"Declared before the runs: the primary figure is {figures['primary']}, settings are "
        f"chosen by {figures['chosen_by']}.",
        "± is the standard deviation over seeds. p: approximate randomisation against the "
        "family's baseline, all seeds pooled; Holm's adjustment is over the table's systems.",
    ]
    runs = [(row, run) for row in figures["rows"] for run in row["runs"]]
    few = [
        row["label"]
        for row in figures["rows"]
        if 0 < len(row["seeds_done"]) < len(row["seeds_declared"])
    ]
    if few:
        notes.append(f"Fewer seeds than declared: {', '.join(few)}.")
    for what, name in (("commit", "commit"), ("device", "device"), ("CPU", "cpu")):
        notes += _by_value(what, [(row["label"], str(run[name])[:60]) for row, run in runs])
    notes += _by_value("torch threads", [(row["label"], str(run["threads"])) for row, run in runs])
    versions = [(row["label"], _versions(run["versions"])) for row, run in runs]
    notes += _by_value("versions", versions)
    for family in figures["families"]:
        checksums = [
            (row["label"], run["data_checksum"])
            for row, run in runs
            if row["family"] == family["name"]
        ]
        if len({checksum for _, checksum in checksums}) > 1:
            notes += ["**Rows of different data.**", *_by_value("data", checksums)]
        for test in family["tests"]:
            notes += [item["signature"] for item in test["metrics"].values()]
    return list(dict.fromkeys(notes))


def _by_value(what: str, pairs: Sequence[tuple[str, str]]) -> list[str]:
    """One line where all rows agree; else says so, and which rows have which."""
    rows: dict[str, dict[str, None]] = {}
    for label, value in pairs:
        rows.setdefault(value, {})[label] = None
    if len(rows) < 2:
        return [f"{what}: {value}" for value in rows]
    parts = [f"{value} ({', '.join(labels)})" for value, labels in rows.items()]
    return [f"Rows of {len(rows)} different values of {what}: {'; '.join(parts)}"]


def _versions(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _markdown(title: str, sheets: Sequence[Sheet], notes: Sequence[str]) -> str:
    parts = [f"# {title}"]
    for caption, head, rows in sheets:
        parts += [f"**{caption}**", tabulate(rows, head, "github", disable_numparse=True)]
    parts.append("\n".join(f"- {note}" for note in notes))
    return "\n\n".join(parts) + "\n"


def _latex(sheets: Sequence[Sheet], notes: Sequence[str]) -> str:
    parts = ["% needs \\usepackage{booktabs}", *(f"% {note}" for note in notes)]
    for caption, head, rows in sheets:
        align = ("left", *("right" for _ in head[1:]))
        body = tabulate(
            rows, head, "latex_booktabs", disable_numparse=True, colalign=align if rows else None
        )
        caption = tabulate([[caption]], tablefmt="latex").split("\n")[2].removesuffix(r"\\").strip()
        parts += ["\\begin{table}", "\\centering", body, f"\\caption{{{caption}}}", "\\end{table}"]
    text = "\n".join(parts) + "\n"
    return "".join(_LATEX.get(character, character) for character in text)


def _csv(figures: Mapping[str, Any]) -> str:
    """A line for each system, test set and metric, with all digits."""
    stream = io.StringIO()
    head = ["test", "family", "system", "label", "seeds", "metric", "mean", "sd", "difference"]
    head += ["p", "p_holm", "validation_nll", "training_nll", "parameters", "updates", "seconds"]
    head += ["tokens_per_second", "setting", "commits"]
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(head)
    tests = {family["name"]: family["tests"] for family in figures["families"]}
    for row in figures["rows"]:
        names = ("validation_nll", "training_nll", "updates", "seconds", "tokens_per_second")
        means = {name: row[name] and row[name]["mean"] for name in names}
        facts = [means["validation_nll"], means["training_nll"], row["parameters"]]
        facts += [means["updates"], means["seconds"], means["tokens_per_second"], row["setting"]]
        facts.append(" ".join(dict.fromkeys(run["commit"] for run in row["runs"])))
        start = [row["family"], row["system"], row["label"], len(row["seeds_done"])]
        scored = [test for test in tests[row["family"]] if row["system"] in test["systems"]]
        if not scored:
            writer.writerow(["", *start, *[""] * 6, *facts])
        for test in scored:
            for metric, item in test["systems"][row["system"]].items():
                cells = [item["score"], item["spread"], item.get("difference")]
                cells += [item.get("p_value"), item.get("p_holm")]
                writer.writerow([test["test"], *start, metric, *cells, *facts])
    return stream.getvalue()


def _seeds(row: Mapping[str, Any]) -> str:
    done, declared = len(row["seeds_done"]), len(row["seeds_declared"])
    return str(done) if done == declared else f"{done} of {declared}"


def _with_spread(score: float | None, spread: float | None, width: int) -> str:
    if score is None:
        return _NONE
    return f"{score:,.{width}f}" + ("" if spread is None else f" ± {spread:,.{width}f}")


def _mean_cell(item: Mapping[str, Any] | None, width: int) -> str:
    if item is None:
        return _NONE
    return _with_spread(item["mean"], item["spread"] or None, width)


def _signed(value: float | None) -> str:
    return _NONE if value is None else f"{value:+.1f}".replace("-", "−")


def _p(value: float | None) -> str:
    if value is None:
        return _NONE
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"
