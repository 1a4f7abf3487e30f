"""The numbers of sentences that a search with diverse groups of hypotheses gets."""

from types import SimpleNamespace

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.search import BeamSearch, DiverseBeamSearch

from syntax_nmt.task.search import renumber_for_diverse_beams

DIVERSE = SimpleNamespace(search=DiverseBeamSearch(Dictionary(), 2, 0.5))
STANDARD = SimpleNamespace(search=BeamSearch(Dictionary()))
SCORER = SimpleNamespace()


def test_sentences_are_numbered_by_their_place_in_the_batch():
    sample = {"id": torch.tensor([7, 3, 5]), "net_input": {}}
    assert renumber_for_diverse_beams(DIVERSE, sample)["id"].tolist() == [0, 1, 2]
    assert sample["id"].tolist() == [7, 3, 5]
    for other in (STANDARD, SCORER):
        assert renumber_for_diverse_beams(other, sample) is sample


@pytest.mark.parametrize("generator", [DIVERSE, STANDARD, SCORER])
def test_batches_of_fairseq_interactive_have_no_numbers(generator):
    assert renumber_for_diverse_beams(generator, {"net_input": {}}) == {"net_input": {}}
