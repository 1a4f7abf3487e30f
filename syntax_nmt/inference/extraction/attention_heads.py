"""The attention weights of every head of a layer, by forced decoding."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from syntax_nmt.arguments import DECODER, ENCODER
from syntax_nmt.backbone.layer_hooks import captured_layer_outputs, extra_layer_inputs
from syntax_nmt.errors import UserError
from syntax_nmt.inference.extraction.alignments import CrossAttention, layer_index
from syntax_nmt.inference.forced_decoding import ForcedDecoder
from syntax_nmt.inference.settings import CROSS
from syntax_nmt.scoring.parallel_text import TokenPair


@dataclass(frozen=True)
class HeadWeights:
    """The weights of one layer, before dropout.

    Attributes:
        weights: heads × queries × keys. Rows of the decoder are the pieces that it predicts, EOS
            last; keys of its self-attention are the pieces that it reads, EOS first. The source's
            EOS is last.
        layer: its index from 0; None = the model has one attention, without layers.
        with_eos: False = without rows and columns of EOS, as for recurrent models.
        tasks: what heads with a task of their own attend to, by their number.
    """

    weights: np.ndarray
    layer: int | None
    with_eos: bool = True
    tasks: Mapping[int, str] = field(default_factory=dict)


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
    name = ENCODER if attention == ENCODER else DECODER
    stack: Any = getattr(decoder.model, name, None)
    if not _is_transformer(stack):
        return _recurrent_weights(decoder, pair, attention, layer)
    tasks = _head_tasks(stack) if attention == ENCODER else {}
    chosen = next(iter(tasks), None) if layer is None else layer
    index = layer_index(chosen, len(stack.layers), name)
    module = getattr(stack.layers[index], "encoder_attn" if attention == CROSS else "self_attn")
    if module is None:
        raise UserError("the model's decoder has no cross-attention (--no-cross-attention)")
    wanted = {"need_weights": True, "need_head_weights": True}
    (batch,) = decoder.batches([pair], max_tokens=1)
    with (
        unfused_attention(stack, module),
        extra_layer_inputs([module], [wanted]),
        captured_layer_outputs([module], passed_on=2) as outputs,
    ):
        decoder.forward(batch, features_only=True)
    weights = outputs[0][1]  # H×B×T×S; the batch is one pair, so there is no padding
    return HeadWeights(weights[:, 0].float().cpu().numpy(), index, tasks=tasks.get(index, {}))


def _head_tasks(stack: Any) -> dict[int, Mapping[int, str]]:
    """The layers whose heads have tasks of their own, and these."""
    found: dict[int, Mapping[int, str]] = {}
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
def unfused_attention(stack: Any, attention: Any) -> Iterator[None]:
    """Within the context, fairseq's own modules compute attention in Python.

    Only this gives the weights of each head.

    Args:
        stack: an encoder or decoder; none of its layers may bypass its attention.
        attention: one of its modules.
    """
    # fairseq 0.12.2 has kernels of torch compute a whole layer, or the mean over heads.
    wanted = [(layer, "can_use_fastpath", False) for layer in stack.layers]
    wanted.append((attention, "skip_embed_dim_check", True))
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
