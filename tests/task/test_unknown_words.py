"""`--replace-unk` puts the source word of most attention where the translation has `<unk>`."""

from argparse import Namespace

import pytest
import torch
from fairseq import utils
from omegaconf import OmegaConf
from small_models import batch, build, enlarge, random_sentences

from syntax_nmt.errors import UserError

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
