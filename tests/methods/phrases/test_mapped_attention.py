"""Mapping the memory gives what mapping the tokens gives."""

import pytest
import torch
from fairseq.modules.quantization.scalar.modules import IntLinear
from phrase_loops import multi_head

from syntax_nmt.backbone.linear_of_pair import LinearOfPair
from syntax_nmt.methods.phrases.mapped_attention import MappedAttention

C, HEADS, K = 8, 2, 5
TOKENS, SENTENCES, PHRASES = 7, 3, 4
PADDING = torch.tensor([[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 1, 1]], dtype=torch.bool)


@pytest.fixture
def attention():
    module = MappedAttention(C, HEADS, encoder_decoder_attention=True).double().eval()
    with torch.no_grad():  # fairseq starts biases at 0
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape))
    return module


@pytest.fixture
def pair():
    return LinearOfPair(C, C, K).double()


@pytest.fixture
def inputs():
    x = torch.randn(TOKENS, SENTENCES, C, dtype=torch.float64, requires_grad=True)
    memory = torch.randn(PHRASES, SENTENCES, C, dtype=torch.float64, requires_grad=True)
    return x, memory


def way(module, monkeypatch, mapped):
    monkeypatch.setattr(module, "_is_short", lambda *_: mapped)


@pytest.mark.parametrize("few", [True, False], ids=["map by map", "maps multiplied first"])
@torch.no_grad()
def test_equals_the_equations(attention, pair, inputs, few, monkeypatch):
    way(attention, monkeypatch, mapped=True)
    x, memory = inputs
    padding = PADDING
    if few:
        x, memory, padding = x[:, 1:2], memory[:1, 1:2], padding[1:2, :1]
    found = attention.mapped(x, memory, padding, None, pair).view(len(x), -1, K)
    for row in range(x.size(1)):
        real = ~padding[row]
        attended = multi_head(attention, x[:, row], memory[real, row])
        expected = pair.first(x[:, row]) + pair.second(attended)
        torch.testing.assert_close(found[:, row], expected)


@pytest.mark.parametrize("padding", [PADDING, None], ids=["padded", "full"])
def test_both_ways_are_one(attention, pair, inputs, padding, monkeypatch):
    """Same results, and the same gradients of inputs and parameters."""
    needed = [*inputs, *attention.parameters(), *pair.parameters()]
    outcomes = []
    for mapped in (True, False):
        way(attention, monkeypatch, mapped)
        found = attention.mapped(*inputs, padding, None, pair)
        weights = torch.linspace(-1, 1, found.numel(), dtype=found.dtype).view_as(found)
        gradients = torch.autograd.grad((found * weights).sum(), needed)
        outcomes.append((found, *gradients))
    for one, other in zip(*outcomes):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("mapped", [True, False])
@torch.no_grad()
def test_dropout_acts_in_training_alone(attention, pair, inputs, mapped, monkeypatch):
    way(attention, monkeypatch, mapped)
    attention.dropout_module.p = 0.5
    for training in (True, False):
        attention.train(training)
        first, second = (attention.mapped(*inputs, PADDING, None, pair) for _ in range(2))
        assert torch.equal(first, second) != training


@pytest.mark.parametrize("mapped", [True, False])
@torch.no_grad()
def test_search_with_hypotheses(attention, pair, inputs, mapped, monkeypatch):
    """Step by step, hypotheses share a memory that is mapped once and leaves with its sentence."""
    x, memory = inputs
    beam = 2
    way(attention, monkeypatch, mapped=False)
    rows = torch.arange(SENTENCES).repeat_interleave(beam)
    whole = attention.mapped(x[:, rows], memory[:, rows], PADDING[rows], None, pair)
    whole = whole.view(TOKENS, -1, K)
    way(attention, monkeypatch, mapped)
    attention.set_beam_size(beam)
    state = {}
    first = attention.mapped(x[:1, rows], memory, PADDING, state, pair)
    torch.testing.assert_close(first, whole[0])
    stay = torch.tensor([5, 4, 0, 1])  # the sentence in the middle is finished
    attention.reorder_incremental_state(state, stay)
    second = attention.mapped(x[1:2, rows[stay]], None, None, state, pair)
    torch.testing.assert_close(second, whole[1, stay])


@torch.no_grad()
def test_the_cheaper_way_is_taken():
    attention = MappedAttention(64, 4, encoder_decoder_attention=True)
    wide = LinearOfPair(64, 64, 256)
    x, phrases = torch.randn(40, 32, 64), torch.randn(5, 32, 64)
    assert attention._is_short(x, phrases, wide, None)
    assert attention._is_short(x[:1], phrases, wide, {})
    assert not attention._is_short(x[:2], phrases, wide, None)  # few tokens
    assert not attention._is_short(x, torch.randn(40, 32, 64), wide, None)  # many phrases
    assert not attention._is_short(x.half(), phrases.half(), wide, None)


@torch.no_grad()
def test_quantisation_noise_reaches_the_projections():
    """Only calls of the modules bring it, those of `--quant-noise-pq` and `-scalar`."""
    wide, x, phrases = (
        LinearOfPair(64, 64, 256),
        torch.randn(40, 32, 64),
        torch.ones(5, 32, 64),
    )
    noisy = MappedAttention(64, 4, encoder_decoder_attention=True, q_noise=0.1, qn_block_size=8)
    assert not noisy._is_short(x, phrases, wide, None)
    scalar = MappedAttention(64, 4, encoder_decoder_attention=True)
    scalar.out_proj = IntLinear(64, 64)
    assert not scalar._is_short(x, phrases, wide, None)
