"""What a search is given: options and batches; and what stands in place of unknown words."""

from argparse import Namespace
from types import SimpleNamespace

import pytest
import torch
from fairseq import utils
from fairseq.data import Dictionary
from fairseq.search import BeamSearch, DiverseBeamSearch
from fairseq.sequence_scorer import SequenceScorer
from omegaconf import OmegaConf
from small_models import batch, build, enlarge, random_sentences

from syntax_nmt.errors import UserError
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


LENGTHS = [6, 3, 1, 9]  # with EOS: the third sentence has no word


@pytest.mark.parametrize("arch", ["rnn_search", "phrase_transformer"])
@pytest.mark.parametrize("options", [Namespace, lambda **given: OmegaConf.create(given)])
def test_unknown_words_are_replaced(folder, arch, options):
    model, task, _ = build(folder, arch)
    enlarge(model)
    dictionary = task.source_dictionary
    sample = batch(dictionary, random_sentences(LENGTHS), random_sentences([4] * len(LENGTHS), 4))
    search = options(beam=2, max_len_b=5, unkpen=-100.0, replace_unk="", print_alignment=None)
    hypotheses = task.inference_step(task.build_generator([model], search), [model], sample)
    assert search.print_alignment is None  # so that no program prints it
    for tokens, (best, *_) in zip(sample["net_input"]["src_tokens"], hypotheses):
        tokens = utils.strip_pad(tokens, dictionary.pad())
        source, attention = dictionary.string(tokens), best["attention"][-len(tokens) :]
        _, replaced, links = utils.post_process_prediction(
            best["tokens"], source, best["alignment"], {}, dictionary
        )
        words = (best["tokens"] != dictionary.eos()).sum()
        if not source:  # nothing to translate
            assert (words, replaced, links) == (0, "", [])
            continue
        assert words == 5
        assert set(best["tokens"][:words].tolist()) == {dictionary.unk()}
        attended = attention[:-1, :words].argmax(dim=0).tolist()
        assert replaced.split() == [source.split()[place] for place in attended]
        assert [(place, word) for place, word in links] == list(zip(attended, range(words)))


def test_soft_alignments_are_refused(folder):
    model, task, _ = build(folder, "rnn_search")
    search = Namespace(replace_unk="", print_alignment="soft")
    with pytest.raises(UserError, match="leave `soft` behind --print-alignment out"):
        task.build_generator([model], search)


def test_references_are_scored_as_ever(folder):
    model, task, _ = build(folder, "rnn_search")
    sample = batch(task.source_dictionary, random_sentences([5]), random_sentences([4], 4))
    scorer = task.build_generator([model], Namespace(replace_unk="", score_reference=True))
    ((hypothesis,),) = task.inference_step(scorer, [model], sample)
    assert torch.equal(hypothesis["tokens"], sample["target"][0])
