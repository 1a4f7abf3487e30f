"""Scores of many corpora at once against sacrebleu, one at a time."""

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from translations import run_statistics

from syntax_nmt.scoring.translations.metrics import MetricSet, MetricSettings, score_rows
from syntax_nmt.scoring.translations.ribes import RIBES


def counts(rng, rows, orders):
    """Totals, and matches of which a third are 0."""
    total = rng.integers(0, 50, size=(rows, orders))
    return total, rng.binomial(total, rng.choice([0, 0.3, 0.9], size=(rows, 1)))


def test_bleu():
    rng = np.random.default_rng(1)
    total, correct = counts(rng, 300, 4)
    lengths = rng.integers(0, 60, size=(300, 2))
    sums = np.hstack([lengths, correct, total]).astype(float)
    assert 50 < (sums > 0).all(axis=1).sum() < 250
    check(BLEU(), sums)


@pytest.mark.parametrize("words", [0, 2])
def test_chrf(words):
    rng = np.random.default_rng(2)
    total, match = counts(rng, 300, 6 + words)
    reference = np.maximum(match, rng.integers(0, 50, size=match.shape))
    sums = np.stack([total, reference, match], axis=2).reshape(300, -1).astype(float)
    assert 50 < (sums > 0).all(axis=1).sum() < 250
    check(CHRF(word_order=words), sums)


@pytest.mark.parametrize("metric", [TER(), RIBES(BLEU().tokenizer)], ids=["TER", "RIBES"])
def test_ratios(metric):
    check(metric, np.random.default_rng(3).integers(0, 4, size=(60, 2)).astype(float))


def check(metric, sums):
    expected = [metric._compute_score_from_stats(row).score for row in sums.tolist()]
    assert score_rows(metric, sums) == pytest.approx(expected, abs=1e-10)
    assert len(score_rows(metric, sums[:0])) == 0


@pytest.mark.parametrize("brevity", ["closest", "shortest"])
def test_brevity_penalty_reads_the_reference_that_is_asked_for(brevity):
    output = ["a b c d e"]
    references = [["a b c d"], ["a b c d e f"], ["a b c d e f g h"]]
    settings = MetricSettings(tokenize="none", brevity=brevity)
    metrics = MetricSet(["bleu"], settings)
    (rows,) = run_statistics(metrics, [output], references)
    (details,) = metrics.details(rows.sum(axis=0).tolist()).values()
    # 4 words and 6 are as close to 5; sacrebleu takes the shorter
    assert details.reference_length == 4
    longer = ["a b c d e f g"]
    (rows,) = run_statistics(metrics, [longer], references)
    (details,) = metrics.details(rows.sum(axis=0).tolist()).values()
    assert details.reference_length == {"closest": 6, "shortest": 4}[brevity]
    assert ("bp:shortest" in metrics.signatures()["BLEU"]) == (brevity == "shortest")
