"""Checkpoints averaged, and models of different methods that translate together."""

from itertools import combinations

import pytest
from methods import METHODS, inputs_of
from prepared_corpus import TEST_SENTENCES
from programs import System

from syntax_nmt.cli import main as syntax_nmt

SEARCH = ("--beam", "2", "--max-len-a", "0", "--max-len-b", "10", *inputs_of(*METHODS))
QUICK = "relation_rnn"
EACH = [pytest.param(m, marks=() if m == QUICK else pytest.mark.slow) for m in METHODS]


@pytest.fixture
def translated(prepared):
    """Gives what models translate the test set to, together, and with which scores."""

    def found(*paths):
        printed = System("", prepared.data, ":".join(map(str, paths))).generate(*SEARCH)
        assert sorted(printed.best) == list(range(TEST_SENTENCES))
        return printed

    return found


@pytest.mark.parametrize("method", EACH)
def test_averages_translate(make_system, translated, method, tmp_path):
    """In another way than what they are the average of."""
    paths = [make_system(method, seed).path for seed in (1, 2)]
    averaged = tmp_path / "averaged.pt"
    syntax_nmt(["average", *map(str, paths), "--output", str(averaged)])
    found = [translated(path).scores for path in (*paths, averaged)]
    assert all(one != other for one, other in combinations(found, 2))


def test_all_methods_translate_together(make_system, translated):
    """Transformers and RNNs, with phrases and without, in one search."""
    translated(*(make_system(method).path for method in METHODS))


@pytest.mark.slow
@pytest.mark.parametrize("pair", combinations(METHODS, 2), ids="+".join)
def test_pairs_of_methods_translate_together(make_system, translated, pair):
    """Whatever their order, and not as one of them alone."""
    # Of two seeds: untrained models of one seed may be equal, as supervised heads have no weights.
    paths = [make_system(method, seed).path for seed, method in enumerate(pair, 1)]
    together = translated(*paths)
    assert together.best == translated(*paths[::-1]).best
    assert together.scores not in [translated(path).scores for path in paths]


def test_an_ensemble_without_the_phrases_that_one_needs(make_system, prepared):
    methods = ("syntax_transformer", "phrase_transformer+parsed")
    paths = ":".join(str(make_system(method).path) for method in methods)
    with pytest.raises(SystemExit, match=r"--load-phrases.*--parser-config FILE"):
        System("", prepared.data, paths).generate()


def test_an_ensemble_with_a_model_that_takes_no_annotation(make_system, prepared):
    """It is not told to load what would then be refused."""
    methods = ("transformer", "pascal_transformer")
    paths = ":".join(str(make_system(method).path) for method in methods)
    with pytest.raises(SystemExit, match="an ensemble of a model that reads annotation"):
        System("", prepared.data, paths).generate()
