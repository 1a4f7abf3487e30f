"""p-values where there is no difference: 1 for a system against itself, uniform under the null."""

import itertools

import numpy as np
import pytest
from nonempty import some
from translations import (
    distance_from_uniform,
    figures,
    handed_out,
    noisy,
    run_statistics,
    sentences,
    write,
)

from syntax_nmt.scoring.translations import resampling
from syntax_nmt.scoring.translations.metrics import NAMES, MetricSet, MetricSettings
from syntax_nmt.scoring.translations.resampling import randomisation_p_values
from syntax_nmt.scoring.translations.sentence_scores import SentenceScores
from syntax_nmt.scoring.translations.sign_test import SignTest, collins_sign_test
from syntax_nmt.scoring.word_order import SWAPPED, TAU

TESTS = ("bootstrap", "randomisation", "sign_test")


@pytest.mark.parametrize("runs", [1, 2, 3, 5])
def test_a_system_is_no_better_than_itself_in_any_order_of_runs(tmp_path, capsys, runs):
    reference = sentences(60)
    target = write(tmp_path / "target", reference)
    files = [write(tmp_path / f"run{i}", noisy(reference, i, 0.2 + i / 20)) for i in range(runs)]
    orders = [files[::-1], [*files[1:], files[0]]]
    systems = [["--system", f"order {i}", *order] for i, order in enumerate(orders)]
    found = figures(
        capsys, "compare", "--system", "ours", *files, *itertools.chain(*systems),
        "--reference", target, "--metrics", *NAMES, "--resamples", 100, "--trials", 100,
    )  # fmt: skip
    for system in some(found["systems"][1:]):
        assert len(system["scores"]) == len(NAMES)
        for item in system["scores"].values():
            assert {item[test]["p_value"] for test in TESTS} == {1}
            assert item["seeds"]["p_value"] == (pytest.approx(1) if runs >= 3 else None)
            assert (item["sign_test"]["better"], item["sign_test"]["worse"]) == (0, 0)


def between_steps(found, share):
    """A p-value between that of the counts and that of the next ones, as counts are whole numbers:
    without it p has steps of 2 or 3 % near 1."""
    more, less = max(found.better, found.worse), min(found.better, found.worse)
    further = SignTest.of(more + 1, less - 1, 0).p_value if less else 0.0
    return further + share * (found.p_value - further)


def random_order(rng, runs, count=600):
    """Kendall's τ and swapped pairs of runs, of sentences with 0 to 45 pairs."""
    pairs = rng.integers(0, 10, size=count) * rng.integers(0, 6, size=count)
    swapped = rng.binomial(pairs, rng.uniform(0.05, 0.3, size=(2 * runs, 1)))
    has = (pairs > 0).astype(float)
    tau = list(has - 2 * swapped / np.maximum(pairs, 1))
    same = [[has] * 2 * runs], [[pairs.astype(float)] * 2 * runs]
    return [
        SentenceScores(TAU, True, [tau], same[0], sign_test=False),
        SentenceScores(SWAPPED, False, [list(100.0 * swapped)], same[1], sign_test=False),
    ]


def test_the_sign_test_of_word_order_would_find_what_is_not_there():
    """Two equal systems, one with half the links: so it is not made of τ and swapped pairs."""
    rng, found = np.random.default_rng(1), []
    for _ in range(200):
        pairs = rng.integers(0, 10, size=400) * rng.integers(0, 6, size=400)
        share = rng.uniform(0.05, 0.3, size=400)
        sides = []
        for linked in (1, 0.5):
            its = rng.binomial(pairs, linked)
            swapped, has = rng.binomial(its, share), its > 0
            tau = np.stack([has - 2 * swapped / np.maximum(its, 1), has], axis=1)
            sides.append((tau, np.stack([100.0 * swapped, its], axis=1)))
        tests = (
            collins_sign_test([a], [b], lambda sums: sums[0] / sums[1]) for a, b in zip(*sides)
        )
        found.append([test.p_value < 0.05 for test in tests])
    tau, swapped = np.mean(found, axis=0)
    print(f"τ {tau:.3f}, swapped {swapped:.3f}")
    assert tau > 0.07
    assert swapped > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("enough", [None, 20])
@pytest.mark.parametrize("runs", [1, 3])
def test_p_values_are_uniform_under_the_null(runs, enough, capsys, monkeypatch):
    """500 times the translations of each sentence are handed out anew to two equal systems.

    Few trials are made at once, so that `enough` of them end the rest.
    """
    draws, count = 500, 600
    monkeypatch.setattr(resampling, "_BLOCK", 32 * count)
    reference = sentences(count)
    rng = np.random.default_rng(1)
    metrics = MetricSet(["bleu", "chrf", "otem", "utem"], MetricSettings(), random_order(rng, runs))
    shares = [0.25 + 0.03 * place for place in range(2 * runs)]
    outputs = [noisy(reference, place, share) for place, share in enumerate(shares)]
    pool = np.stack(run_statistics(metrics, outputs, [reference]))
    signs = {name: [] for name in metrics.names if metrics.has_sign_test(name)}
    shuffled = []
    for draw, sides in enumerate(handed_out(pool, draws)):
        baseline, system = sides[:runs], sides[runs:]
        shuffled.append(
            randomisation_p_values(baseline, system, metrics.score_rows, 200, draw, enough)
        )
        for name in signs:
            columns = metrics.columns(name)
            found = collins_sign_test(
                [side[:, columns] for side in baseline],
                [side[:, columns] for side in system],
                lambda sums, name=name: metrics.score(name, sums),
            )
            signs[name].append(between_steps(found, rng.random()))
    for place, name in some(enumerate(metrics.names)):
        found = {"randomisation": np.array(shuffled)[:, place]}
        if name in signs:
            found["sign"] = signs[name]
        for test, p_values in found.items():
            distance = distance_from_uniform(p_values)
            with capsys.disabled():
                print(f"\n{test} test, {name}, {runs} runs, enough {enough}: D {distance:.3f}")
            # 1 % of uniform samples of 500 are further away.
            assert distance < 0.073
