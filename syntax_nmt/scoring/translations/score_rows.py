"""Scores of very many corpora at once, as resampling needs them, from the sums of their statistics.

The formulas are those of sacrebleu, over columns in place of one corpus. Corpora in which a count
is 0, where sacrebleu smooths, are left to it.
"""

from __future__ import annotations

import numpy as np
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.base import Metric


def score_rows(metric: Metric, sums: np.ndarray) -> np.ndarray:
    """The score of each row, in percent.

    Args:
        metric: BLEU, chrF, or any whose score is 100 times the ratio of its two statistics.
        sums: corpora × statistics.
    """
    plain = (sums > 0).all(axis=1)
    scores = np.empty(len(sums))
    if isinstance(metric, BLEU):
        plain &= metric.smooth_method != "add-k"
        scores[plain] = _bleu(sums[plain])
    elif isinstance(metric, CHRF):
        plain &= not metric.eps_smoothing
        scores[plain] = _chrf(sums[plain], metric.beta)
    else:
        scores[plain] = 100 * sums[plain, 0] / sums[plain, 1]
    for row in np.flatnonzero(~plain):
        scores[row] = metric._compute_score_from_stats(sums[row].tolist()).score
    return scores


def _bleu(sums: np.ndarray) -> np.ndarray:
    lengths, references = sums[:, 0], sums[:, 1]
    correct, total = np.split(sums[:, 2:], 2, axis=1)
    log_precision = np.log(correct / total).mean(axis=1)
    return 100 * np.exp(np.minimum(0, 1 - references / lengths) + log_precision)


def _chrf(sums: np.ndarray, beta: float) -> np.ndarray:
    hypothesis, reference, match = np.moveaxis(sums.reshape(len(sums), sums.shape[1] // 3, 3), 2, 0)
    precision = (match / hypothesis).mean(axis=1)
    recall = (match / reference).mean(axis=1)
    factor = beta**2
    return 100 * (1 + factor) * precision * recall / (factor * precision + recall)
