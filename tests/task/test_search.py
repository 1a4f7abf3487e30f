"""What a search is given: options, and batches of fairseq-generate and fairseq-interactive."""

from types import SimpleNamespace

import pytest
import torch
from fairseq import options
from fairseq.data import Dictionary
from fairseq.search import BeamSearch, DiverseBeamSearch
from fairseq.sequence_scorer import SequenceScorer

from syntax_nmt.errors import UserError
from syntax_nmt.task.early_options import check_while_parsing
from syntax_nmt.task.search import check_given, renumber_for_diverse_beams

DIVERSE = SimpleNamespace(search=DiverseBeamSearch(Dictionary(), 2, 0.5))
STANDARD = SimpleNamespace(search=BeamSearch(Dictionary()))
SCORER = SequenceScorer(Dictionary())


def test_sentences_are_numbered_by_their_place_in_the_batch():
    sample = {"id": torch.tensor([7, 3, 5]), "net_input": {}}
    assert renumber_for_diverse_beams(DIVERSE, sample)["id"].tolist() == [0, 1, 2]
    assert sample["id"].tolist() == [7, 3, 5]
    for other in (STANDARD, SCORER):
        assert renumber_for_diverse_beams(other, sample) is sample


@pytest.mark.parametrize("generator", [DIVERSE, STANDARD, SCORER])
def test_batches_of_fairseq_interactive_have_no_numbers(generator):
    assert renumber_for_diverse_beams(generator, {"net_input": {}}) == {"net_input": {}}


def test_text_without_references_cannot_be_scored():
    for sample in ({"net_input": {}}, {"net_input": {}, "target": None}):
        with pytest.raises(UserError, match="--score-reference: the text has no references here"):
            check_given(SCORER, sample, None)
        check_given(STANDARD, sample, None)
    check_given(SCORER, {"target": torch.ones(1, 2)}, None)


@pytest.mark.parametrize(
    ("interactive", "given", "said"),
    [
        (True, ("--print-alignment", "soft"), "--print-alignment: invalid choice: 'soft'"),
        (True, ("--beam", "0"), "--beam: '0' is not a whole number of 1 or more"),
        (False, ("--beam", "0"), "--beam: '0' is not a whole number of 1 or more"),
    ],
)
def test_options_that_no_search_has(interactive, given, said, capsys):
    parser = options.get_generation_parser(interactive=interactive)
    check_while_parsing(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(given)
    assert said in capsys.readouterr().err


def test_alignments_that_a_program_prints():
    interactive, generate = (options.get_generation_parser(interactive=x) for x in (True, False))
    for parser in (interactive, generate):
        check_while_parsing(parser)
        assert parser.parse_args([]).print_alignment is None
        assert parser.parse_args([]).beam == 5
        assert parser.parse_args(["--print-alignment"]).print_alignment == "hard"
    soft = generate.parse_args(["--print-alignment", "soft"])
    assert soft.print_alignment == "soft"
