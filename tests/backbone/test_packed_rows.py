"""Sentences laid end to end, wherever their pads are, and the recurrent networks that read them."""

import pytest
import torch

from syntax_nmt.backbone.gru import SentenceGRU, gru_step
from syntax_nmt.backbone.packing import PackedRows

# Pads on the left, none, on the right, on both sides, of sentences of 3, 5, 1 and 2 words.
PADDING = torch.tensor(
    [[1, 1, 0, 0, 0], [0, 0, 0, 0, 0], [0, 1, 1, 1, 1], [1, 0, 0, 1, 1]], dtype=torch.bool
)


def test_order_of_words():
    places = torch.arange(20.0).view(4, 5, 1)
    rows = PackedRows(PADDING)
    assert rows.batch_sizes.tolist() == [4, 3, 2, 1, 1]
    # By step, the longest sentence first.
    first = [5, 2, 16, 10, 6, 3, 17, 7, 4, 8, 9]
    last = [9, 4, 17, 10, 8, 3, 16, 7, 2, 6, 5]
    for backward, expected in ((False, first), (True, last)):
        packed = rows.pack(places, backward)
        assert packed.data.flatten().tolist() == expected
        back = rows.unpack(packed, backward)
        assert torch.equal(back, places.masked_fill(PADDING.unsqueeze(2), 0))


def test_another_order_of_reading():
    """Columns of words, then of pads; what a network gives for a word goes to its place."""
    places, rows = torch.arange(20.0).view(4, 5, 1), PackedRows(PADDING)
    rows.unpack(rows.pack(places))  # its own order is known by now
    columns = torch.tensor([[3, 4, 2, 0, 1], [4, 2, 0, 1, 3], [0, 1, 2, 3, 4], [2, 1, 0, 3, 4]])
    other = rows.in_order(columns)
    for backward, expected in (
        (False, [9, 3, 17, 10, 7, 4, 16, 5, 2, 6, 8]),
        (True, [8, 2, 16, 10, 6, 4, 17, 5, 3, 7, 9]),
    ):
        packed = other.pack(places, backward)
        assert packed.data.flatten().tolist() == expected
        back = other.unpack(packed, backward)
        assert torch.equal(back, places.masked_fill(PADDING.unsqueeze(2), 0))
    assert rows.pack(places).data[:4].flatten().tolist() == [5, 2, 16, 10]


def test_directions_are_those_of_the_bidirectional_network():
    """Each direction alone, with the weights of torch's own bidirectional network."""
    both = SentenceGRU(3, 4, "both")
    states, rows = torch.randn(4, 5, 3), PackedRows(PADDING)
    expected = both(states, rows).chunk(2, dim=2)
    weights = both.gru.state_dict()
    for direction, suffix, part in zip(("forward", "backward"), ("", "_reverse"), expected):
        one = SentenceGRU(3, 4, direction)
        one.gru.load_state_dict({name: weights[name + suffix] for name in one.gru.state_dict()})
        torch.testing.assert_close(one(states, rows), part)


CUDA = pytest.param("cuda", marks=pytest.mark.gpu)


@pytest.mark.parametrize("device", ["cpu", CUDA])
def test_equals_torchs_cell(device):
    cell = torch.nn.GRUCell(5, 7).to(device)
    x, state = torch.randn(3, 5, device=device), torch.randn(3, 7, device=device)
    leaves = [x.requires_grad_(), state.requires_grad_(), *cell.parameters()]
    results = []
    for step in (
        lambda: cell(x, state),
        lambda: gru_step(
            torch.nn.functional.linear(x, cell.weight_ih, cell.bias_ih),
            # A part of a wider product, as the decoder's is.
            torch.nn.functional.linear(
                state, torch.cat([cell.weight_hh, cell.weight_hh]), cell.bias_hh.repeat(2)
            )[:, :21],
            state,
        ),
    ):
        out = step()
        results.append([out, *torch.autograd.grad(out.pow(2).sum(), leaves)])
    for actual, expected in zip(*results):
        torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-5)
