"""The scores of all runs of all systems, from statistics that are gathered once."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from tqdm import tqdm

from syntax_nmt.scoring.translations.evaluated_systems import TestSet
from syntax_nmt.scoring.translations.metrics import MetricSet
from syntax_nmt.scoring.translations.resampling import Interval

_LOOKS_TOKENISED = 100  # sentences; sacrebleu warns at as many


def corpus_statistics(
    metrics: MetricSet, test_set: TestSet, args: argparse.Namespace
) -> list[list[np.ndarray]]:
    """For each system, for each run: an array of sentences × statistics.

    Warns on stderr where a text looks tokenised and BLEU is going to tokenise it again.

    Args:
        metrics: what to compute.
        args: the options of the metrics.
    """
    if args.tokenize != "none" and not args.force and "bleu" in metrics.keys:
        for system in test_set.systems:
            for run in system.runs:
                tokenised = sum(line.endswith(" .") for line in run.sentences)
                if tokenised >= _LOOKS_TOKENISED:
                    print(
                        f"note: {run.name}: {tokenised} lines end in ' .', as tokenised text "
                        f"does: give detokenised text, or --tokenize none (--force: no note)",
                        file=sys.stderr,
                    )
    progress = tqdm(
        metrics.blocks(test_set.sentences), desc="scoring", unit="block", leave=False, disable=None
    )
    references = [reference.sentences for reference in test_set.references]
    return test_set.by_system(metrics.statistics(test_set.outputs, references, progress))


def spread(scores: Sequence[float]) -> float | None:
    """The sample standard deviation over runs; None of a single one.

    Args:
        scores: of each run.
    """
    return statistics.stdev(scores) if len(scores) > 1 else None


def run_scores(metrics: MetricSet, runs: Sequence[np.ndarray]) -> dict[str, list[float]]:
    """The scores of each run, by metric.

    Args:
        runs: statistics of each run.
    """
    scores = [metrics.scores(run.sum(axis=0).tolist()) for run in runs]
    return {name: list(column) for name, column in zip(metrics.names, zip(*scores))}


def interval_figures(found: Interval) -> dict[str, float]:
    """An interval for JSON."""
    return {**asdict(found), "half_width": found.half_width}
