"""Gates in O(T²) equal their definition as products."""

import latent_phrase_loops as loops
import pytest
import torch

from syntax_nmt.methods.latent_phrases.gates import log_phrase_gates

KINDS = [("hardtanh", 1.0), ("hardtanh", 1.7), ("sigmoid", 10.0)]
LEFT = torch.tensor([[True] * 3 + [False] * 7, [False] * 10])
RIGHT = LEFT.flip(1)


def random_distances(length=10, scale=1.0):
    generator = torch.Generator().manual_seed(1)
    return scale * (2 * torch.rand(2, 3, length, generator=generator, dtype=torch.float64) - 1)


@pytest.mark.parametrize("both_directions", [True, False], ids=["encoder", "decoder"])
@pytest.mark.parametrize(("alpha", "temperature"), KINDS)
@pytest.mark.parametrize("padding", [None, LEFT, RIGHT], ids=["no-pads", "left", "right"])
def test_gates_and_gradients_equal_the_definition(alpha, temperature, both_directions, padding):
    d = random_distances().requires_grad_()
    settings = {"temperature": temperature, "alpha": alpha}
    found = log_phrase_gates(d, padding, both_directions=both_directions, **settings)
    weights = torch.randn(found.shape, dtype=torch.float64)
    ours, theirs = 0.0, 0.0
    for b in range(2):
        real = slice(None) if padding is None else ~padding[b]
        for h in range(3):
            expected = loops.gates(d[b, h][real], both_directions, **settings)
            actual = found[b, h][real][:, real].exp()
            torch.testing.assert_close(actual, expected, atol=1e-12, rtol=1e-10)
            assert torch.equal(actual == 0, expected == 0), "closed means closed"
            part = weights[b, h][real][:, real]
            ours, theirs = ours + (part * actual).sum(), theirs + (part * expected).sum()
    (of_ours,), (of_theirs,) = torch.autograd.grad(ours, d), torch.autograd.grad(theirs, d)
    torch.testing.assert_close(of_ours, of_theirs, atol=1e-10, rtol=1e-10)


def test_some_gates_of_the_test_above_are_closed():
    found = log_phrase_gates(random_distances(), both_directions=True, temperature=1.7)
    assert 0 < found.isneginf().double().mean() < 0.9


@pytest.mark.parametrize("both_directions", [True, False], ids=["encoder", "decoder"])
def test_pads_are_closed_and_their_rows_are_not_empty(both_directions):
    for padding in (LEFT, RIGHT):
        found = log_phrase_gates(random_distances(), padding, both_directions=both_directions)
        assert found[0, :, ~padding[0]][..., padding[0]].isneginf().all()
        assert not found.isneginf().all(dim=3).any()


@pytest.mark.parametrize("alpha", ["hardtanh", "sigmoid"])
def test_finite_at_the_extremes(alpha):
    """Distances of ±1, barely open gates and a thousand words, in float32."""
    generator = torch.Generator().manual_seed(2)
    for d in (
        torch.randint(0, 2, (1, 1, 1000), generator=generator).float() * 2 - 1,
        torch.linspace(-1 + 1e-7, 0, 1000)[None, None],
        torch.zeros(1, 1, 1000),
    ):
        d = d.clone().requires_grad_()
        found = log_phrase_gates(d, both_directions=True, alpha=alpha, temperature=1.0)
        assert not found.isnan().any()
        weights = torch.softmax(found + torch.randn(1000, 1000), dim=3)
        (gradient,) = torch.autograd.grad(weights.square().sum(), d)
        assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("both_directions", [True, False], ids=["encoder", "decoder"])
@pytest.mark.parametrize(("alpha", "temperature"), KINDS)
@pytest.mark.parametrize("length", [1, 2, 3, 10])
def test_last_rows_alone(length, alpha, temperature, both_directions):
    """As a step of a search asks for them."""
    d, padding = random_distances()[..., :length], RIGHT if length == 10 else None
    settings = {"temperature": temperature, "alpha": alpha, "both_directions": both_directions}
    whole = log_phrase_gates(d, padding, **settings)
    for queries in (1, min(4, length)):
        with torch.no_grad():
            rows = log_phrase_gates(d, padding, **settings, queries=queries)
        torch.testing.assert_close(rows, whole[:, :, -queries:])
