"""The properties are tested for what a model declares: a method with a mistake does not pass."""

import pytest
import torch
from test_autoregression import test_future_is_not_read as check_future
from test_batch_invariance import check_layouts, without_ends
from test_batch_invariance import test_every_declared_input_matters as check_inputs
from test_batch_invariance import test_words_of_several_pieces_matter as check_words

from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.methods.parent_scaled import parent_scaling
from syntax_nmt.models.syntax_rnn import SyntaxRNNModel


def of_no_tree(positions, heads, spans):
    """Declared, and not read."""
    return positions(torch.zeros_like(heads), spans)


def first_piece(positions, heads, spans):
    """Not the middle of the parent's pieces."""
    return spans.first.gather(1, heads.long().gather(1, spans.first).clamp(min=0)).float()


def from_the_edge(positions, heads, spans):
    """Counted from the left edge of the batch, pads among the rest."""
    return positions(heads, spans) * 0.9


def of_the_next_sentence(positions, heads, spans):
    return positions(heads, spans).roll(1, 0)


def in_layout(**change):
    return lambda small: check_layouts(small, change)


@pytest.mark.parametrize(
    ("mutant", "check", "said"),
    [
        (of_no_tree, check_inputs, "HEADS"),
        (first_piece, lambda small: check_words(small, without_ends), ""),
        (from_the_edge, in_layout(left_pad_source=False), "not close"),
        (from_the_edge, in_layout(pad_to=(17, 13)), "not close"),
        (of_the_next_sentence, in_layout(alone=True), "not close"),
    ],
)
def test_parents_in_the_wrong_place(build_small, monkeypatch, mutant, check, said):
    small, positions = build_small("pascal_transformer+pieces"), parent_scaling.parent_positions
    check(small)
    monkeypatch.setattr(parent_scaling, "parent_positions", lambda *of: mutant(positions, *of))
    with pytest.raises(AssertionError, match=said):
        check(small)


def test_an_input_of_the_target_that_is_read_too_early(build_small, monkeypatch):
    small = build_small("bi_scale_rnn_tiny")
    forward = SyntaxRNNModel.forward
    check_future(small)

    def looking_ahead(self, *args, **inputs):
        inputs[CHUNKS.key] = torch.roll(inputs[CHUNKS.key], -1, dims=1)
        return forward(self, *args, **inputs)

    monkeypatch.setattr(SyntaxRNNModel, "forward", looking_ahead)
    with pytest.raises(AssertionError, match="not close"):
        check_future(small)
