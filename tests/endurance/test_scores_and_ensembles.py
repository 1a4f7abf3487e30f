"""fairseq-validate, and ensembles of different methods."""

import math

import pytest
from commands import USER_DIR
from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.logging.progress_bar import SimpleProgressBar
from fairseq_cli import validate
from methods import METHODS, inputs_of
from prepared_corpus import TEST_SENTENCES
from programs import System

pytestmark = pytest.mark.dear

QUICK = ("bi_scale_rnn",)
EACH = [pytest.param(m, marks=[] if m in QUICK else pytest.mark.slow) for m in METHODS]
SEARCH = ("--beam", "4", "--max-len-b", "16")
FLOOR = -100  # probabilities that are smaller are lost in float32, in which fairseq adds them up


@pytest.fixture(scope="module", params=EACH)
def system(request, make_system) -> System:
    return make_system(request.param)


def test_validation_loss_is_that_of_the_scored_references(system, monkeypatch):
    """Of each token, in base 2; auxiliary losses are not in it."""
    plugin = ("--user-dir", USER_DIR, "--task", "syntax_translation", "--cpu")
    flags = ("--valid-subset", "test", "--batch-size", "7", "--num-workers", "0")
    flags = (*flags, "--log-format", "simple")
    command = [str(system.data), *plugin, "--path", str(system.path), *flags, *system.inputs]
    arguments = options.parse_args_and_arch(
        options.get_validation_parser(default_task="syntax_translation"), command
    )
    printed = []
    monkeypatch.setattr(SimpleProgressBar, "print", lambda bar, stats, **_: printed.append(stats))
    validate.main(convert_namespace_to_omegaconf(arguments))
    # fairseq-validate loads what training loaded; others must be told.
    told = METHODS[system.method].scores_chunks
    flags = ("--load-chunks",) if told else ()
    scored = system.generate("--score-reference", *flags).tokens.values()
    tokens = [token for lines in scored for line in lines for token in line]
    assert printed[0]["gold_nll_loss" if told else "nll_loss"] == pytest.approx(
        -sum(tokens) / len(tokens), abs=0.01
    )


def neighbour(method: str) -> str:
    """The next method."""
    methods = list(METHODS)
    return methods[(methods.index(method) + 1) % len(methods)]


def test_ensembles_of_different_methods(system, make_system):
    """The probability of a reference's token is the mean of both models'."""
    other = make_system(neighbour(system.method))
    assert other.method != system.method
    both = System(system.method, system.data, f"{system.path}:{other.path}")
    inputs = inputs_of(other.method)
    printed = both.generate(*SEARCH, *inputs, "--nbest", "4", "--print-alignment")
    assert all(len(set(found)) == 4 for found in printed.nbest.values())
    assert sorted(printed.best) == list(range(TEST_SENTENCES))
    together = both.generate("--score-reference", *inputs).tokens
    alone = [each.generate("--score-reference").tokens for each in (system, other)]
    for n, (line,) in together.items():
        for token, *two in zip(line, *(scores[n][0] for scores in alone)):
            mean = sum(2 ** max(score, 10 * FLOOR) for score in two) / 2
            assert max(token, FLOOR) == pytest.approx(max(math.log2(mean), FLOOR), abs=0.02)
