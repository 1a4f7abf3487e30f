"""The self-attention of a layer, as the extensions of its stack want it."""

from collections.abc import Sequence
from functools import partial

from syntax_nmt.backbone.extension import AttentionExtension, single
from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention
from syntax_nmt.backbone.transformer_layers import BuildAttention
from syntax_nmt.errors import UserError


def built_attention(
    extensions: Sequence[AttentionExtension], layer: int, stack: str
) -> BuildAttention:
    """Builds the self-attention of a layer, the plain one unless an extension has another.

    Args:
        stack: `encoder` or `decoder`, for messages.

    Raises:
        UserError: two extensions replace the same, or one head gets two tasks.
    """
    place = f"{stack} layer {layer}"
    tasks: dict[int, str] = {}
    for extension in extensions:
        for head in extension.attention_heads(layer):
            if head in tasks:
                raise UserError(
                    f"{tasks[head]} and {extension.option} both have a task for head {head} of "
                    f"{place}: give them different layers"
                )
            tasks[head] = extension.option
    attention = single(
        ((extension, extension.attention(layer)) for extension in extensions),
        f"the self-attention of {place}",
    )
    scorer = single(
        ((extension, extension.scorer(layer)) for extension in extensions),
        f"the scores of a head of {place}",
    )
    build: BuildAttention = attention or FusedMultiheadAttention
    return build if scorer is None else partial(build, scorer=scorer)
