"""All that a report is about: read and measured, not yet drawn."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from syntax_nmt.errors import UserError
from syntax_nmt.pictures.report_page.samples import Sample, samples_of
from syntax_nmt.pictures.report_page.structures import Structures, read_structures
from syntax_nmt.pictures.report_page.training_log import TrainingLog, read_training_log
from syntax_nmt.scoring.translations.comparison import comparison_figures
from syntax_nmt.scoring.translations.evaluated_systems import EvaluationSet, read_test_set
from syntax_nmt.scoring.translations.options import length_bins, metric_set, sampling_of
from syntax_nmt.scoring.translations.score_report import Confidence, score_figures
from syntax_nmt.scoring.translations.system_files import named_files
from syntax_nmt.scoring.words.settings import WordSettings
from syntax_nmt.scoring.words.word_figures import compare_words, score_words

_CHRF = "chrf"


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

    scores: dict[str, Any]
    comparison: dict[str, Any] | None
    words: list[dict[str, Any]]
    logs: dict[str, list[TrainingLog]]
    structures: Structures
    samples: Sequence[Sample]


def report_data(
    args: argparse.Namespace, words_of: Callable[[EvaluationSet], WordSettings | None]
) -> ReportData:
    """Reads all files, scores, compares, and chooses sentences.

    Args:
        args: of the command; chrF is added to its metrics, as sentences are chosen by it.
        words_of: the settings of words by bucket; None = they are not counted.

    Raises:
        UserError: a file is damaged, of other sentences, or of no known system; or a sentence is
            wanted that is not there.
    """
    test_set = read_test_set(args)
    names = [system.name for system in test_set.systems]
    logs = {
        name: [read_training_log(path) for path in paths]
        for name, paths in named_files("--log", args.log, names, ()).items()
    }
    structures = read_structures(args, test_set)
    if _CHRF not in args.metrics:
        args.metrics = [*args.metrics, _CHRF]
    metrics = metric_set(args, test_set)
    chrf = metrics.names[metrics.keys.index(_CHRF)]
    for number in args.sentences or ():
        if number > test_set.sentences:
            raise UserError(
                f"--sentences {number}: {test_set.references[0].name} has {test_set.sentences} "
                f"sentences, counted from 1: give one of them"
            )
    word_settings = words_of(test_set)
    bins = length_bins(args, test_set)
    sampling = sampling_of(args, test_set) if len(names) > 1 else None
    confidence = Confidence(args.resamples, args.seed)
    words: list[dict[str, Any]] = []
    if word_settings is not None:
        words = (
            compare_words(test_set, word_settings, sampling)
            if sampling
            else score_words(test_set, word_settings, confidence)
        )
    statistics = metrics.statistics(test_set.systems, test_set.references)
    columns = metrics.columns(chrf)
    by_sentence = [
        [metrics.score(chrf, row) for row in runs[0][:, columns].tolist()] for runs in statistics
    ]
    return ReportData(
        score_figures(metrics, test_set, statistics, bins, confidence),
        comparison_figures(metrics, test_set, statistics, sampling) if sampling else None,
        words,
        {name: logs[name] for name in names if name in logs},
        structures,
        samples_of(test_set, np.array(by_sentence), args.samples, args.sentences),
    )
