"""Models get the phrases that they read, and no others."""

import logging
from types import SimpleNamespace

import pytest
import torch

from syntax_nmt.errors import UserError
from syntax_nmt.tasks.phrase_inputs import PhraseInputs

READS, IGNORES, TAKES_NONE = (
    SimpleNamespace(reads_phrases=True),
    SimpleNamespace(reads_phrases=False),
    SimpleNamespace(),
)


def sample(**phrases):
    return {"id": torch.tensor([0]), "net_input": {"src_tokens": torch.tensor([[5, 2]]), **phrases}}


LOADED = torch.tensor([[1, 1]])
PARSED = torch.tensor([[2, 0]])
PARSER = SimpleNamespace(phrase_lengths=lambda tokens, typed: PARSED)


@pytest.mark.parametrize("models", [[TAKES_NONE], [IGNORES], [TAKES_NONE, IGNORES]])
@pytest.mark.parametrize("parser", [None, PARSER])
def test_phrases_that_nobody_reads_are_left_out(models, parser):
    inputs, given = PhraseInputs(True, parser), sample(phrase_lengths=LOADED)
    for taken in (
        inputs.of_side_file(models, given),
        inputs.of_side_file_or_parser(models, given, None),
    ):
        assert set(taken) == {"id", "net_input"}
        assert set(taken["net_input"]) == {"src_tokens"}
    assert given["net_input"]["phrase_lengths"] is LOADED  # the caller's batch stays as it was


@pytest.mark.parametrize("models", [[READS], [READS, IGNORES]])
def test_side_files_go_before_the_parser(models):
    inputs = PhraseInputs(True, PARSER)
    taken = inputs.of_side_file_or_parser(models, sample(phrase_lengths=LOADED), None)
    assert taken["net_input"]["phrase_lengths"] is LOADED
    taken = inputs.of_side_file_or_parser(models, sample(), None)
    assert taken["net_input"]["phrase_lengths"] is PARSED


def test_nothing_is_parsed_in_training():
    given = sample()
    assert PhraseInputs(False, PARSER).of_side_file([READS], given) is given


def test_one_model_reads_phrases_and_another_takes_none():
    with pytest.raises(UserError, match="an ensemble"):
        PhraseInputs(True, None).of_side_file([TAKES_NONE, READS], sample(phrase_lengths=LOADED))


@pytest.mark.parametrize(
    ("loaded", "parser", "named"),
    [
        (True, None, "--load-phrases: "),
        (False, PARSER, "--parser-config: "),
        (True, PARSER, "--load-phrases and --parser-config: "),
        (False, None, None),
    ],
)
def test_options_without_effect_are_warned_of_once(loaded, parser, named, caplog):
    inputs = PhraseInputs(loaded, parser)
    with caplog.at_level(logging.WARNING):
        inputs.of_side_file([READS], sample())
        assert caplog.text == ""
        for _ in range(2):
            inputs.of_side_file([IGNORES], sample())
    assert caplog.text.count("has no effect") == (named is not None)
    assert named is None or f"{named}has no effect" in caplog.text
