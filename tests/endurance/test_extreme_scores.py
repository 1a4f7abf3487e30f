"""Losses and modules stay finite, and so do their gradients, at scores no training should reach.

In float16 the largest number is 65,504, and 65,504 plus a half step is infinite: what a product or
a sum of such numbers overflows to must not become "not a number" further on.
"""

from types import SimpleNamespace

import pytest
import torch
from fairseq.criterions import CRITERION_REGISTRY
from fairseq.models import FairseqDecoder
from torch import Tensor, nn

from syntax_nmt.backbone.additive_attention import AdditiveAttention, AttentionMemory
from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention
from syntax_nmt.backbone.gru import GATES, gru_step
from syntax_nmt.backbone.masked_batch_norm import MaskedBatchNorm
from syntax_nmt.backbone.numerics import mean_of_words
from syntax_nmt.backbone.packing import PackedRows
from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.methods.bi_scale.loss import ChunkObjective
from syntax_nmt.methods.dependency_heads.loss import DependencyObjective
from syntax_nmt.methods.latent_phrases.attention import PhraseGatedAttention, SyntacticDistance
from syntax_nmt.methods.latent_phrases.gates import log_phrase_gates
from syntax_nmt.methods.latent_phrases.loss import SynchronousObjective
from syntax_nmt.methods.local_attention.extension import local_attention_bias
from syntax_nmt.methods.parent_heads import first_heads
from syntax_nmt.methods.phrases.combination import AttentiveCombination
from syntax_nmt.methods.phrases.mapped_attention import MappedAttention
from syntax_nmt.methods.phrases.representation import PhraseRepresentation
from syntax_nmt.methods.phrases.segmentation import ngram_phrases
from syntax_nmt.methods.phrases.transparent_attention import TransparentAttention
from syntax_nmt.methods.relation_network.layer import RelationNetworkLayer

PAD, EOS, FIRST_WORD = 1, 2, 4
LARGEST = 65504.0  # of float16

SCORES = {
    "zero": lambda shape: torch.zeros(shape),
    "equal": lambda shape: torch.full(shape, LARGEST),
    "lowest": lambda shape: torch.full(shape, -LARGEST),
    "1e4": lambda shape: 1e4 * random_signs(shape),
    "largest": lambda shape: LARGEST * random_signs(shape),
}

# The number that holds least gets all scores; the lengths are those of a batch's sentences, EOS
# included. The other numbers and lengths are there for what is true of them alone: coarse steps,
# sums of a long sentence, a sentence of its EOS.
HALF = torch.float16
CASES = (
    *((HALF, (7, 4, 1), scores) for scores in SCORES),
    (HALF, (1,), "lowest"),
    (HALF, (1, 1, 1), "equal"),
    (torch.bfloat16, (7, 4, 1), "largest"),
    (torch.float32, (7, 4, 1), "largest"),
    *(
        pytest.param((HALF, (1024, 1, 1, 1), scores), marks=pytest.mark.slow)
        for scores in ("equal", "lowest", "largest")
    ),
)


def random_signs(shape) -> Tensor:
    return torch.randint(0, 2, shape).float() * 2 - 1


def named(value) -> str:
    dtype, lengths, scores = value
    return f"{str(dtype).rpartition('.')[2]}-{'_'.join(map(str, lengths))}-{scores}"


@pytest.fixture(params=CASES, ids=named)
def case(request) -> tuple[torch.dtype, tuple[int, ...], str]:
    return request.param


@pytest.fixture
def dtype(case) -> torch.dtype:
    return case[0]


@pytest.fixture
def lengths(case) -> tuple[int, ...]:
    return case[1]


@pytest.fixture
def scores(case):
    """Gives a leaf of a shape that holds extreme numbers."""

    def made(*shape: int, at_most: float = LARGEST) -> Tensor:
        values = SCORES[case[2]](shape).clamp(-at_most, at_most)
        return values.to(case[0]).requires_grad_()

    return made


def padding_of(lengths) -> Tensor:
    """B×S, True = pad, on the left."""
    width = max(lengths)
    return torch.arange(width) < width - torch.tensor(lengths).unsqueeze(1)


def target_of(lengths) -> Tensor:
    """B×T, padded on the right."""
    target = torch.full((len(lengths), max(lengths)), PAD)
    for row, length in zip(target, lengths):
        row[:length] = FIRST_WORD
        row[length - 1] = EOS
    return target


def assert_finite(output: Tensor, *leaves: Tensor, seed: Tensor | None = None) -> None:
    """The output is finite, and the gradients of its sum."""
    assert torch.isfinite(output).all()
    output.backward(torch.ones_like(output) if seed is None else seed)
    for leaf in leaves:
        assert leaf.grad is not None
        assert torch.isfinite(leaf.grad).all()


def attended(length: int, largest: float) -> float:
    """The largest query and key of a sentence.

    The gradient of fused attention computes logits again, of long sentences by blocks and in
    another order: in float32 their rounding must be small beside 1.
    """
    return largest if length < 64 else 1000.0


def identity(linear: nn.Linear) -> None:
    """What goes in comes out: extreme scores reach what is behind the projection."""
    nn.init.eye_(linear.weight)
    if linear.bias is not None:
        nn.init.zeros_(linear.bias)


def transparent(attention: FusedMultiheadAttention, dtype: torch.dtype) -> FusedMultiheadAttention:
    for projection in (attention.q_proj, attention.k_proj, attention.v_proj, attention.out_proj):
        identity(projection)
    return attention.to(dtype).train()


class Given(FairseqDecoder):
    """A model that returns what it is given."""

    learns_annotation = (CHUNKS,)

    def __init__(self, logits: Tensor, **extra: list[Tensor]) -> None:
        super().__init__(SimpleNamespace())
        self.output = logits, extra

    def forward(self, **inputs):
        return self.output

    def get_targets(self, sample, net_output):
        return sample["target"]


def criterion(*objectives):
    dictionary = SimpleNamespace(pad=lambda: PAD, eos=lambda: EOS)
    task = SimpleNamespace(target_dictionary=dictionary)
    return CRITERION_REGISTRY["syntax_cross_entropy"](task, False, 0.1, 0, True, objectives)


def sample_of(lengths, **more) -> dict:
    net_input = {"src_lengths": torch.tensor(lengths)}
    target = target_of(lengths)
    return {"target": target, "ntokens": sum(lengths), "net_input": net_input, **more}


def test_translation_loss(scores, lengths):
    logits = scores(len(lengths), max(lengths), 50)
    loss, _, logs = criterion()(Given(logits), sample_of(lengths))
    assert loss.dtype == torch.float32
    assert_finite(loss, logits)
    assert torch.isfinite(torch.tensor([float(value) for value in logs.values()])).all()


@pytest.mark.parametrize("boundaries", ["all", "none", "first", "unknown"])
def test_chunk_losses(scores, lengths, boundaries):
    shape = len(lengths), max(lengths)
    tags = torch.full(shape, {"all": 1, "none": 0, "first": 0, "unknown": -1}[boundaries])
    if boundaries == "first":
        tags[:, 0] = 2
    opened = tags.gt(0)
    opened[:, 0] = True
    boundary_logits, tag_logits = scores(*shape, 2), scores(*shape, 5)
    model = Given(
        scores(*shape, 9), boundary_logits=[boundary_logits], tag_logits=[tag_logits],
        opened=[opened],
    )  # fmt: skip
    sample = sample_of(lengths, chunk_tags=tags.int())
    loss, _, logs = criterion(ChunkObjective(1.0, 1.0))(model, sample)
    assert_finite(loss, boundary_logits, tag_logits)
    assert logs["boundary_loss"].isfinite()
    assert logs["tag_loss"].isfinite()


@pytest.mark.parametrize("tree", ["chain", "star"])
def test_dependency_losses(scores, lengths, dtype, tree):
    padding = padding_of(lengths)
    columns = torch.arange(padding.size(1)).expand_as(padding)
    first = columns.new_tensor([[padding.size(1) - length] for length in lengths])
    heads = torch.maximum(columns - 1, first) if tree == "chain" else first.expand_as(columns)
    heads = heads.masked_fill(padding, -1)
    heads[:, -1] = -1  # EOS
    attention = transparent(FusedMultiheadAttention(16, 4, self_attention=True), dtype)
    x = scores(max(lengths), len(lengths), 16)
    extra = {"supervised_heads": first_heads(attention, x, 2, padding.unsqueeze(1))}
    assert extra["supervised_heads"].dtype == torch.float32
    sample = sample_of(lengths, heads=heads.int())
    loss, logs = DependencyObjective(0.4, 0.4)(extra, sample)
    # A gradient that float16 has no number for is what loss scaling is there for.
    assert_finite(loss, x, seed=torch.tensor(1 / (4 * max(lengths))))
    assert all(value.isfinite() for value in logs.values())


@pytest.mark.parametrize("normalize", ["sum", "mean"])
@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("kind", ["rank", "mse", "attention"])
def test_synchronous_losses(scores, lengths, dtype, kind, shift, normalize):
    batch, width = len(lengths), max(lengths)

    def weights(queries: int) -> Tensor:  # as attention gives them
        logits = scores(batch, queries, width, at_most=1e4)
        logits = logits.masked_fill(padding_of(lengths).unsqueeze(1), float("-inf"))
        return logits.softmax(dim=-1).detach().requires_grad_()

    cross, source_attention = weights(width), weights(width)
    source, target = scores(batch, 2, width), scores(batch, 2, width)
    extra = {
        "cross_attention": [cross],
        "source_attention": [source_attention],
        "target_attention": [weights(width)],
        "source_distances": [torch.tanh(source)],
        "target_distances": [torch.tanh(target)],
    }
    objective = SynchronousObjective(EOS, PAD, kind, 0.01, normalize, 1.0, shift, 1)
    loss, logs = objective(extra, sample_of(lengths))
    assert_finite(loss, cross, source_attention if kind == "attention" else source)
    assert all(value.isfinite() for value in logs.values())


@pytest.mark.parametrize("mask", ["padding", "future", "window"])
@pytest.mark.parametrize("gate", [None, "hardtanh", "sigmoid"])
@pytest.mark.parametrize("need_weights", [False, True])
def test_attention(scores, lengths, dtype, mask, gate, need_weights):
    length, causal = max(lengths), mask == "future"
    if gate is None:
        attention = FusedMultiheadAttention(16, 2, self_attention=True, causal=causal)
    else:
        if mask == "window":
            pytest.skip("no layer has gates and a window")
        attention = PhraseGatedAttention(16, 2, 5, 10.0, gate, causal, self_attention=True)
    transparent(attention, dtype)
    if mask != "padding":  # what is hidden has the largest logits
        attention.k_proj.weight.data.neg_()
    hidden = torch.zeros(length, length, dtype=dtype)
    if causal:
        hidden = hidden.fill_(float("-inf")).triu(1)
    elif mask == "window":
        hidden = local_attention_bias(length, 2, hidden)
    padding = padding_of(lengths)
    x = scores(length, len(lengths), 16, at_most=attended(length, LARGEST))
    output, weights = attention(
        x, x, x, key_padding_mask=padding, need_weights=need_weights,
        attn_mask=None if mask == "padding" else hidden,
    )  # fmt: skip
    if need_weights:
        real = ~padding
        out_of_reach = hidden.isneginf() | padding.unsqueeze(1)
        assert weights.masked_fill(~out_of_reach, 0)[real].eq(0).all()
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))
    # No loss reads the pads; of the rest so little that float16 has numbers for the gradient.
    seed = torch.where(padding.t().unsqueeze(2), 0.0, 1e-6).expand_as(output)
    assert_finite(output, x, seed=seed.to(dtype))


@pytest.mark.parametrize("temperature", [1.0, 10.0, 1e4])
@pytest.mark.parametrize("alpha", ["hardtanh", "sigmoid"])
def test_gates(scores, lengths, alpha, temperature):
    padding = padding_of(lengths)
    keys = scores(len(lengths), 2, max(lengths), 8)
    distance = SyntacticDistance(2, 8, 5).to(keys.dtype)
    distances = distance(keys, padding)
    assert distances.dtype == torch.float32
    assert distances.abs().le(1).all()
    for both_directions in (True, False):
        gates = log_phrase_gates(
            distances,
            padding,
            both_directions=both_directions,
            temperature=temperature,
            alpha=alpha,
        )
        assert gates.diagonal(dim1=2, dim2=3).eq(0).all()  # a softmax finds something open
        assert not gates.isnan().any()
        assert_finite(gates.softmax(dim=-1).square().sum(), keys)
        distances = distance(keys, padding)


def test_distances_whose_parts_float16_does_not_have(dtype):
    distance = SyntacticDistance(2, 8, 1).to(dtype)
    with torch.no_grad():
        distance.weight[..., 0], distance.weight[..., 1] = 1.0, -1.0
        distance.bias.zero_()
    keys = torch.full((1, 2, 4, 8), LARGEST).to(dtype).requires_grad_()
    distances = distance(keys, None)
    assert distances[..., 1:].eq(0).all()
    assert_finite(distances, keys)


def test_phrase_representation(scores, lengths, dtype):
    padding = padding_of(lengths)
    phrases = ngram_phrases(padding)
    module = PhraseRepresentation(8, "max", 8).to(dtype)
    x = scores(max(lengths), len(lengths), 8, at_most=1e4)
    with torch.no_grad():
        module.score.weight.fill_(-LARGEST / 16)  # times half the sum of eight sigmoids
    vectors = module(x, phrases)
    assert_finite(vectors, x, seed=torch.full_like(vectors, 1e-5))


def test_phrase_weights_stay_in_their_phrase(scores, lengths, dtype):
    phrases = ngram_phrases(padding_of(lengths))
    module = PhraseRepresentation(8, "max", 8).to(dtype)
    with torch.no_grad():
        module.score.weight.fill_(-LARGEST / 8)
        module.hidden.first.bias.fill_(20.0)  # all sigmoids are 1, all scores the lowest number
    x = scores(len(lengths), max(lengths), 8, at_most=0.0)
    weights = module._weights(x, x.new_zeros(len(lengths), phrases.lengths.size(1), 8), phrases)
    there = ~phrases.padding
    assert weights.masked_fill(phrases.members, 0)[there].eq(0).all()


@pytest.mark.parametrize("residual", [False, True])
def test_attentive_combination(scores, lengths, dtype, residual):
    attention = MappedAttention(16, 2, encoder_decoder_attention=True)
    module = AttentiveCombination(attention, 16, 0.0, residual_attention=residual).to(dtype)
    transparent(attention, dtype)
    phrases = ngram_phrases(padding_of(lengths))
    at_most = attended(max(lengths), 1e4)
    x = scores(max(lengths), len(lengths), 16, at_most=at_most)
    vectors = scores(phrases.lengths.size(1), len(lengths), 16, at_most=at_most)
    output = module(x, vectors, phrases.padding)
    assert_finite(output, x, vectors, seed=torch.full_like(output, 1 / output.numel()))


def test_mixture_of_layers(scores, dtype):
    module = TransparentAttention(4, 3, 0.0).to(dtype)
    logits = scores(4, 3)
    module.logits.data = logits.detach()
    memories = [scores(5, 2, 8, at_most=1e4) for _ in range(4)]
    mixed = torch.stack(module(memories))
    seed = torch.full_like(mixed, 1 / mixed.numel())
    assert_finite(mixed, *memories, module.logits, seed=seed)


def test_additive_attention(scores, lengths, dtype):
    padding = padding_of(lengths)
    attention = AdditiveAttention(8, 8).to(dtype)
    with torch.no_grad():
        attention.score.fill_(LARGEST / 8)
    keys, query = scores(*padding.shape, 8), scores(len(lengths), 8)
    weights = attention(query, AttentionMemory(keys, keys, keys, padding))
    assert weights.dtype == torch.float32
    assert weights[padding].eq(0).all()
    assert_finite(weights, keys, query)


def test_gated_recurrence(scores, dtype):
    state = scores(3, 8, at_most=1.0)
    inputs, hidden = scores(3, GATES * 8), scores(3, GATES * 8)
    assert_finite(gru_step(inputs, hidden, state), inputs, hidden, state)


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(scores, lengths, dtype, training):
    norm = MaskedBatchNorm(4).to(dtype).train(training)
    x = scores(len(lengths), max(lengths), 4)
    output = norm(x, PackedRows(padding_of(lengths)))
    assert_finite(output, x, seed=torch.full_like(output, 1 / output.numel()))
    assert norm.running_mean.dtype == norm.running_var.dtype == torch.float32
    assert norm.running_mean.isfinite().all()
    assert norm.running_var.isfinite().all()


@pytest.mark.parametrize("sizes", [(1,), (7, 4, 1), (70, 1, 1)])
def test_relation_network(scores, dtype, sizes):
    layer = RelationNetworkLayer(8, [(1, 8), (3, 8)], 8).to(dtype)
    x = scores(len(sizes), max(sizes), 8, at_most=1e4)
    output = layer(x, PackedRows(padding_of(sizes)))
    assert_finite(output, x, seed=torch.full_like(output, 1 / output.numel()))


def test_mean_of_many_words(scores, lengths):
    x = scores(len(lengths), max(lengths), 8)
    mean = mean_of_words(x, padding_of(lengths))
    assert_finite(mean, x)
