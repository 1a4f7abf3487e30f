"""A step whose products the caller takes is torch's own GRU cell."""

import pytest
import torch

from syntax_nmt.backbone.gru import gru_step

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
