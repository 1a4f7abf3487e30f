"""A table as Markdown and JSON, and for whoever asks as LaTeX and tab-separated values."""

import statistics
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter, itemgetter
from pathlib import Path

from experiments.comparisons import TRIALS
from experiments.programs import write_json
from experiments.table_results import (
    DECIDING,
    TESTS,
    ChangeDifference,
    ComparedPair,
    FamilyResult,
    PairDifference,
    RowResult,
    RunFacts,
    RunMean,
    TableResult,
    TableTest,
)
from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.data.text_files import write_bytes_atomically
from syntax_nmt.reporting.findings import GITHUB, LATEX, TSV, Findings, Table
from syntax_nmt.scoring.translations.lengths import USUAL
from syntax_nmt.scoring.translations.results import Score, interval_text, signed
from syntax_nmt.scoring.translations.seed_tests import spread
from syntax_nmt.scoring.translations.significance import SIGNIFICANT
from syntax_nmt.scoring.words.bucket_tables import comparison_tables, word_notes

FORMS = {"tex": LATEX, "tsv": TSV}
_DECIDED = {
    "both": "the adjusted p of sentences and of seeds are both",
    "blocks": "the adjusted p of blocks is",
}
_NOT_RUN, _DIVERGED = "not run", "diverged"


def write_table(result: TableResult, folder: Path, also: Collection[str] = ()) -> None:
    """Writes `table.md` and `table.json`.

    Args:
        also: more of :data:`FORMS`, to be written beside them.
    """
    title, tables, notes = result.title, tables_of(result), notes_of(result)
    write_bytes_atomically(folder / "table.md", markdown(title, tables, notes).encode())
    write_json(folder / "table.json", result.to_json())
    for ending in also:
        text = Findings(tables, title, notes).text(FORMS[ending])
        write_bytes_atomically(folder / f"table.{ending}", text.encode())


def tables_of(result: TableResult) -> list[Table]:
    """Scores and comparisons on each test set, scores by length, trainings, what was tried."""
    names = dict.fromkeys(test.test for test in result.tests)
    tables = [_scores(result, name) for name in names or ("",)]
    tables += [table for name in names for table in _comparisons(result, name)]
    tables += [table for name in names for table in _changes(result, name)]
    tables += [table for test in result.tests for table in _words(test)]
    tables += [_by_length(result, test) for test in result.tests]
    tables.append(_trainings(result))
    return tables + ([_trials(result)] if result.trials else [])


def _scores(result: TableResult, name: str) -> Table:
    tests = {test.family: test for test in result.tests if test.test == name}
    metrics: list[str] = []
    for test in list(tests.values())[:1]:  # all have the same
        primary = result.primary_of(test)
        metrics = [primary, *(metric for metric in test.metrics if metric != primary)]
    further = list(dict.fromkeys(name for row in result.rows for name in row.figures))
    head = ["system", "seeds", *(metrics[:1] or [result.primary])]
    cut = any(test.longer is not None for test in tests.values())
    head += [*([f"{metrics[0]}, cut", "longer"] if cut else []), *metrics[1:], *further]
    head += ["published"]
    rows = []
    for row in result.rows:
        of_family = tests.get(row.family)
        scores = None if of_family is None else of_family.scores.get(row.system)
        cells = [row.label + (" (baseline)" if row.baseline else ""), _seeds(row)]
        if of_family is None or scores is None:
            cells += [without_scores(row), *[NO_FIGURE] * (len(head) - 4)]
        else:
            cells.append(_mean(scores[metrics[0]]))
            if cut:
                cells += _cut(of_family, row.system, metrics[0])
            cells += [_mean(scores[metric]) for metric in metrics[1:]]
            cells += [_mean(row.figures.get(name)) for name in further]
        rows.append([*cells, row.published])
    counts = dict.fromkeys(f"{test.sentences} sentences" for test in tests.values())
    sentences = ", ".join(counts)
    return Table(head, rows, f"{name}, {sentences}" if tests else "Scores")


def _cut(test: FamilyResult, system: str, metric: str) -> list[str]:
    """The score of translations that are cut, and how many are, of each run."""
    if test.longer is None:
        return [NO_FIGURE, NO_FIGURE]
    found = test.longer[system]
    scores = found.scores[metric]
    score = Score(statistics.mean(scores), spread(scores), None)
    return [_mean(score), ", ".join(map(str, found.runs))]


def _comparisons(result: TableResult, name: str) -> Iterator[Table]:
    """What both tests say of the primary metric, as translated and, where it differs, cut."""
    tests = [test for test in result.tests if test.test == name]
    for wanted, more in (("scores", ""), ("cut", ", translations cut")):
        rows = [
            _comparison(result, test, pair, of_kind[result.primary_of(test)])
            for test in tests
            for pair in test.pairs
            for kind, of_kind in pair.kinds()
            if kind == wanted
        ]
        if rows:
            head = ["system", "against", "declared", "difference", "95 %", "p sentences"]
            head += ["p seeds", "p blocks", "over the table", ""]
            yield Table(head, rows, f"Comparisons: {name}{more}")


def _changes(result: TableResult, name: str) -> Iterator[Table]:
    """How scores change to this test set, and how differently those of two systems do."""
    tests = [(test, test.changed) for test in result.tests if test.test == name and test.changed]
    if not tests:
        return
    test, changed = tests[0]  # all have the same
    what = f"{result.primary_of(test)} from {changed.from_} to {name}"
    rows = [
        [result.labels(test.family)[system], str(len(mean.runs)), _signed_mean(mean)]
        for test, changed in tests
        for system, mean in changed.systems.items()
    ]
    yield Table(["system", "seeds", "change"], rows, f"Change of {what}")
    head = ["system", "against", "difference of changes", "95 %", "p blocks"]
    rows = [
        _changed_pair(result, test, pair, pair.change)
        for test, _ in tests
        for pair in test.pairs
        if pair.change is not None
    ]
    if rows:
        yield Table([*head, "over the table", ""], rows, f"Comparisons of changes of {what}")


def _changed_pair(
    result: TableResult, test: FamilyResult, pair: ComparedPair, change: ChangeDifference
) -> list[str]:
    labels, blocks = result.labels(test.family), change.blocks
    better = test.metrics[result.primary_of(test)].higher_is_better
    return [
        labels[pair.system],
        labels[pair.against],
        _signed(change.difference),
        interval_text(blocks, 1).replace("-", "−"),
        blocks.p_text(),
        _over_table([blocks]),
        change.verdict(pair.is_tested, better),
    ]


def _words(test: FamilyResult) -> Iterator[Table]:
    """Which words gain, if that is asked for: a table for each comparison and kind."""
    for pair in test.pairs:
        for table in comparison_tables(pair.words_by or (), 1):
            yield replace(table, title=f"{test.test}: {table.title}")


def _comparison(
    result: TableResult, test: FamilyResult, pair: ComparedPair, found: PairDifference
) -> list[str]:
    labels, tests = result.labels(test.family), found.tests()
    cells = [labels[pair.system], labels[pair.against], pair.declared or NO_FIGURE]
    interval = (result.decided_by == "blocks" and found.blocks) or found.seeds
    cells += [_signed(found.difference), interval_text(interval, 1).replace("-", "−")]
    cells += [tests[name].p_text() if name in tests else NO_FIGURE for name in TESTS]
    cells.append(_over_table([tests[name] for name in DECIDING[result.decided_by]]))
    better = test.metrics[result.primary_of(test)].higher_is_better
    return [*cells, found.verdict(better, result.decided_by)]


def _over_table(tests: Sequence[TableTest]) -> str:
    """The largest p over the whole table, if all tests have one."""
    known = [(test.p_holm_table, test) for test in tests if test.p_holm_table is not None]
    if len(known) < len(tests):
        return NO_FIGURE
    p_value, test = max(known, key=itemgetter(0))
    return test.adjusted_text(p_value)


def _by_length(result: TableResult, test: FamilyResult) -> Table:
    metric, labels = result.primary_of(test), result.labels(test.family)
    head = ["system", *(group.label for group in test.by_length)]
    rows = [["sentences", *(str(group.sentences) for group in test.by_length)]]
    for system in test.scores:
        cells = [group.scores[metric][system] for group in test.by_length]
        rows.append([labels[system], *map(_mean, cells)])
    title = f"{metric} by length of the source: {test.test}, {test.family}"
    return Table(head, rows, title)


def _trainings(result: TableResult) -> Table:
    head = ["system", "chosen", "validation nll", "training nll", "parameters", "updates"]
    head += ["hours", "tokens/s"]
    rows = []
    for row in result.rows:
        hours = row.seconds and Score(row.seconds.score / 3600, None, None)
        cells = [row.label, row.chosen or NO_FIGURE]
        cells += [_mean(row.validation_nll, 3), _mean(row.training_nll, 3)]
        cells.append(f"{row.parameters:,}" if row.parameters else NO_FIGURE)
        updates = row.updates and f"{row.updates.score:,.0f}"
        cells += [updates or NO_FIGURE, _mean(hours, 2), _mean(row.tokens_per_second, 0)]
        rows.append(cells)
    title = "Trainings: nll in bits a token; hours and tokens a second of one run"
    return Table(head, rows, title)


def _trials(result: TableResult) -> Table:
    """Runs that a setting or a system was chosen by."""
    rows = []
    for run in result.trials:
        nll = _DIVERGED if run.validation_nll is None else f"{run.validation_nll:.3f}"
        nll = nll if run.done else _NOT_RUN
        rows.append([run.run, run.setting or "", nll, "chosen" if run.chosen else ""])
    return Table(["run", "setting", "validation nll", ""], rows, "Tried, with the first seed")


def notes_of(result: TableResult) -> list[str]:
    """What a reader must know: how figures are meant, and where they come from."""
    decided_by = result.decided_by
    notes = [
        f"Declared before the runs: the primary figure is {result.primary}; settings and "
        f"systems are chosen by {result.choice}.",
        "± is the standard deviation over seeds, differences are between means of all runs. “p "
        f"sentences” is of approximate randomisation with the runs pooled, {_trials_text()}: "
        "whether these models differ on other sentences. “p seeds” is of Welch's t-test: whether "
        "other training seeds would show a difference. “p blocks” asks the same with seeds as "
        "blocks: a t-test of differences within seeds, whose variance is moderated by that of all "
        "pairs of a family's systems, or a pair's own where it is larger. In brackets: after "
        "Holm's adjustment over the comparisons of a claim that have run; “over the table”: of "
        "what decides, after Holm's adjustment over all of them. “declared”: the day on which the "
        "table's YAML first had the comparison.",
        f"“gains” and “loses” stand where {_DECIDED[decided_by]} below {SIGNIFICANT}; the "
        f"interval is over {'seeds' if decided_by == 'blocks' else 'seeds and sentences'}.",
    ]
    if any(test.longer is not None for test in result.tests):
        notes.append(
            f"“cut”: translations longer than {USUAL} are cut there; “longer”: how many there are, "
            "by run."
        )
    if len({test.test for test in result.tests}) > 1:
        notes.append("Both of Holm's adjustments are over the comparisons of one test set.")
    if any(test.changed for test in result.tests):
        notes.append(
            "A change is that of each seed: its score on the second test set less that on the "
            "first. Two systems are compared by the differences of their changes within the seeds "
            "that both have; p is of the test with seeds as blocks, and decides. Its adjustments "
            "are over the comparisons of changes."
        )
    pairs = [pair for test in result.tests for pair in test.pairs]
    notes += dict.fromkeys(note for pair in pairs for note in word_notes(pair.words_by or ()))
    few = [
        f"“{row.label}”" for row in result.rows if 0 < len(row.seeds_done) < len(row.seeds_declared)
    ]
    if few:
        notes.append(f"Fewer seeds than declared: {', '.join(few)}.")
    for what in ("commit", "device", "cpu", "threads"):
        notes += _by_value(what, result.rows, attrgetter(what))
    notes += _by_value(
        "versions", result.rows, lambda run: ", ".join(map(" ".join, run.versions.items()))
    )
    for family in dict.fromkeys(row.family for row in result.rows):
        of_data = attrgetter("data_checksum")
        notes += _by_value(f"data of {family}", result.rows_of(family), of_data)
    signatures = [metric.signature for test in result.tests for metric in test.metrics.values()]
    return [*notes, *dict.fromkeys(signatures)]


def _trials_text() -> str:
    """How many trials of randomisation are made at most."""
    most, *fewer = TRIALS.values()
    limits = zip(fewer, TRIALS)
    rest = [f"{trials:,} where there are more than {runs} runs" for trials, runs in limits]
    return f"{most:,} trials ({', '.join(rest)})"


def _by_value(
    what: str, rows: Sequence[RowResult], value_of: Callable[[RunFacts], object]
) -> list[str]:
    """One line: the value of all runs, or which runs have another than most."""
    runs: dict[str, dict[str, list[int]]] = {}
    for row in rows:
        for run in row.runs:
            of_value = runs.setdefault(str(value_of(run)), {})
            of_value.setdefault(row.label, []).append(run.seed)
    if len(runs) < 2:
        return [f"{what}: {value}" for value in runs]
    most = max(runs, key=lambda value: sum(map(len, runs[value].values())))
    parts = [f"{value} ({_runs_text(runs[value])})" for value in runs if value != most]
    return [f"runs differ in {what}: {most} (most); " + "; ".join(parts)]


def _runs_text(seeds: Mapping[str, Sequence[int]]) -> str:
    """The seeds of some rows, neighbours as a range: “Transformer”, seeds 1–3, 5."""
    found = []
    for label, of_row in seeds.items():
        ranges: list[list[int]] = []
        for seed in sorted(of_row):
            if ranges and seed == ranges[-1][-1] + 1:
                ranges[-1][1:] = [seed]
            else:
                ranges.append([seed])
        listed = ", ".join("–".join(map(str, each)) for each in ranges)
        found.append(f"“{label}”, seed{'s' * (len(of_row) > 1)} {listed}")
    return "; ".join(found)


def markdown(title: str, tables: Sequence[Table], notes: Sequence[str]) -> str:
    """All tables and notes."""
    parts = [f"# {title}"]
    for table in tables:
        parts += [f"**{table.title}**", table.render(GITHUB)]
    return "\n\n".join([*parts, "\n".join(f"- {note}" for note in notes)]) + "\n"


def without_scores(row: RowResult) -> str:
    """Why a row has none on a test set."""
    if row.seeds_diverged:
        return f"{_DIVERGED}: {len(row.seeds_diverged)} of {len(row.seeds_done)}"
    return NO_FIGURE if row.seeds_done else _NOT_RUN  # the family has other test sets


def _seeds(row: RowResult) -> str:
    done, declared = len(row.seeds_done), len(row.seeds_declared)
    return str(done) if done == declared else f"{done} of {declared}"


def _mean(item: Score | RunMean | None, width: int = 1) -> str:
    if item is None or item.score is None:
        return NO_FIGURE
    spread = "" if item.spread is None else f" ± {item.spread:,.{width}f}"
    return f"{item.score:,.{width}f}{spread}"


def _signed_mean(mean: RunMean) -> str:
    spread = "" if mean.spread is None else f" ± {mean.spread:.1f}"
    return f"{_signed(mean.score)}{spread}"


def _signed(value: float | None) -> str:
    return NO_FIGURE if value is None else signed(value, 1).replace("-", "−")
