"""Gated attention and its distances equal the equations, in one go and step by step."""

import latent_phrase_loops as loops
import pytest
import torch

from syntax_nmt.backbone.block_size import BlockSize
from syntax_nmt.methods.latent_phrases.attention import PhraseGatedAttention

C, H, T = 12, 3, 9
LEFT = torch.tensor([[True] * 4 + [False] * 5, [False] * 9])
RIGHT = LEFT.flip(1)


def attention_of(causal, alpha="hardtanh", temperature=1.5, lookback=2):
    torch.manual_seed(3)
    module = PhraseGatedAttention(
        C, H, lookback, temperature, alpha, causal=causal, self_attention=True
    )
    with torch.no_grad():
        module.syntactic_distance.weight.mul_(4)  # some gates close
        for bias in (module.q_proj.bias, module.k_proj.bias, module.v_proj.bias):
            bias.normal_()
    return module.double().eval()


def states():
    return torch.randn(T, 2, C, dtype=torch.float64, generator=torch.Generator().manual_seed(5))


@pytest.mark.parametrize("alpha", ["hardtanh", "sigmoid"])
@pytest.mark.parametrize("causal", [False, True], ids=["encoder", "decoder"])
@pytest.mark.parametrize("padding", [None, LEFT, RIGHT], ids=["no-pads", "left", "right"])
@pytest.mark.parametrize("lookback", [0, 2, 5])
@torch.no_grad()
def test_equals_the_equations(causal, alpha, padding, lookback):
    attention, x = attention_of(causal, alpha, lookback=lookback), states()
    mask = torch.full((T, T), float("-inf")).triu(1).double() if causal else None
    fused, none, d = attention(
        x, x, x, padding, need_weights=False, attn_mask=mask, need_distances=True
    )
    _, of_heads = attention(x, x, x, padding, attn_mask=mask, need_head_weights=True)
    _, averaged = attention(x, x, x, padding, attn_mask=mask)
    assert none is None
    for b in range(2):
        real = slice(None) if padding is None else ~padding[b]
        output, weights, distances = loops.gated_attention(attention, x[real, b])
        torch.testing.assert_close(fused[real, b], output, atol=1e-10, rtol=0)
        torch.testing.assert_close(of_heads[:, b, real][..., real], weights, atol=1e-10, rtol=0)
        torch.testing.assert_close(
            averaged[b, real][..., real], weights.mean(dim=0), atol=1e-10, rtol=0
        )
        torch.testing.assert_close(d[b, :, real], distances, atol=1e-10, rtol=0)
    assert torch.isfinite(fused).all(), "rows of pads, too, or they poison the next layer"


def test_gradients_equal_the_equations():
    attention, x = attention_of(causal=False), states()[:, :1].requires_grad_()
    leaves = [x, *(p for name, p in attention.named_parameters() if name != "k_proj.bias")]
    ours = attention(x, x, x, need_weights=False)[0].pow(2).sum()
    theirs = loops.gated_attention(attention, x[:, 0])[0].pow(2).sum()
    for actual, expected in zip(
        torch.autograd.grad(ours, leaves), torch.autograd.grad(theirs, leaves)
    ):
        torch.testing.assert_close(actual, expected, atol=1e-10, rtol=1e-8)


@pytest.mark.parametrize("padding", [None, LEFT, RIGHT], ids=["no-pads", "left", "right"])
@torch.no_grad()
def test_steps_equal_the_whole(padding):
    """Pads come with prefixes of several lengths."""
    attention, x = attention_of(causal=True), states()
    real = torch.ones(2, T).bool() if padding is None else ~padding
    whole, _, distances = attention(x, x, x, padding, need_weights=False, need_distances=True)
    state = {}
    for t in range(T):
        step, pad = x[t : t + 1], None if padding is None else ~real[:, t : t + 1]
        out, _, seen = attention(step, step, step, pad, state, False, need_distances=True)
        torch.testing.assert_close(out[0][real[:, t]], whole[t][real[:, t]])
        torch.testing.assert_close(seen[..., t][real[:, t]], distances[..., t][real[:, t]])
        if t == 4:  # hypotheses change places
            attention.reorder_incremental_state(state, torch.tensor([1, 0]))
            x, whole, distances, real = x.flip(1), whole.flip(1), distances.flip(0), real.flip(0)


@torch.no_grad()
def test_a_step_computes_one_distance(monkeypatch):
    """Lookback 2: of three keys, and all at once only where the search begins."""
    attention, x, seen = attention_of(causal=True), states(), []
    distances = attention.syntactic_distance
    distances.register_forward_hook(lambda module, args, out: seen.append("all"))
    of_last = distances.of_last
    monkeypatch.setattr(
        distances, "of_last", lambda keys: (seen.append(keys.size(2)), of_last(keys))[1]
    )
    state = {}
    for t in range(T):
        step = x[t : t + 1]
        attention(step, step, step, incremental_state=state, need_weights=False)
    assert seen == ["all", 2, 3, 3, 3, 3, 3, 3, 3]


def test_local_mask_adds_to_the_gates():
    attention, x = attention_of(causal=False), states()
    near = torch.full((T, T), float("-inf")).double().triu(3)
    _, weights = attention(x, x, x, attn_mask=near)
    assert (weights.triu(3) == 0).all()
    assert (weights[:, :6].sum(dim=2) > 0.99).all()


def test_a_bias_of_each_head_beside_the_gates_of_some_heads_at_a_time(monkeypatch):
    """The logits get both, and long sentences, whose heads are taken in turn, give the same."""
    attention = PhraseGatedAttention(8, 4, 2, 1.0, "hardtanh", self_attention=True).double()
    x = torch.randn(6, 2, 8, dtype=torch.float64)
    bias = torch.randn(2, 4, 6, 6, dtype=torch.float64, requires_grad=True)
    whole, _ = attention(x, x, x, need_weights=False, bias=bias)
    explicit, _ = attention(x, x, x, need_weights=True, bias=bias)
    torch.testing.assert_close(whole, explicit)
    (expected,) = torch.autograd.grad(whole.square().sum(), bias)
    monkeypatch.setattr(f"{PhraseGatedAttention.__module__}._PAIRS", BlockSize(1, 1))
    in_parts, _ = attention(x, x, x, need_weights=False, bias=bias)
    torch.testing.assert_close(in_parts, whole)
    (got,) = torch.autograd.grad(in_parts.square().sum(), bias)
    torch.testing.assert_close(got, expected)
    assert got.abs().min() > 0
