"""A sentence's result depends on nothing but the sentence."""

import pytest
import torch
from methods import BASES, OF_WORDS, READ_ENDS_OF_WORDS
from small_models import random_sentences

from syntax_nmt.backbone.masked_batch_norm import MaskedBatchNorm
from syntax_nmt.data.subwords import NO_SUBWORDS
from syntax_nmt.errors import UserError
from syntax_nmt.text.languages import SOURCE

SOURCES = random_sentences([6, 11, 2, 9], seed=3)
TARGETS = random_sentences([5, 3, 8, 7], seed=4)


def logits_of_each(small, left_pad_source=True, pad_to=None, alone=False, training=False):
    """The logits of each sentence at its own positions, T×V."""
    small.model.train(training)
    groups = [[i] for i in range(len(SOURCES))] if alone else [list(range(len(SOURCES)))]
    results = []
    for group in groups:
        sample = small.batch(
            [SOURCES[i] for i in group], [TARGETS[i] for i in group], left_pad_source, pad_to
        )
        with torch.no_grad():
            logits = small.model(**sample["net_input"])[0]
        results += [logits[row, : len(TARGETS[i])] for row, i in enumerate(group)]
    return results


LAYOUTS = (
    {"alone": True},
    {"left_pad_source": False},
    {"pad_to": (17, 13)},
    {"pad_to": (17, 13), "left_pad_source": False},
)


def test_same_logits(small):
    """In every layout, and in training, unless batch norm takes its statistics from the batch."""
    has_batch_norm = any(isinstance(module, MaskedBatchNorm) for module in small.model.modules())
    check_layouts(small, *LAYOUTS, *([] if has_batch_norm else [{"training": True}]))


def check_layouts(small, *changes):
    """The logits of each sentence are those in its batch, padded on the left."""
    reference = logits_of_each(small)
    for change in changes:
        for expected, actual in zip(reference, logits_of_each(small, **change)):
            torch.testing.assert_close(
                actual, expected, atol=2e-5, rtol=1e-4,
                msg=lambda m, change=change: f"{m}\n\nA sentence has other logits with {change} "
                "than in its batch, padded on the left. Something reads more than the sentence: "
                "columns counted from the edge of the batch, pads that are not masked, or numbers "
                "taken over the batch.",
            )  # fmt: skip


def test_inputs_matter(small):
    """Guards the tests above: a model that ignores its source would pass them."""
    first, *_ = logits_of_each(small)
    sample = small.batch([SOURCES[1]], [TARGETS[0]])
    with torch.no_grad():
        other = small.model(**sample["net_input"])[0][0, : len(TARGETS[0])]
    assert (first - other).abs().max() > 1e-3


def test_every_declared_input_matters(small):
    """A model that declares annotation and does not read it would pass the tests above."""
    first = small.batch(SOURCES, TARGETS)
    for kind in small.annotation:
        other = small.batch(SOURCES, TARGETS, seed=1)["net_input"]
        given = {**first["net_input"], **{key: other[key] for key in kind.keys}}
        with torch.no_grad():
            difference = small.model(**first["net_input"])[0] - small.model(**given)[0]
        assert float(difference.abs().max()) > 1e-4, (
            f"with other {kind.description} ({kind}) every logit stays: the model declares it in "
            f"reads_annotation, but its forward pass does not use net_input[{kind.key!r}], or the "
            "tokens that have an annotation are all masked"
        )


def test_a_declared_input_that_is_missing_is_named(small):
    inputs = small.batch(SOURCES, TARGETS)["net_input"]
    for kind in small.annotation:
        if kind.side == SOURCE:
            without = {key: value for key, value in inputs.items() if key not in kind.keys}
            with pytest.raises(UserError, match=f"add {kind.flag} "):
                small.model(**without)


# Trials of methods that find words, in which nothing is left that reads them.
READ_NO_WORDS = ("gcn_transformer+dense+pieces", "gcn_rnn+none+pieces")


@pytest.mark.parametrize("arch", sorted(BASES))
def test_models_that_find_words_have_several_pieces(build_small, arch):
    """A model that is not known to read words would have words of one piece in all tests."""
    small, called = build_small(arch), []
    hook = small.model.encoder.word_spans.register_forward_hook(lambda *_: called.append(True))
    logits_of_each(small)
    hook.remove()
    assert not called or f"{small.arch}+pieces" in OF_WORDS, (
        f"{small.arch} asks which pieces make a word: name its method in FINDS_WORDS of "
        "tests/tested_methods.py"
    )


def of_one_piece(module, tokens, spans):
    columns = torch.arange(spans.first.size(1)).expand_as(spans.first)
    return spans._replace(first=columns, last=columns)


def without_ends(module, tokens, spans):
    return spans._replace(last=spans.first)


@pytest.mark.parametrize("other_words", [of_one_piece, without_ends])
def test_words_of_several_pieces_matter(small, other_words):
    """A model that finds words in pieces and reads something else would pass the rest."""
    find_words, called = small.model.encoder.word_spans, []
    if find_words.scheme == NO_SUBWORDS:
        pytest.skip("words have one piece")
    if other_words is without_ends and small.arch not in READ_ENDS_OF_WORDS:
        pytest.skip("does not read where words end")
    expected = logits_of_each(small)
    hooks = [
        find_words.register_forward_hook(hook)
        for hook in (lambda *_: called.append(True), other_words)
    ]
    other = logits_of_each(small)
    for hook in hooks:
        hook.remove()
    if small.arch in READ_NO_WORDS:
        assert not called
        pytest.skip("reads no words")
    assert called, "its method stands in FINDS_WORDS, and does not ask which pieces make a word"
    assert max(float((x - y).abs().max()) for x, y in zip(expected, other)) > 1e-4
