"""Paired tests against sacrebleu's own, and with several runs against plain loops; Collins' sign
test against counts by hand and against scoring each corpus anew."""

import random
from itertools import product

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest
from translations import noisy, sentences

from syntax_nmt.scoring.translations import resampling
from syntax_nmt.scoring.translations.resampling import bootstrap_scores, randomisation_p_values
from syntax_nmt.scoring.translations.sign_test import SignTest, collins_sign_test
from syntax_nmt.scoring.translations.significance import ResampledTest

REFERENCE = sentences(83)
BASELINE, SYSTEM = noisy(REFERENCE, 2, 0.40), noisy(REFERENCE, 3, 0.35)
METRICS = {"BLEU": BLEU(), "CHRF": CHRF(), "TER": TER()}


def statistics(metric, hypotheses, reference=REFERENCE):
    return np.array(metric._extract_corpus_statistics(hypotheses, [reference]), dtype=float)


def scores_of(metric):
    """By sacrebleu, a row at a time."""
    return lambda sums: np.array(
        [[metric._compute_score_from_stats(row).score] for row in sums.tolist()]
    )


def mean(sums):
    """A metric whose statistics are a score and 1."""
    return sums[:, :1] / sums[:, 1:2]


def scored(*scores):
    return np.array([[score, 1.0] for score in scores])


@pytest.fixture(params=[(4_000_000, 250), (83 * 64, 3), (1, 1)])
def _block(request, monkeypatch):
    """Draws held at once: all, 64 rows, as few as can be; and sentences: all, some, single ones."""
    for name, size in zip(("_BLOCK", "_PART"), request.param):
        monkeypatch.setattr(resampling, name, size)


def of_sacrebleu(name, test, samples):
    """The results of a metric for both systems."""
    systems = [("baseline", BASELINE), ("system", SYSTEM)]
    _, found = PairedTest(systems, {name: METRICS[name]}, [REFERENCE], test, n_samples=samples)()
    return next(results for key, results in found.items() if key != "System")


@pytest.mark.usefixtures("_block")
@pytest.mark.parametrize("name", METRICS)
def test_randomisation_is_that_of_sacrebleu_with_ties(name):
    """Of the metrics, TER alone has ties: it counts whole edits of the same reference words."""
    metric = METRICS[name]
    results = of_sacrebleu(name, "ar", 500)
    runs = [[statistics(metric, output)] for output in (BASELINE, SYSTEM)]
    found = randomisation_p_values(*runs, scores_of(metric), trials=500)
    assert 0.01 < found[0] < 0.9
    if name == "TER":
        assert found[0] > results[1].p_value
    else:
        assert found[0] == pytest.approx(results[1].p_value, abs=1e-9)


@pytest.mark.parametrize("changed", range(1, 9))
def test_a_difference_in_few_sentences_is_as_likely_as_their_coins(changed):
    """All of them change places, or none: two ways of 2 to the power of their number."""
    baseline = scored(*[1.0] * 40)
    system = scored(*[2.0] * changed, *[1.0] * (40 - changed))
    found = randomisation_p_values([baseline], [system], mean, trials=4000)
    assert found[0] == pytest.approx(2.0 ** (1 - changed), abs=0.02)


@pytest.mark.usefixtures("_block")
def test_bootstrap_with_several_runs_draws_sentences_that_they_share():
    runs = [scored(1, 2, 6), scored(3, 4, 8)]
    found = bootstrap_scores(runs, mean, resamples=200, seed=7)[:, :, 0]
    draws = np.random.default_rng(7).choice(3, size=(200, 3))
    expected = [[np.mean([run[i, 0] for i in draw]) for run in runs] for draw in draws]
    assert found == pytest.approx(np.array(expected))


@pytest.mark.usefixtures("_block")
def test_randomisation_with_several_runs_against_all_that_may_happen():
    """Three runs, one of the baseline: every sentence has three equally likely ways."""
    baseline, system = [scored(1, 3, 9, 4)], [scored(3, 4, 8, 5), scored(4, 5, 8, 6)]
    pool = np.stack([run[:, 0] for run in (*baseline, *system)])
    real = abs(pool[0].mean() - pool[1:].mean())
    differences = []
    for chosen in product(range(3), repeat=4):
        ours = np.mean([pool[run, i] for i, run in enumerate(chosen)])
        theirs = (pool.sum() - 4 * ours) / 8
        differences.append(abs(ours - theirs))
    expected = np.mean(np.array(differences) >= real - 1e-9)
    assert 0.05 < expected < 0.5
    found = randomisation_p_values(baseline, system, mean, trials=4000)
    assert found[0] == pytest.approx(expected, abs=0.02)


def test_an_adjusted_p_is_a_bound_where_there_is_no_smaller_one():
    least, other = ResampledTest(0.001, 0.001, 0.002), ResampledTest(0.003, 0.001, 0.006)
    assert (least.p_text(), least.marked_p_holm()) == ("≤ 0.001 (≤ 0.002)", "≤ 0.002*")
    assert (other.p_text(), other.marked_p_holm()) == ("0.003 (0.006)", "0.006*")


def test_several_metrics_share_the_draws():
    rng = random.Random(1)
    runs = [scored(*(rng.random() for _ in range(50))) for _ in range(2)]
    both = [np.concatenate([run, 2 * run], axis=1) for run in runs]

    def scores(sums):
        return np.stack([sums[:, 0] / sums[:, 1], sums[:, 2]], axis=1)

    found = randomisation_p_values([both[0]], [both[1]], scores, trials=200)
    assert found[0] == found[1]
    assert found[0] == randomisation_p_values([runs[0]], [runs[1]], mean, trials=200)[0]


def test_trials_end_when_enough_are_beyond_by_each_metric(monkeypatch):
    """One metric's difference is seldom exceeded, the other's often; 32 trials are made at once."""
    monkeypatch.setattr(resampling, "_BLOCK", 32 * 40)
    rng, made = np.random.default_rng(3), []
    runs = [np.c_[rng.normal(shift, size=(40, 2)), np.ones(40)] for shift in ((0, 0), (0.3, 0))]

    def means(sums):
        made.append(len(sums))
        return sums[:, :2] / sums[:, 2:]

    expected = randomisation_p_values(runs[:1], runs[1:], means, trials=20_000)
    assert 0.02 < expected[0] < 0.1 < expected[1]
    made.clear()
    found = randomisation_p_values(runs[:1], runs[1:], means, trials=20_000, enough=400)
    trials = (sum(made) - 2) // 2  # each side is scored, as it is and in each trial
    assert trials < 20_000
    assert found == pytest.approx(expected, rel=0.15)
    beyond = found * (trials + 1) - 1
    assert beyond == pytest.approx(beyond.round())
    assert beyond.min() > 399.9


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


def test_all_translations_of_a_sentence_are_replaced_together():
    def score(sums):
        return sums[0]

    baseline = [np.array([[1.0], [1.0], [1.0]]), np.array([[3.0], [1.0], [1.0]])]
    system = [np.array([[2.5], [0.0], [1.0]])]
    # Means: 2.5 against 2, 0 against 1, equal.
    assert collins_sign_test(baseline, system, score) == SignTest.of(1, 1, 1)
