"""All that a report is about: read and measured, not yet drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from syntax_nmt.errors import UserError
from syntax_nmt.pictures.report_page.samples import Sample, samples_of
from syntax_nmt.pictures.report_page.structures import Structures, SystemFiles, read_structures
from syntax_nmt.reporting.training_log import TrainingLog, read_training_log
from syntax_nmt.scoring.comparison import Comparison, corpus_comparison
from syntax_nmt.scoring.scores import Scores, corpus_scores
from syntax_nmt.scoring.translations.evaluation_set import TestSet
from syntax_nmt.scoring.translations.lengths import LengthBins
from syntax_nmt.scoring.translations.metrics import MetricSet
from syntax_nmt.scoring.translations.paired_tests import SignificanceTests, refuse_unpaired_blocks
from syntax_nmt.scoring.translations.resampling import Confidence
from syntax_nmt.scoring.words.bucket_scores import compare_words, score_words
from syntax_nmt.scoring.words.bucket_tables import BucketTable
from syntax_nmt.scoring.words.settings import WordSettings

CHRF = "chrf"


@dataclass(frozen=True)
class ReportData:
    """The figures, and the data of pictures.

    Attributes:
        scores: of `syntax-nmt score`, with intervals.
        comparison: of `syntax-nmt compare`; None = there is one system.
        words: of `--words-by`, as `compare` has them, or `score` if there is one system; none
            without the option.
        logs: of trainings, by system.
        structures: of all sentences.
        samples: the sentences to show.
    """

    scores: Scores
    comparison: Comparison | None
    words: list[BucketTable]
    logs: dict[str, list[TrainingLog]]
    structures: Structures
    samples: Sequence[Sample]


@dataclass(frozen=True)
class SampleChoice:
    """Which sentences to show.

    Attributes:
        samples: number of sentences, from short to long.
        sentences: in their place these, counted from 1; None = none.
    """

    samples: int
    sentences: Sequence[int] | None = None


def report_data(
    test_set: TestSet,
    metrics: MetricSet,
    tests: SignificanceTests,
    choice: SampleChoice,
    *,
    bins: LengthBins = LengthBins(),
    logs: SystemFiles = MappingProxyType({}),
    structures: Mapping[str, SystemFiles] = MappingProxyType({}),
    bases: tuple[int, int] = (0, 0),
    words: WordSettings | None = None,
) -> ReportData:
    """Reads all files, scores, compares, and chooses sentences.

    Args:
        metrics: chrF is one of them: sentences are chosen by it.
        tests: made if there are several systems; intervals have their draws.
        logs: of trainings, by system.
        structures: by kind, the files of systems and of the reference.
        bases: as of :func:`read_structures`.
        words: what to count of words by bucket; None = nothing.

    Raises:
        UserError: a file is damaged, of other sentences, or of no known system; blocks are of
            unequal runs; or a sentence is wanted that is not there.
    """
    refuse_unpaired_blocks(tests, test_set.systems)
    trainings = {name: [read_training_log(path) for path in paths] for name, paths in logs.items()}
    of_sentences = read_structures(structures, test_set, bases)
    chrf = metrics.names[metrics.keys.index(CHRF)]
    for number in choice.sentences or ():
        if number > test_set.sentences:
            raise UserError(
                f"--sentences {number}: {test_set.references[0].name} has {test_set.sentences} "
                f"sentences, counted from 1: give one of them"
            )
    compared = len(test_set.systems) > 1
    confidence = Confidence(tests.resamples, tests.seed)
    of_words: list[BucketTable] = []
    if words is not None:
        of_words = (
            compare_words(test_set, words, tests)
            if compared
            else score_words(test_set, words, confidence)
        )
    statistics = metrics.statistics(test_set.systems, test_set.references)
    columns = metrics.columns(chrf)
    by_sentence = [
        [metrics.score(chrf, row) for row in of_system[0][:, columns].tolist()]
        for of_system in statistics
    ]
    return ReportData(
        corpus_scores(metrics, test_set, statistics, bins, confidence),
        corpus_comparison(metrics, test_set, statistics, tests) if compared else None,
        of_words,
        {
            system.name: trainings[system.name]
            for system in test_set.systems
            if system.name in trainings
        },
        of_sentences,
        samples_of(test_set, np.array(by_sentence), choice.samples, choice.sentences),
    )
