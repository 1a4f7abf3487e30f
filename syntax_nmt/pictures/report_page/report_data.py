"""All that a report is about: read and measured, not yet drawn."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from syntax_nmt.errors import UserError
from syntax_nmt.pictures.report_page.samples import Sample, SampleText, sample_figures
from syntax_nmt.pictures.report_page.structure_pictures import structure_figures
from syntax_nmt.pictures.report_page.structures import Structures, read_structures, structure_files
from syntax_nmt.pictures.report_page.training_log import TrainingLog, read_training_log
from syntax_nmt.pictures.report_page.training_summary import training_figures
from syntax_nmt.scoring.json_figures import read_contrast
from syntax_nmt.scoring.translations.comparison import comparison_figures
from syntax_nmt.scoring.translations.evaluated_systems import EvaluationSet, read_test_set
from syntax_nmt.scoring.translations.options import length_bins, metric_set, sampling_of
from syntax_nmt.scoring.translations.score_report import Confidence, score_figures
from syntax_nmt.scoring.translations.system_files import Files, named_files

_CHRF = "chrf"


@dataclass(frozen=True)
class ReportInputs:
    """What a command line names, read and checked.

    Attributes:
        test_set: the translations.
        logs: of trainings, by system.
        contrast: figures of contrastive pairs, by system.
        structures: of sentences.
    """

    test_set: EvaluationSet
    logs: dict[str, list[TrainingLog]]
    contrast: dict[str, dict[str, Any]]
    structures: Structures


@dataclass(frozen=True)
class ReportData:
    """The figures, and what pictures are made of.

    Attributes:
        inputs: what was read.
        scores: of `syntax-nmt score`, with intervals.
        comparison: of `syntax-nmt compare`; None = there is one system.
        trainings: figures of the logs, by system.
        samples: the sentences to show.
    """

    inputs: ReportInputs
    scores: dict[str, Any]
    comparison: dict[str, Any] | None
    trainings: dict[str, list[dict[str, Any]]]
    samples: Sequence[Sample]

    def json(self, title: str) -> dict[str, Any]:
        """All figures, as objects that JSON knows."""
        return {
            "title": title,
            "scores": self.scores,
            "comparison": self.comparison,
            "contrast": self.inputs.contrast,
            "trainings": self.trainings,
            "samples": [
                {
                    **sample_figures(sample),
                    "structures": structure_figures(self.inputs.structures, sample.position),
                }
                for sample in self.samples
            ],
        }


def read_inputs(args: argparse.Namespace) -> ReportInputs:
    """Reads all files.

    Raises:
        UserError: a file is damaged, of other sentences, or of no known system.
    """
    test_set = read_test_set(args)
    names = [system.name for system in test_set.systems]
    logs = named_files("--log", args.log, names, ())
    contrast = named_files("--contrast", args.contrast, names, (1,))
    structures: dict[str, Files] = structure_files(args, names)
    return ReportInputs(
        test_set,
        {name: [read_training_log(path) for path in logs[name]] for name in names if name in logs},
        {name: read_contrast(contrast[name][0], name) for name in names if name in contrast},
        read_structures(structures, test_set),
    )


def measure(args: argparse.Namespace, inputs: ReportInputs) -> ReportData:
    """Scores, compares, and chooses sentences.

    Args:
        args: of the command; chrF is added to its metrics, as sentences are chosen by it.
        inputs: of :func:`read_inputs`.

    Raises:
        UserError: a sentence is wanted that is not there.
    """
    if _CHRF not in args.metrics:
        args.metrics = [*args.metrics, _CHRF]
    metrics, test_set = metric_set(args, inputs.test_set), inputs.test_set
    chrf = metrics.names[metrics.keys.index(_CHRF)]
    _check_sentences(args.sentences, test_set)
    several = len(test_set.systems) > 1
    bins = length_bins(args, test_set)
    sampling = sampling_of(args, test_set) if several else None
    statistics = metrics.statistics(test_set.systems, test_set.references)
    confidence = Confidence(args.resamples, args.seed)
    texts = SampleText(test_set, metrics, statistics, chrf)
    if args.sentences is None:
        positions = texts.choose(args.samples)
    else:
        positions = [number - 1 for number in args.sentences]
    return ReportData(
        inputs,
        score_figures(metrics, test_set, statistics, bins, confidence),
        comparison_figures(metrics, test_set, statistics, sampling) if sampling else None,
        {name: [training_figures(log) for log in logs] for name, logs in inputs.logs.items()},
        [texts.sample(position) for position in positions],
    )


def _check_sentences(numbers: Sequence[int] | None, test_set: EvaluationSet) -> None:
    for number in numbers or ():
        if number > test_set.sentences:
            raise UserError(
                f"--sentences {number}: {test_set.references[0].name} has {test_set.sentences} "
                f"sentences, counted from 1: give one of them"
            )
