"""Phrase vectors equal the paper's equations written as loops, in float64."""

from types import SimpleNamespace

import pytest
import torch
from phrase_loops import mixture, multi_head, phrase_vectors

from syntax_nmt.backbone.linear_of_pair import LinearOfPair
from syntax_nmt.methods.phrases.combination import AttentiveCombination
from syntax_nmt.methods.phrases.mapped_attention import MappedAttention
from syntax_nmt.methods.phrases.representation import PhraseRepresentation
from syntax_nmt.methods.phrases.segmentation import PhraseBatch, ngram_phrases
from syntax_nmt.methods.phrases.transparent_attention import TransparentAttention

C = 6
LENGTHS = [[3, 1, 2], [8], [1, 1, 1, 4]]
KINDS = [(summary, hidden) for summary in ("max", "mean") for hidden in (None, 5)]


def padded(left, width=10, sentences=LENGTHS):
    """Sentences S×B×C, with numbers in place of pads that would show, and their phrases."""
    most = max(map(len, sentences))
    padding = torch.ones(len(sentences), width, dtype=torch.bool)
    x = torch.full((width, len(sentences), C), 1e3, dtype=torch.float64)
    tokens = []
    generator = torch.Generator().manual_seed(4)
    for row, lengths in enumerate(sentences):
        size = sum(lengths)
        place = slice(width - size, width) if left else slice(0, size)
        tokens.append(torch.randn(size, C, dtype=torch.float64, generator=generator))
        x[place, row] = tokens[-1]
        padding[row, place] = False
    rows = torch.tensor([lengths + [0] * (most - len(lengths)) for lengths in sentences])
    return x, PhraseBatch.of_lengths(rows, padding), tokens


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize(("summary", "hidden"), KINDS)
def test_vectors_and_gradients(summary, hidden, left):
    """Of tokens and weights equal to those of the loops; pads and absent phrases get none."""
    module = PhraseRepresentation(C, summary, hidden).double()
    x, phrases, tokens = padded(left)
    x.requires_grad_()
    weight = torch.randn(4, 3, C, dtype=torch.float64)
    weight.masked_fill_(phrases.padding.t().unsqueeze(2), 0.0)
    found = module(x, phrases)
    assert torch.isfinite(found).all(), "phrases that are not there, too"
    (found * weight).sum().backward()
    actual = {name: p.grad.clone() for name, p in module.named_parameters()}
    module.zero_grad()
    total = 0
    for row, lengths in enumerate(LENGTHS):
        tokens[row].requires_grad_()
        expected = phrase_vectors(module, tokens[row], lengths)
        torch.testing.assert_close(found[: len(lengths), row], expected, atol=1e-10, rtol=0)
        total = total + (expected * weight[: len(lengths), row]).sum()
    total.backward()
    for name, parameter in module.named_parameters():
        torch.testing.assert_close(actual[name], parameter.grad, atol=1e-10, rtol=0, msg=name)
    for row, sentence in enumerate(tokens):
        place = slice(10 - len(sentence), 10) if left else slice(0, len(sentence))
        torch.testing.assert_close(x.grad[place, row], sentence.grad, atol=1e-10, rtol=0)
        x.grad[place, row] = 0
    assert not x.grad.any()


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("hidden", [None, 5])
def test_tokens_that_share_a_maximum_share_its_gradient(hidden, left, sign):
    """Of few values, as repeated words and low precision have them; beside pads that are higher."""
    module = PhraseRepresentation(C, "max", hidden).double()
    x, phrases, _ = padded(left)
    padding = phrases.token_padding.t().unsqueeze(2)
    x = torch.randint(2, x.shape).double().masked_fill(padding, 1e3).requires_grad_()
    # Weights are not summed over a phrase, where gradients of both signs would cancel.
    weight = sign * torch.rand(4, 3, C, dtype=torch.float64)
    weight.masked_fill_(phrases.padding.t().unsqueeze(2), 0.0)
    (module(x, phrases) * weight).sum().backward()
    total = torch.zeros((), dtype=torch.float64)
    again = x.detach().requires_grad_()
    for row, lengths in enumerate(LENGTHS):
        tokens = again[:, row][~phrases.token_padding[row]]
        vectors = phrase_vectors(module, tokens, lengths)
        total = total + (vectors * weight[: len(lengths), row]).sum()
    total.backward()
    torch.testing.assert_close(x.grad, again.grad, atol=1e-10, rtol=0)


def test_memory_grows_with_the_tokens():
    """One long phrase among many short ones does not widen every phrase to its length."""
    module = PhraseRepresentation(256, "max", 256)
    width, longest = 512, 256
    lengths = torch.tensor([[longest] + [1] * (width - longest)])
    phrases = PhraseBatch.of_lengths(lengths, torch.zeros(1, width, dtype=torch.bool))
    saved = []

    def keep(tensor):
        saved.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        module(torch.randn(width, 1, 256, requires_grad=True), phrases)
    tokens, view = width * 256, len(lengths[0]) * longest * 256
    assert max(saved) < 1.1 * tokens
    assert sum(saved) < 20 * tokens < view


def test_linear_of_pair():
    module = LinearOfPair(3, 4, 5).double()
    a, b = torch.randn(2, 3, dtype=torch.float64), torch.randn(2, 4, dtype=torch.float64)
    whole = torch.nn.Linear(7, 5).double()
    whole.weight.data = torch.cat([module.first.weight, module.second.weight], dim=1)
    whole.bias.data = module.first.bias
    torch.testing.assert_close(module(a, b), whole(torch.cat([a, b], dim=1)))
    assert module.first.weight.abs().max() <= 7**-0.5


@torch.no_grad()
def test_transparent_attention():
    module = TransparentAttention(3, 2, dropout=0.5).double().eval()
    memories = [torch.randn(4, 2, C, dtype=torch.float64) for _ in range(3)]
    for mixed in module(memories):
        torch.testing.assert_close(mixed, sum(memories) / 3)  # before any training
    module.logits.normal_()
    for layer, mixed in enumerate(module(memories)):
        expected = mixture(module, memories, layer)
        torch.testing.assert_close(mixed, expected, atol=1e-10, rtol=0)
    module.train()
    first, second = (torch.stack(module(memories)) for _ in range(2))
    assert not torch.equal(first, second)
    kept = torch.rand_like(module.logits).gt(0.5) / 0.5
    module.dropout_module.forward = lambda logits: logits * kept
    masked = SimpleNamespace(logits=module.logits * kept)
    for layer, mixed in enumerate(module(memories)):
        torch.testing.assert_close(mixed, mixture(masked, memories, layer), atol=1e-10, rtol=0)


@pytest.mark.parametrize("activation_dropout", [0.0, 0.5])
def test_dropout_on_the_output_and_where_asked_for_after_the_sigmoid(activation_dropout):
    attention = MappedAttention(C, 2, encoder_decoder_attention=True)
    module = AttentiveCombination(attention, 200, 0.5, activation_dropout).train()
    seen = []
    module.output.register_forward_pre_hook(lambda m, args: seen.append(args[0]))
    out = module(torch.randn(50, 2, C), torch.randn(3, 2, C), None)
    assert 0.3 < (out == 0).float().mean() < 0.7
    zeros = (seen[0] == 0).float().mean()
    assert 0.3 < zeros < 0.7 if activation_dropout else zeros < 0.01


@pytest.mark.parametrize("literal", [False, True])
def test_what_dropout_after_the_sigmoid_makes_noise_of(literal):
    """Of the distance to ½, or to the letter of equation 8 of the sigmoid itself; float64."""
    attention = MappedAttention(C, 2, encoder_decoder_attention=True)
    module = AttentiveCombination(attention, 7, 0.0, 0.25, literal_sigmoid=literal).double()
    x, phrases = torch.randn(5, 1, C).double(), torch.randn(3, 1, C).double()
    kept = torch.rand(5, 7).gt(0.25).double()
    module.activation_dropout_module.forward = lambda h: h * kept / 0.75
    with torch.no_grad():
        found = module(x, phrases, None)[:, 0]
        attended = multi_head(attention, x[:, 0], phrases[:, 0])
        w3 = torch.cat([module.hidden.first.weight, module.hidden.second.weight], dim=1)
        for t in range(5):
            inner = w3 @ torch.cat([x[t, 0], attended[t]]) + module.hidden.first.bias
            hidden = 1 / (1 + torch.exp(-inner)) - (0 if literal else 0.5)
            expected = module.output.weight @ (kept[t] * hidden / 0.75) + module.output.bias
            torch.testing.assert_close(found[t], expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("sentences", [1, 4])
def test_sentences_of_one_token(sentences):
    """Whose transposed batch torch calls contiguous however its sentences lie in memory."""
    x = torch.randn(1, sentences, C, requires_grad=True)
    phrases = ngram_phrases(torch.zeros(sentences, 1, dtype=torch.bool))
    vectors = PhraseRepresentation(C, "max", None)(x, phrases)
    assert torch.equal(vectors, x)
    vectors.sum().backward()
    assert torch.equal(x.grad, torch.ones_like(x))
