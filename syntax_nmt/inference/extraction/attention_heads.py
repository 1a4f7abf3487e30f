"""The attention weights of every head, by forced decoding, and their entropy."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from syntax_nmt.arguments import DECODER, ENCODER
from syntax_nmt.backbone.layer_hooks import captured_layer_outputs, extra_layer_inputs
from syntax_nmt.errors import UserError
from syntax_nmt.inference.extraction.alignments import CrossAttention, layer_index
from syntax_nmt.inference.forced_decoding import ForcedDecoder
from syntax_nmt.inference.results import AttendedHeads, HeadEntropies, HeadWeights
from syntax_nmt.inference.settings import ATTENTIONS, CROSS
from syntax_nmt.progress import Progress
from syntax_nmt.scoring.parallel_text import TokenPair


def head_weights(
    decoder: ForcedDecoder, pair: TokenPair, attention: str, layer: int | None = None
) -> HeadWeights:
    """Gets any attention of a Transformer stack, of fairseq or of this package.

    For another decoder it is the attention to the source.

    Args:
        pair: a sentence and its translation; not needed for the encoder's attention. It must fit.
        attention: one of :data:`~.settings.ATTENTIONS`.
        layer: counted from 0 at the bottom or −1 at the top; None = the encoder's one whose heads
            have a task of their own, else the penultimate one, or the only one.

    Raises:
        UserError: the model has no such attention or layer.
    """
    name, stack = _stack(decoder, attention)
    if not _is_transformer(stack):
        return _recurrent_weights(decoder, pair, attention, layer)
    chosen = next(iter(_head_tasks(stack, attention)), None) if layer is None else layer
    index = layer_index(chosen, len(stack.layers), name)
    (found,) = _transformer_weights(decoder, pair, attention, [index])
    return found


def weights_of_layers(
    decoder: ForcedDecoder, pair: TokenPair, attention: str
) -> tuple[HeadWeights, ...]:
    """The weights of every head of all layers, by one forward pass.

    Raises:
        UserError: the model has no such attention.
    """
    _, stack = _stack(decoder, attention)
    if not _is_transformer(stack):
        return (_recurrent_weights(decoder, pair, attention, None),)
    return _transformer_weights(decoder, pair, attention, range(len(stack.layers)))


def attended_heads(decoder: ForcedDecoder, pair: TokenPair) -> AttendedHeads:
    """The weights of every head of a pair that fits, of each attention that the model has."""
    found: dict[str, tuple[HeadWeights, ...]] = {}
    for attention in ATTENTIONS:
        _, stack = _stack(decoder, attention)
        there = _is_transformer(stack) or attention == CROSS
        if there and not (attention == CROSS and _has_no_cross_attention(stack)):
            found[attention] = weights_of_layers(decoder, pair, attention)
    return AttendedHeads(pair.source, pair.target, found)


def mean_entropies(
    decoder: ForcedDecoder, pairs: Sequence[TokenPair], attention: str
) -> HeadEntropies:
    """The entropy of every head, the mean over the queries of all pairs that fit.

    Raises:
        UserError: the model has no such attention, or no pair fits.
    """
    sums, even, queries, left_out = np.zeros(()), 0.0, 0, 0
    for pair in Progress(pairs, "attention", "sentences", leave=False):
        if not pair.source or not decoder.fits(pair) or not (pair.target or attention == ENCODER):
            left_out += 1
            continue
        layers = weights_of_layers(decoder, pair, attention)
        shape = layers[0].weights.shape
        sums = sums + shape[1] * np.stack([layer.entropies() for layer in layers])
        keys = range(1, shape[1] + 1) if attention == DECODER else [shape[2]] * shape[1]
        even += float(np.log2(keys).sum())
        queries += shape[1]
    if not queries:
        raise UserError("no sentence has words and fits into the model: give others")
    return HeadEntropies(sums / queries, even / queries, len(pairs) - left_out, left_out)


def _stack(decoder: ForcedDecoder, attention: str) -> tuple[str, Any]:
    """The name of the encoder or decoder that has an attention, and itself."""
    name = ENCODER if attention == ENCODER else DECODER
    return name, getattr(decoder.model, name, None)


def _has_no_cross_attention(stack: Any) -> bool:
    return _is_transformer(stack) and any(layer.encoder_attn is None for layer in stack.layers)


def _transformer_weights(
    decoder: ForcedDecoder, pair: TokenPair, attention: str, layers: Sequence[int]
) -> tuple[HeadWeights, ...]:
    _, stack = _stack(decoder, attention)
    name = "encoder_attn" if attention == CROSS else "self_attn"
    modules = [getattr(stack.layers[layer], name) for layer in layers]
    if None in modules:
        raise UserError("the model's decoder has no cross-attention (--no-cross-attention)")
    tasks = _head_tasks(stack, attention)
    wanted = {"need_weights": True, "need_head_weights": True}
    (batch,) = decoder.batches([pair], max_tokens=1)
    with (
        unfused_attention(stack, *modules),
        extra_layer_inputs(modules, [wanted] * len(modules)),
        captured_layer_outputs(modules, passed_on=2) as outputs,
    ):
        decoder.forward(batch, features_only=True)
    # H×B×T×S; the batch is one pair, so there is no padding
    weights = [output[1][:, 0].float().cpu().numpy() for output in outputs]
    return tuple(
        HeadWeights(of_layer, layer, tasks=tasks.get(layer, {}))
        for layer, of_layer in zip(layers, weights)
    )


def _head_tasks(stack: Any, attention: str) -> dict[int, Mapping[int, str]]:
    """The layers of an encoder whose heads have tasks of their own, and these."""
    found: dict[int, Mapping[int, str]] = {}
    if attention != ENCODER:
        return found
    for extension in getattr(stack, "extensions", ()):
        for layer in range(len(stack.layers)):
            tasks = extension.attention_heads(layer)
            if tasks:
                found[layer] = {**found.get(layer, {}), **tasks}
    return found


def _is_transformer(stack: Any) -> bool:
    return hasattr(stack, "layers") and all(hasattr(layer, "self_attn") for layer in stack.layers)


def _recurrent_weights(
    decoder: ForcedDecoder, pair: TokenPair, attention: str, layer: int | None
) -> HeadWeights:
    if attention != CROSS:
        raise UserError(
            f"--attention {attention} is about Transformers, and the model's {attention} is not a "
            f"Transformer: give --attention {CROSS}, the decoder's attention to the source"
        )
    ((_, weights),) = CrossAttention(decoder, layer).matrices([pair], max_tokens=1)
    return HeadWeights(weights[None], None, with_eos=False)


@contextmanager
def unfused_attention(stack: Any, *attentions: Any) -> Iterator[None]:
    """Within the context, fairseq's own modules compute attention in Python.

    Only this gives the weights of each head.

    Args:
        stack: an encoder or decoder; none of its layers may bypass its attention.
        *attentions: some of its modules.
    """
    # fairseq 0.12.2 has kernels of torch compute a whole layer, or the mean over heads.
    wanted = [(layer, "can_use_fastpath", False) for layer in stack.layers]
    wanted += [(attention, "skip_embed_dim_check", True) for attention in attentions]
    changed = [
        (module, name, value, getattr(module, name))
        for module, name, value in wanted
        if hasattr(module, name)
    ]
    for module, name, value, _ in changed:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, _, before in changed:
            setattr(module, name, before)
