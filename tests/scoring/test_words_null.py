"""Words by bucket where there is no difference: how often tests and intervals find one."""

import random
from contextlib import nullcontext

import numpy as np
import pytest
from translations import WORDS, distance_from_uniform, handed_out, noisy, sentences, write
from word_buckets import evaluation_set

from syntax_nmt.scoring.translations.resampling import (
    bootstrap_p_value,
    bootstrap_scores,
    randomisation_p_values,
)
from syntax_nmt.scoring.translations.seed_tests import seed_test
from syntax_nmt.scoring.translations.significance import holm
from syntax_nmt.scoring.words.bits import bits_lines
from syntax_nmt.scoring.words.buckets import FREQUENCY
from syntax_nmt.scoring.words.counts import count_words
from syntax_nmt.scoring.words.matches import BucketMeasures
from syntax_nmt.scoring.words.settings import WordSettings

# Draws, and how many sentences are drawn from.
DRAWS = [(200, 150), pytest.param(500, 600, marks=pytest.mark.slow)]


def counted(tmp_path, reference, runs, bits=()):
    """The measures, and the statistics of all runs, of words by frequency.

    Args:
        bits: of each run, a file; then those are measured.
    """
    training = [" ".join([word] * (place + 1)) for place, word in enumerate(WORDS)]
    settings = WordSettings(
        [FREQUENCY], tokenize="none", training_text=str(write(tmp_path / "train", training)),
        bits={"ours": bits} if bits else {},
    )  # fmt: skip
    *_, counts = count_words(evaluation_set(reference, ours=runs), settings)
    measures = BucketMeasures(tuple(counts.buckets), (counts.measure,) * len(counts.buckets))
    assert len(measures.names) == 6
    return measures, np.stack(counts.statistics[0])


def bits_files(tmp_path, reference, runs, spread):
    """Bits of runs of one method: a part of the word, one of the run, and the rest is chance."""
    files = []
    for number in range(runs):
        rng = np.random.default_rng(number)
        shift = rng.normal(0, spread)
        text = [
            [*((word, 4 + shift + len(word) + rng.gamma(2, 2)) for word in line.split()),
             ("</s>", 0.0)]
            for line in reference
        ]  # fmt: skip
        files.append(tmp_path / f"bits{number}")
        files[-1].write_text("".join(bits_lines(text)), encoding="utf-8")
    return [str(path) for path in files]


@pytest.mark.parametrize("measure", ["shares", "bits"])
@pytest.mark.parametrize(("draws", "count"), DRAWS)
def test_p_values_are_uniform(tmp_path, capsys, draws, count, measure):
    """The translations of each sentence by three and three runs are handed out anew."""
    reference = sentences(count)
    bits = bits_files(tmp_path, reference, 6, 0.3) if measure == "bits" else ()
    runs = [noisy(reference, run, 0.25 + run / 30) for run in range(6)]
    measures, pool = counted(tmp_path, reference, runs, bits)
    found = []
    for draw, sides in enumerate(handed_out(pool, draws)):
        found.append(
            randomisation_p_values(sides[:3], sides[3:], measures.score_rows, 200, seed=draw)
        )
    distances = [distance_from_uniform(column) for column in np.array(found).T]
    family = float(np.mean([min(holm(row.tolist())) < 0.05 for row in found]))
    with capsys.disabled() if draws > 200 else nullcontext():
        print(f"\n{draws} draws: D {max(distances):.3f}, after Holm {family:.3f} find any")
    # The largest of six: each is further away in 0.2 % of uniform samples.
    assert max(distances) < 1.86 / draws**0.5
    assert family <= 0.05 + 3 * (0.05 * 0.95 / draws) ** 0.5


@pytest.mark.parametrize(("draws", "count"), DRAWS)
def test_the_bootstrap_finds_more_than_there_is(tmp_path, capsys, draws, count):
    """Its p is sacrebleu's, for equal figures; the page of scores says how often it misleads."""
    reference = sentences(count)
    measures, pool = counted(
        tmp_path, reference, [noisy(reference, run, 0.25 + run / 30) for run in range(2)]
    )
    found = []
    for draw, runs in enumerate(handed_out(pool, draws)):
        sides = [run[None] for run in runs]
        scores = [measures.score_rows(side.sum(axis=1))[0] for side in sides]
        drawn = [bootstrap_scores(side, measures.score_rows, 200, seed=draw) for side in sides]
        found.append(
            [
                bootstrap_p_value(drawn[0][:, 0, i], drawn[1][:, 0, i], scores[1][i] - scores[0][i])
                for i in range(len(measures.names))
            ]
        )
    rates = np.mean(np.array(found) < 0.05, axis=0)
    with capsys.disabled() if draws > 200 else nullcontext():
        print(f"\n{draws} draws: bootstrap: {' '.join(f'{rate:.3f}' for rate in rates)}")
    assert 0.05 < rates.mean() < 0.2


@pytest.mark.parametrize("measure", ["shares", "bits"])
@pytest.mark.parametrize(("draws", "count"), DRAWS)
def test_intervals_over_seeds_and_sentences_hold_0(tmp_path, capsys, draws, count, measure):
    """Three and three of 30 runs of one method, and a sixth of the sentences."""
    reference = sentences(2 * count)
    runs = []
    for number in range(30):
        share = random.Random(f"run {number}").gauss(0.35, 0.015)
        runs.append(noisy(reference, number, share))
    bits = bits_files(tmp_path, reference, 30, 0.1) if measure == "bits" else ()
    measures, pool = counted(tmp_path, reference, runs, bits)
    rng = np.random.default_rng(1)
    missed, rejected = [], []
    for draw in range(draws):
        chosen = rng.choice(len(reference), size=count // 3, replace=False)
        order = rng.permutation(len(pool))
        sides = [pool[order[side]][:, chosen] for side in (slice(3), slice(3, 6))]
        scores = [measures.score_rows(side.sum(axis=1)) for side in sides]
        drawn = [bootstrap_scores(side, measures.score_rows, 200, seed=draw) for side in sides]
        tests = [
            seed_test(*(each[:, i] for each in scores), *(each[:, :, i] for each in drawn))
            for i in range(len(measures.names))
        ]
        missed.append([test.low > 0 or test.high < 0 for test in tests])
        rejected.append([test.p_value < 0.05 for test in tests])
    rates = np.mean(missed, axis=0), np.mean(rejected, axis=0)
    with capsys.disabled() if draws > 200 else nullcontext():
        for what, rate in zip(("0 is outside of the interval", "Welch rejects"), rates):
            print(f"\n{draws} draws: {what}: {' '.join(f'{each:.3f}' for each in rate)}")
    # Three standard errors; Welch's test is conservative with three seeds.
    for rate in rates:
        assert rate.max() <= 0.05 + 3 * (0.05 * 0.95 / draws) ** 0.5
        assert rate.mean() >= 0.01
