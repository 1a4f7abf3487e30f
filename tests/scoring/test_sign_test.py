"""Collins' sign test against counts by hand and against scoring each corpus anew."""

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, TER
from translations import noisy, sentences

from syntax_nmt.scoring.translations.sign_test import SignTest, collins_sign_test


@pytest.mark.parametrize(
    ("better", "worse", "p_value"),
    [
        (9, 1, 22 / 1024),  # 2 (1 + 10) / 2^10
        (1, 9, 22 / 1024),
        (5, 5, 1),
        (0, 0, 1),
        (6, 0, 2 / 64),
    ],
)
def test_p_values_counted_by_hand(better, worse, p_value):
    assert SignTest.of(better, worse, 7).p_value == pytest.approx(p_value)


@pytest.mark.parametrize("metric", [BLEU(), TER()])
def test_counts_are_those_of_corpora_scored_one_by_one(metric):
    reference = sentences(40)
    baseline, system = noisy(reference, 2, 0.4), noisy(reference, 3, 0.3)
    system[:7] = baseline[:7]
    before = metric.corpus_score(baseline, [reference]).score
    changes = []
    for i in range(len(baseline)):
        replaced = [*baseline[:i], system[i], *baseline[i + 1 :]]
        change = metric.corpus_score(replaced, [reference]).score - before
        changes.append(0 if abs(change) < 1e-9 else change)
    up, down = sum(c > 0 for c in changes), sum(c < 0 for c in changes)

    higher = not isinstance(metric, TER)
    found = collins_sign_test(
        [statistics(metric, baseline, reference)],
        [statistics(metric, system, reference)],
        lambda sums: metric._compute_score_from_stats(list(sums)).score,
        higher,
    )
    assert (found.better, found.worse) == ((up, down) if higher else (down, up))
    assert found.equal == 40 - up - down >= 7
    assert found.better > found.worse > 0


def statistics(metric, hypotheses, reference):
    return np.array(metric._extract_corpus_statistics(hypotheses, [reference]), dtype=float)


def test_all_translations_of_a_sentence_are_replaced_together():
    def score(sums):
        return sums[0]

    baseline = [np.array([[1.0], [1.0], [1.0]]), np.array([[3.0], [1.0], [1.0]])]
    system = [np.array([[2.5], [0.0], [1.0]])]
    # Means: 2.5 against 2, 0 against 1, equal.
    assert collins_sign_test(baseline, system, score) == SignTest.of(1, 1, 1)
