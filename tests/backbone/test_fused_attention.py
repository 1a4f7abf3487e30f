"""The fused attention equals fairseq's module and the equation written as loops."""

import math

import pytest
import torch
from fairseq.modules import MultiheadAttention

from syntax_nmt.backbone.attention_modifier import close_pads
from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention

C, H, B, S, T = 12, 3, 2, 5, 4
PADDING = torch.tensor([[True, True, False, False, False], [False] * 5])
FUTURE = torch.full((S, S), float("-inf")).triu(1).double()
BIAS = torch.randn(B, H, S, S, generator=torch.Generator().manual_seed(2)).double()


def both(**kind):
    """fairseq's module and ours with the same weights, in float64 so that differences show."""
    stock = MultiheadAttention(C, H, **kind).double().eval()
    ours = FusedMultiheadAttention(C, H, causal=kind.get("self_attention", False), **kind)
    ours = ours.double().eval()
    ours.load_state_dict(stock.state_dict())
    return stock, ours


def loops(attention, query, key, padding, attn_mask):
    """Equations 1 to 3 of Vaswani et al. (2017), one number at a time where it matters."""
    q, k, v = attention.q_proj(query), attention.k_proj(key), attention.v_proj(key)
    width = C // H
    output = torch.zeros_like(query)
    for b in range(query.size(1)):
        for h in range(H):
            part = slice(h * width, (h + 1) * width)
            for t in range(query.size(0)):
                logits = []
                for s in range(key.size(0)):
                    logit = float(q[t, b, part] @ k[s, b, part]) / math.sqrt(width)
                    if attn_mask is not None:
                        logit += float(attn_mask.expand(B, H, -1, -1)[b, h, t, s])
                    masked = padding is not None and bool(padding[b, s])
                    logits.append(-math.inf if masked else logit)
                if max(logits) == -math.inf:
                    continue  # a pad with nothing before it; its output is never read
                total = sum(math.exp(x - max(logits)) for x in logits)
                for s, x in enumerate(logits):
                    output[t, b, part] += math.exp(x - max(logits)) / total * v[s, b, part]
    return attention.out_proj(output)


@pytest.mark.parametrize("padding", [None, PADDING], ids=["no-pads", "pads"])
@pytest.mark.parametrize(
    ("added", "kind"),
    [(None, "attn_mask"), (FUTURE, "attn_mask"), (BIAS, "attn_mask"), (BIAS, "bias")],
    ids=["all", "causal", "mask", "bias"],
)
@torch.no_grad()
def test_self_attention(padding, added, kind):
    _, ours = both(self_attention=True)
    ours.causal = added is not BIAS
    x = torch.randn(S, B, C, dtype=torch.float64)
    expected = loops(ours, x, x, padding, added)
    change = {kind: close_pads(BIAS, padding) if kind == "bias" else added}
    fused, none = ours(x, x, x, padding, need_weights=False, **change)
    assert none is None
    real = torch.ones(S, B, dtype=torch.bool) if padding is None else ~padding.t()
    torch.testing.assert_close(fused[real], expected[real], atol=1e-10, rtol=0)
    explicit, weights = ours(x, x, x, padding, need_head_weights=True, **change)
    torch.testing.assert_close(explicit[real], expected[real], atol=1e-10, rtol=0)
    assert weights.shape == (H, B, S, S)
    sums = weights.sum(3).permute(2, 1, 0)[real]
    torch.testing.assert_close(sums, torch.ones_like(sums))
    for output in (fused, explicit):
        assert torch.isfinite(output).all(), "rows of pads, too, or they poison the next layer"


@torch.no_grad()
def test_a_mask_a_head_is_not_taken_for_the_one_that_closes_the_future():
    """Also where there are as many heads as sentences."""
    attention = FusedMultiheadAttention(C, B, causal=True, self_attention=True).double().eval()
    x, mask = torch.randn(S, B, C).double(), BIAS[:, :B]
    explicit, _ = attention(x, x, x, attn_mask=mask, need_weights=True)
    fused, _ = attention(x, x, x, attn_mask=mask, need_weights=False)
    torch.testing.assert_close(fused, explicit)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@torch.no_grad()
def test_pads_that_see_only_pads_stay_finite(dtype):
    """fairseq hides with -1e8, which is -inf in half precision, as it is under autocast."""
    _, ours = both(self_attention=True)
    x = torch.randn(S, B, C).to(dtype)
    near = torch.full((S, S), -1e8).triu(1) + torch.full((S, S), -1e8).tril(-1)  # each itself
    for options in ({"need_weights": False}, {"need_weights": True}):
        output, weights = ours.to(dtype)(x, x, x, PADDING, attn_mask=near, **options)
        assert torch.isfinite(output).all()
        if weights is not None:
            assert torch.equal(weights[1], torch.eye(S))
            assert not weights[0, 2:, :2].any()


@pytest.mark.parametrize("padding", [None, PADDING], ids=["no-pads", "pads"])
@torch.no_grad()
def test_cross_attention(padding):
    stock, ours = both(encoder_decoder_attention=True)
    query = torch.randn(T, B, C, dtype=torch.float64)
    memory = torch.randn(S, B, C, dtype=torch.float64)
    expected = loops(ours, query, memory, padding, None)
    fused, _ = ours(query, memory, memory, padding, need_weights=False, static_kv=True)
    torch.testing.assert_close(fused, expected, atol=1e-10, rtol=0)
    for option in ({"need_weights": True}, {"need_head_weights": True}):
        _, weights = ours(query, memory, memory, padding, static_kv=True, **option)
        _, reference = stock(query, memory, memory, padding, static_kv=True, **option)
        torch.testing.assert_close(weights.float(), reference)  # stock has them in float32


@torch.no_grad()
def test_hypotheses_share_memory():
    """With a beam, static keys are kept once a sentence and the results stay the same."""
    beam = 3
    _, ours = both(encoder_decoder_attention=True)
    memory = torch.randn(S, B, C, dtype=torch.float64).repeat_interleave(beam, dim=1)
    padding = PADDING.repeat_interleave(beam, dim=0)
    state = {}
    ours.set_beam_size(beam)
    for _ in range(3):
        query = torch.randn(1, B * beam, C, dtype=torch.float64)
        expected = loops(ours, query, memory, padding, None)
        call = dict(incremental_state=state, static_kv=True)
        fused, _ = ours(query, memory, memory, padding, need_weights=False, **call)
        torch.testing.assert_close(fused, expected, atol=1e-10, rtol=0)
        explicit, weights = ours(query, memory, memory, padding, need_weights=True, **call)
        torch.testing.assert_close(explicit, expected, atol=1e-10, rtol=0)
        assert weights.shape == (B * beam, 1, S)
    assert ours._get_input_buffer(state)["prev_key"].size(0) == B
    ours.reorder_incremental_state(state, torch.arange(beam, 2 * beam))  # the first one is done
    assert ours._get_input_buffer(state)["prev_key"].size(0) == 1
    query = torch.randn(1, beam, C, dtype=torch.float64)
    fused, _ = ours(query, None, None, None, state, need_weights=False, static_kv=True)
    expected = loops(ours, query, memory[:, beam:], padding[beam:], None)
    torch.testing.assert_close(fused, expected, atol=1e-10, rtol=0)


def test_the_fused_kernel_runs(monkeypatch):
    """Every call that asks for no weights goes through it, incremental ones included."""
    calls = []
    kernel = torch.nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(
        torch.nn.functional,
        "scaled_dot_product_attention",
        lambda *args, **kwargs: calls.append(1) or kernel(*args, **kwargs),
    )
    x = torch.randn(S, B, C, dtype=torch.float64)
    _, self_attention = both(self_attention=True)
    _, cross_attention = both(encoder_decoder_attention=True)
    self_attention(x, x, x, need_weights=False)
    self_attention(x[:1], x[:1], x[:1], incremental_state={}, need_weights=False)
    cross_attention(x, x, x, need_weights=False, static_kv=True)
    cross_attention(x, x, x, incremental_state={}, need_weights=False, static_kv=True)
    assert len(calls) == 4
    cross_attention(x, x, x, need_weights=True)
    assert len(calls) == 4


@pytest.mark.parametrize("factor", [None, torch.ones(1, 1, S, S)], ids=["fused", "explicit"])
def test_dropout_acts_in_training_alone(factor):
    attention = FusedMultiheadAttention(C, H, dropout=0.5, self_attention=True)
    x = torch.randn(S, B, C)
    given = {"need_weights": False, "factor": factor}
    attention.train()
    noisy = [attention(x, x, x, **given)[0] for _ in range(2)]
    assert not torch.equal(*noisy)
    attention.eval()
    calm = [attention(x, x, x, **given)[0] for _ in range(2)]
    torch.testing.assert_close(*calm)


def test_quantisation_noise_reaches_our_projections_alone():
    """fairseq's self-attention reads the weights without calling the modules, which bring it."""
    stock, ours = both(self_attention=True, q_noise=0.5, qn_block_size=4)
    x = torch.randn(S, B, C, dtype=torch.float64)
    for attention, noisy in ((stock, False), (ours, True)):
        attention.train()(x, x, x, need_weights=False)
        for name, parameter in attention.named_parameters():
            if name.endswith("weight"):
                assert bool(parameter.eq(0).any()) == noisy, name
