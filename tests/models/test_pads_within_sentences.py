"""A typed `<pad>` in the middle of a source is passed over, as fairseq's Transformer does."""

import pytest
import torch
from small_models import batch, build, enlarge, fill_zeros, random_sentences

PAD = 1
WHOLE = random_sentences([9, 5])
TARGETS = random_sentences([5, 7], 4)
# What reads neighbouring columns reads the gap, too.
PASS_OVER = {
    "syntax_transformer": [],
    "phrase_transformer": [],
    "phrase_transformer+mean": ["--phrase-summary=mean"],
    "rnn_search": [],
    "rnn_search+stacked": ["--encoder-gru=stacked"],
    "bi_scale_rnn": [],
}
READ_THE_GAP = {"latent_phrase_transformer": [], "relation_rnn": []}


@pytest.fixture(scope="module")
def logits_of(folder):
    """A function: the logits of the first of two sentences."""

    def logits(name, first):
        options = (PASS_OVER | READ_THE_GAP)[name]
        model, task, _ = build(folder, name.partition("+")[0], *options)
        fill_zeros(enlarge(model, 2.0)).double()
        sample = batch(task.source_dictionary, [first, WHOLE[1]], TARGETS)
        with torch.no_grad():
            return model(**sample["net_input"])[0][0, : len(TARGETS[0])]

    return logits


def with_pads(sentence):
    """Two in the middle, one at the start."""
    pad = torch.tensor([PAD])
    return torch.cat([pad, sentence[:4], pad, pad, sentence[4:]])


@pytest.mark.parametrize("name", PASS_OVER)
def test_as_if_it_were_not_there(logits_of, name):
    torch.testing.assert_close(logits_of(name, with_pads(WHOLE[0])), logits_of(name, WHOLE[0]))


@pytest.mark.parametrize("name", [*PASS_OVER, *READ_THE_GAP])
def test_no_word_is_lost(logits_of, name):
    other = WHOLE[0].clone()
    other[-1] = 4  # in place of EOS
    change = logits_of(name, with_pads(other)) - logits_of(name, with_pads(WHOLE[0]))
    assert change.abs().max() > 1e-3
