"""The self-attention of a layer, as the features of its half want it."""

from collections.abc import Sequence
from functools import partial

from syntax_nmt.backbone.feature import AttentionFeature, the_only
from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention
from syntax_nmt.backbone.transformer_layers import BuildAttention
from syntax_nmt.errors import UserError


def built_attention(features: Sequence[AttentionFeature], layer: int, half: str) -> BuildAttention:
    """Builds the self-attention of a layer, the plain one unless a feature has another.

    Args:
        half: `encoder` or `decoder`, for messages.

    Raises:
        UserError: two features replace the same, or one head gets two tasks.
    """
    place = f"{half} layer {layer}"
    tasks: dict[int, str] = {}
    for feature in features:
        for head in feature.attention_heads(layer):
            if head in tasks:
                raise UserError(
                    f"{tasks[head]} and {feature.option} both have a task for head {head} of "
                    f"{place}: give them different layers"
                )
            tasks[head] = feature.option
    attention = the_only(
        ((feature, feature.attention(layer)) for feature in features),
        f"the self-attention of {place}",
    )
    scorer = the_only(
        ((feature, feature.scorer(layer)) for feature in features),
        f"the scores of a head of {place}",
    )
    build: BuildAttention = attention or FusedMultiheadAttention
    return build if scorer is None else partial(build, scorer=scorer)
