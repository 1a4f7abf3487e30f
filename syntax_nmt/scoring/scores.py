"""The result of `syntax-nmt score`: scores of systems, of the corpus and by length."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np

from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.reporting.findings import Findings, Table
from syntax_nmt.reporting.result import CommandResult, Result
from syntax_nmt.scoring.accuracy import AccuracyFigures
from syntax_nmt.scoring.translations.corpus_measures import CorpusMeasures
from syntax_nmt.scoring.translations.evaluation_set import TestSet
from syntax_nmt.scoring.translations.lengths import USUAL, LengthBins, LongTranslations
from syntax_nmt.scoring.translations.metrics import BLEUDetails, MetricDescription, MetricSet
from syntax_nmt.scoring.translations.paired_tests import Statistics
from syntax_nmt.scoring.translations.resampling import Confidence, bootstrap_scores, interval
from syntax_nmt.scoring.translations.results import (
    Score,
    ScoredSystem,
    balanced_notes,
    column_of,
    score_cell,
    signature_lines,
)
from syntax_nmt.scoring.translations.seed_tests import mean_and_spread
from syntax_nmt.scoring.words.bucket_tables import BucketTable, score_tables, word_notes
from syntax_nmt.text.unspaced import lacks_spaces


@dataclass
class CorpusScore(Score):
    """A score of all sentences.

    Attributes:
        runs: the score of each run.
        details: what BLEU is made of, by run; None of other metrics.
    """

    runs: list[float]
    details: list[BLEUDetails] | None = None


@dataclass
class CorpusScores(ScoredSystem):
    """A system and its scores.

    Attributes:
        scores: by metric.
    """

    scores: dict[str, CorpusScore]


@dataclass
class LengthGroup(Result):
    """The sentences of some lengths.

    Attributes:
        label: such as `15–29`.
        from_: the least length.
        to: the greatest; None = any.
        sentences: how many there are.
        scores: by metric and system.
    """

    label: str
    from_: int
    to: int | None
    sentences: int
    scores: dict[str, dict[str, Score]]


@dataclass
class ScoresByLength(Result):
    """Scores of groups of sentences.

    Attributes:
        tokens_of: the text whose lengths count.
        bins: the groups, from short to long.
    """

    tokens_of: str
    bins: list[LengthGroup]


@dataclass
class Scores(CommandResult):
    """Scores of systems.

    Attributes:
        sentences: number of those translated.
        references: their files.
        metrics: by name.
        systems: in the order in which they were given.
        by_length: None where the source is not known, or has no spaces between words.
        longer: translations that are far too long; None likewise, or where one has no spaces.
        words_by: words by bucket, of each kind that was asked for.
        factors: by system and factor, the accuracy of target factors; None = not asked for.
    """

    sentences: int
    references: list[str]
    metrics: dict[str, MetricDescription]
    systems: list[CorpusScores]
    by_length: ScoresByLength | None = None
    longer: LongTranslations | None = None
    words_by: list[BucketTable] | None = None
    factors: dict[str, dict[str, AccuracyFigures]] | None = None

    def findings(self, digits: int = 1) -> Findings:
        """The tables, the corpus first, and the signatures.

        Args:
            digits: after the point of scores.
        """
        words = self.words_by or []
        tables = [self._corpus_table(digits)]
        if self.by_length is not None:
            tables += [self._length_table(self.by_length, name, digits) for name in self.metrics]
        if self.factors is not None:
            tables.append(_factor_table(self.factors))
        references = len(self.references)
        heading = f"{self.sentences} sentences, {references} reference{'s' * (references > 1)}"
        longer = [] if self.longer is None else [str(self.longer)]
        notes = [*balanced_notes(self.systems), *longer, *signature_lines(self.metrics)]
        return Findings(
            [*tables, *score_tables(words, digits)], heading, [*notes, *word_notes(words)]
        )

    def _corpus_table(self, digits: int) -> Table:
        head = ["system"]
        rows = [[system.name] for system in self.systems]
        if any(len(system.files) > 1 for system in self.systems):
            head.append("runs")
            for row, system in zip(rows, self.systems):
                row.append(str(len(system.files)))
        for name, metric in self.metrics.items():
            head.append(column_of(self.metrics, name))
            scores = [system.scores[name] for system in self.systems]
            for row, score in zip(rows, scores):
                row.append(score_cell(score, digits + metric.more_digits))
            if name == "BLEU":  # its brevity penalty is named, always
                head += ["BP", "length ratio"]
                for row, score in zip(rows, scores):
                    details = score.details or ()
                    row.append(f"{mean(run.brevity_penalty for run in details):.3f}")
                    row.append(f"{mean(run.length_ratio for run in details):.3f}")
        return Table(head, rows)

    def _length_table(self, by_length: ScoresByLength, metric: str, digits: int) -> Table:
        systems = [system.name for system in self.systems]
        digits += self.metrics[metric].more_digits
        rows = [
            [
                group.label,
                str(group.sentences),
                *(score_cell(group.scores[metric][system], digits) for system in systems),
            ]
            for group in by_length.bins
        ]
        title = f"{column_of(self.metrics, metric)} by length, in tokens of {by_length.tokens_of}"
        return Table(["length", "sentences", *systems], rows, title)


def _factor_table(factors: Mapping[str, Mapping[str, AccuracyFigures]]) -> Table:
    """A row a system: the accuracies, in percent, with Wilson's interval."""
    names = list(dict.fromkeys(name for of_system in factors.values() for name in of_system))
    rows = [
        [system, *(found[name].cell if name in found else NO_FIGURE for name in names)]
        for system, found in factors.items()
    ]
    title = "accuracy of factors, of the words in common with the reference"
    return Table(["system", *names], rows, title)


def corpus_scores(
    metrics: MetricSet,
    test_set: TestSet,
    statistics: Statistics,
    bins: LengthBins,
    confidence: Confidence | None,
) -> Scores:
    """The scores of a test set.

    Args:
        test_set: without a source in words there are no scores by length and no counts of overlong
            translations.
        confidence: None = no intervals.
    """
    systems = []
    for system, of_system in zip(test_set.systems, statistics):
        runs = metrics.run_scores(of_system)
        details = [metrics.details(run.sum(axis=0).tolist()) for run in of_system]
        scores = {
            name: CorpusScore(
                score.score,
                score.spread,
                score.interval,
                runs[name],
                [run[name] for run in details] if name in details[0] else None,
            )
            for name, score in mean_scores(metrics, of_system, confidence).items()
        }
        systems.append(CorpusScores(system.name, system.files, scores, system.balanced_trees))
    return Scores(
        test_set.sentences,
        [reference.name for reference in test_set.references],
        metrics.descriptions(**({} if confidence is None else confidence.signature())),
        systems,
        _by_length(metrics, test_set, statistics, bins, confidence),
        USUAL.exceeded(test_set),
    )


def mean_scores(
    metrics: CorpusMeasures, statistics: Sequence[np.ndarray], confidence: Confidence | None
) -> dict[str, Score]:
    """By metric the mean of a system's runs, their spread, and optionally an interval.

    Args:
        statistics: of each run, sentences × statistics.
        confidence: None = no intervals.
    """
    found = {
        name: Score(*mean_and_spread(of_runs), None)
        for name, of_runs in metrics.run_scores(statistics).items()
    }
    if confidence is not None:
        drawn = bootstrap_scores(
            statistics, metrics.score_rows, confidence.resamples, confidence.seed
        )
        for score, column in zip(found.values(), drawn.mean(axis=1).T):
            if score.score is not None:
                score.interval = interval(column)
    return found


def _by_length(
    metrics: MetricSet,
    test_set: TestSet,
    statistics: Statistics,
    bins: LengthBins,
    confidence: Confidence | None,
) -> ScoresByLength | None:
    if test_set.source is None or lacks_spaces(test_set.source.sentences):
        return None
    members = bins.members([len(line.split()) for line in test_set.source.sentences])
    groups = []
    for label, (low, high), positions in zip(bins.labels, bins.bounds(), members):
        scores: dict[str, dict[str, Score]] = {name: {} for name in metrics.names}
        for system, of_system in zip(test_set.systems, statistics):
            of_group = [run[positions] for run in of_system]
            found = mean_scores(metrics, of_group, confidence) if len(positions) else {}
            for name, of_metric in scores.items():
                of_metric[system.name] = found.get(name, Score(None, None, None))
        groups.append(LengthGroup(label, low, high, len(positions), scores))
    return ScoresByLength(test_set.source.name, groups)
