"""Seeds as blocks: against other ways to the same figures, and under the null hypothesis; Holm's
adjustment by hand, and what it promises."""

from itertools import combinations

import numpy as np
import pytest
from nonempty import some
from scipy import stats

from syntax_nmt.scoring.translations.block_test import SeedBlocks, _prior
from syntax_nmt.scoring.translations.significance import holm


def layout(scores):
    return [dict(enumerate(of_system)) for of_system in scores]


def drawn(random, deviations, seeds, correlation=0.2):
    """Scores without a difference: what systems share by seed, and what is their own."""
    shared = np.sqrt(correlation) * random.normal(size=seeds)
    own = np.sqrt(1 - correlation) * random.normal(size=(len(deviations), seeds))
    return np.array(deviations)[:, None] * (shared + own)


def test_two_systems_give_the_paired_t_test():
    scores = drawn(np.random.default_rng(1), [0.4, 0.4], 5)
    found, wanted = SeedBlocks(layout(scores)).test(0, 1), stats.ttest_rel(scores[1], scores[0])
    assert found.p_value == pytest.approx(wanted.pvalue, abs=1e-12)
    assert found.degrees == 4
    interval = wanted.confidence_interval()
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_equal_variances_give_the_two_way_layout():
    """d₀ = ∞: t² is F of the contrast, with the residual mean square of systems and seeds; the
    paired t-test of pairs that vary more than that."""
    scores = drawn(np.random.default_rng(3), [0.4] * 5, 4)
    residuals = scores - scores.mean(1, keepdims=True) - scores.mean(0) + scores.mean()
    usual = 2 * (residuals**2).sum() / 12
    blocks, noisy = SeedBlocks(layout(scores)), []
    for pair in combinations(range(5), 2):
        first, second = (scores[place] for place in pair)
        noisy.append((second - first).var(ddof=1) > usual)
        t = (second.mean() - first.mean()) / np.sqrt(usual / 4)
        wanted = 2 * stats.t.sf(abs(t), 12)
        if noisy[-1]:
            wanted = stats.ttest_rel(first, second).pvalue
        found = blocks.test(*pair)
        assert found.degrees == (3 if noisy[-1] else 12)
        assert found.p_value == pytest.approx(wanted, abs=1e-12)
    assert 0 < sum(noisy) < 10


@pytest.mark.parametrize(("degrees", "variance"), [(6, 2), (10, 0.5), (4, 3)])
def test_what_is_usual_is_found_again(degrees, variance):
    """Smyth's model: s² ~ s₀² F(d, d₀), of pairs with three and with five seeds."""
    own = np.tile([2.0, 4.0], 100_000)
    found = _prior(variance * np.random.default_rng(1).f(own, degrees), own)
    assert found == (pytest.approx(degrees, rel=0.1), pytest.approx(variance, rel=0.02))


@pytest.mark.parametrize(("seed", "is_limited"), [(2, False), (3, True)])
def test_moderated_variances_are_those_of_the_formula(seed, is_limited):
    """Six systems and four seeds; degrees are at most those of their two-way layout, 15."""
    scores = drawn(np.random.default_rng(seed), [0.3, 0.6] * 3, 4)
    pairs = list(combinations(range(6), 2))
    own = {pair: np.subtract(*scores[list(pair)]).var(ddof=1) for pair in pairs}
    prior_degrees, prior = _prior(np.array(list(own.values())), np.full(15, 3.0))
    degrees = min(prior_degrees + 3, 15)
    assert (degrees == 15) is is_limited
    assert prior_degrees < 99
    for pair in some(pair for pair in pairs if own[pair] <= prior):
        variance = (prior_degrees * prior + 3 * own[pair]) / (prior_degrees + 3)
        t = np.subtract(*scores[list(pair)]).mean() / np.sqrt(variance / 4)
        found = SeedBlocks(layout(scores)).test(*pair)
        assert found.degrees == pytest.approx(degrees)
        assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), degrees))


def test_unequal_variances_stay_apart():
    """A pair that varies little has a smaller interval than one that varies much."""
    random = np.random.default_rng(5)
    scores = drawn(random, [0.1] * 4 + [5.0] * 4, 8, 0.0)
    blocks = SeedBlocks(layout(scores))
    quiet, loud = blocks.test(0, 1), blocks.test(4, 5)
    assert quiet.high - quiet.low < (loud.high - loud.low) / 5
    assert quiet.degrees < 7 * 7


def test_seeds_that_one_system_lacks():
    """Differences are those of shared seeds; other seeds change nothing between two systems."""
    scores = layout(drawn(np.random.default_rng(6), [0.4, 0.4], 6))
    shared = [{seed: of_system[seed] for seed in (0, 2, 4, 5)} for of_system in scores]
    scores[0] = {seed: scores[0][seed] for seed in (0, 1, 2, 4, 5)}
    scores[1] = {seed: scores[1][seed] for seed in (0, 2, 3, 4, 5)}
    found, wanted = SeedBlocks(scores).test(0, 1), SeedBlocks(shared).test(0, 1)
    assert found.seeds == (4,)
    assert found.p_value == pytest.approx(wanted.p_value)


@pytest.mark.parametrize("more", [[(4, 5, 6)], [(4,), (5,)], [(4,), (5,), (6,)]])
def test_systems_with_other_seeds(more):
    """They share none with the two that are tested, and change nothing."""
    *two, other = drawn(np.random.default_rng(8), [0.4] * 3, 3)
    wanted = SeedBlocks(layout(two)).test(0, 1)
    assert wanted.degrees == 2
    scores = [*layout(two), *(dict(zip(seeds, other)) for seeds in more)]
    assert SeedBlocks(scores).test(0, 1) == wanted


def test_parts_without_a_common_seed_add_up():
    """d₀ = ∞: two pairs with three seeds each have 2 + 2 degrees of freedom. A system with two
    seeds of each joins them: four scores more, a mean of its own, and a difference of the parts."""
    first, second = [0.0, 0.4, -0.3], [0.1, 0.2, 0.3]
    blocks = [layout([first, second]), [dict(zip((4, 5, 6), each)) for each in (second, first)]]
    scores = [of_system for part in blocks for of_system in part]
    assert {SeedBlocks(scores).test(*pair).degrees for pair in ((0, 1), (2, 3))} == {4}
    joining = {0: 0.3, 1: 0.9, 4: 0.8, 5: 0.3}
    assert SeedBlocks([*scores, joining]).test(0, 1).degrees == 6


def test_runs_that_stand_there_twice():
    """A system and the choice of it, of all its seeds or of some, change nothing."""
    scores = layout(drawn(np.random.default_rng(7), [0.4] * 4, 5))
    chosen = {seed: scores[1][seed] for seed in (0, 1, 2)}
    wanted = SeedBlocks(scores).test(0, 1)
    assert SeedBlocks([*scores, scores[1], chosen, {}]).test(0, 1) == wanted
    assert SeedBlocks([chosen, *scores]).test(1, 2) == wanted


def test_what_cannot_be_tested():
    assert SeedBlocks(layout([[1.0, 2.0], [2.0, 3.0]])).test(0, 1).p_value is None
    assert SeedBlocks(layout([[1.0] * 3, [1.0] * 3])).test(0, 1).p_value is None
    assert SeedBlocks(layout([[3.4] * 3, [51.6] * 3])).test(0, 1).p_value is None  # 48.2 thrice
    assert SeedBlocks([{0: 1.0}, {1: 2.0}]).test(0, 1).seeds == (0,)


# Standard deviations over seeds of a table of results whose systems differ most in them.
UNEQUAL = [2.2, 2.0, 3.6, 0.6, 1.0, 4.6, 5.4, 8.2, 1.4, 1.0, 1.5, 1.9, 1.2, 3.0, 1.5, 1.2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deviations", "seeds", "draws"),
    [([0.4] * 2, 3, 3000), ([0.4] * 6, 3, 600), ([0.4] * 19, 3, 200), (UNEQUAL, 3, 300),
     (UNEQUAL, 5, 300), ([0.4] * 6, 13, 600), ([0.3, 0.4, 0.5] * 2, 13, 600)],
    ids=["2x3", "6x3", "19x3", "unequal x3", "unequal x5", "6x13", "somewhat unequal x13"],
)  # fmt: skip
def test_null(deviations, seeds, draws):
    """Without a difference, over all pairs of systems."""
    random = np.random.default_rng(1)
    rejected = []
    for _ in range(draws):
        blocks = SeedBlocks(layout(drawn(random, deviations, seeds)))
        pairs = combinations(range(len(deviations)), 2)
        rejected += [blocks.test(*pair).p_value < 0.05 for pair in pairs]
    print(f"{len(deviations)} systems, {seeds} seeds: rejects in {np.mean(rejected):.1%}")
    assert 0.025 < np.mean(rejected) < 0.06


@pytest.mark.parametrize("seeds", [3, 5, 13])
def test_null_of_a_system_that_varies_more(seeds):
    """Without a difference, of the noisy one among eight and a usual one."""
    random, rejected = np.random.default_rng(1), []
    for _ in range(1000):
        blocks = SeedBlocks(layout(drawn(random, [0.3] * 7 + [0.6], seeds)))
        rejected.append(blocks.test(0, 7).p_value < 0.05)
    print(f"noisy, {seeds} seeds: rejects in {np.mean(rejected):.1%}")
    assert 0.03 < np.mean(rejected) < 0.075


@pytest.mark.parametrize("seeds", [3, 13])
def test_null_with_runs_that_stand_there_twice(seeds):
    """Three systems without a difference, and three choices of the first."""
    random, rejected = np.random.default_rng(1), []
    for _ in range(1000):
        scores = layout(drawn(random, [0.4] * 3, seeds))
        blocks = SeedBlocks([*scores, *scores[:1] * 3])
        rejected.append(blocks.test(1, 2).p_value < 0.05)
    print(f"{seeds} seeds: rejects in {np.mean(rejected):.1%}")
    assert 0.03 < np.mean(rejected) < 0.065


def test_null_of_systems_without_a_common_seed():
    """Without a difference, of two of three systems with the same seeds; three have others."""
    random, rejected = np.random.default_rng(1), []
    for _ in range(1000):
        parts = [drawn(random, [0.4] * 3, 3) for _ in range(2)]
        scores = [
            dict(zip(range(10 * place, 10 * place + 3), of_system))
            for place, part in enumerate(parts)
            for of_system in part
        ]
        blocks = SeedBlocks(scores)
        rejected += [blocks.test(*pair).p_value < 0.05 for pair in ((0, 1), (4, 5))]
    print(f"two parts: rejects in {np.mean(rejected):.1%}")
    assert 0.03 < np.mean(rejected) < 0.065


@pytest.mark.slow
def test_power():
    """What three seeds show of 19 systems: a difference of 1.3 standard deviations."""
    random, found = np.random.default_rng(2), []
    for _ in range(1000):
        scores = drawn(random, [0.4] * 19, 3)
        scores[1] += 1.3 * 0.4
        blocks = SeedBlocks(layout(scores)).test(0, 1).p_value < 0.05
        welch = stats.ttest_ind(scores[0], scores[1], equal_var=False).pvalue < 0.05
        found.append((blocks, welch))
    blocks, welch = np.mean(found, axis=0)
    print(f"blocks {blocks:.1%}, Welch {welch:.1%}")
    assert blocks > 1.3 * welch


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_holm_refuses_what_is_no_p_value():
    with pytest.raises(ValueError, match="a p-value is NaN: leave out tests that say nothing"):
        holm([float("nan"), 0.01, 0.04])


def test_under_the_null_one_table_in_twenty_has_a_false_finding():
    rng = np.random.default_rng(1)
    found = np.mean([min(holm(rng.random(8).tolist())) <= 0.05 for _ in range(4000)])
    assert 0.038 < found < 0.062
