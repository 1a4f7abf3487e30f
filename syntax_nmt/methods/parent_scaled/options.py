"""The options of parent-scaled self-attention, and the factor built from them.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Any, Optional

from fairseq.dataclass import FairseqDataclass
from fairseq.models.transformer import TransformerConfig

from syntax_nmt.arguments import encoder_option
from syntax_nmt.errors import UserError
from syntax_nmt.methods.parent_scaled.parent_scaling import ParentScaling
from syntax_nmt.option_checks import layer_from_bottom, refuse_changed, refuse_together

_OF_THE_LAYER = (
    "parent_scaled_heads", "parent_scaled_variance", "parent_ignoring", "parent_ignoring_per_head",
)  # fmt: skip


@dataclass
class ParentScaledOptions(FairseqDataclass):
    """Off by default."""

    parent_scaled_layer: Optional[int] = encoder_option(
        None,
        "parent-scaled self-attention (Bugliarello and Okazaki, 2020): the encoder layer whose "
        "heads scale their logits by the distance to the parent in the dependency tree (needs "
        "--load-dependencies or --parser-config); 0 is the lowest, the paper's choice (default: "
        "no layer; pascal_transformer: 0)",
    )
    parent_scaled_heads: Optional[int] = encoder_option(
        None,
        "parent-scaled self-attention: h, number of scaled heads of the layer; the released "
        "settings use 2 to 8 of 8 (default: all)",
    )
    parent_scaled_variance: float = encoder_option(
        1.0, "parent-scaled self-attention: σ² of the density around the parent (default: 1)"
    )
    parent_ignoring: float = encoder_option(
        0.0,
        "parent-scaled self-attention: q, the probability that a token ignores its parent "
        "in training; the released settings use 0 to 0.4 (default: 0)",
    )
    parent_ignoring_per_head: bool = encoder_option(
        False,
        "parent-scaled self-attention: draw --parent-ignoring separately for each head, as the "
        "authors' released code does (default: off, once per token)",
    )


def parent_scaled_layer(cfg: TransformerConfig, options: Any) -> Optional[int]:
    """The layer with scaled heads, counted from the lowest; None = there is none.

    Args:
        cfg: fairseq's options of the Transformer.
        options: of the model, :class:`ParentScaledOptions` among them.

    Raises:
        UserError: options that contradict each other.
    """
    if options.parent_scaled_layer is None:
        refuse_changed(options, _OF_THE_LAYER, "--parent-scaled-layer, such as 0")
        return None
    refuse_together(
        "--parent-scaled-layer", cfg, "encoder_layerdrop", "encoder_xformers_att_config"
    )
    heads, there = options.parent_scaled_heads, cfg.encoder.attention_heads
    if heads is not None and not 1 <= heads <= there:
        raise UserError(
            f"--parent-scaled-heads {heads}: the encoder's layers have {there} heads; give a "
            f"number from 1 to {there}"
        )
    if not options.parent_scaled_variance > 0:  # NaN included
        raise UserError(
            f"--parent-scaled-variance {options.parent_scaled_variance}: give more than 0; the "
            "paper's is 1"
        )
    if not 0 <= options.parent_ignoring < 1:
        raise UserError(
            f"--parent-ignoring {options.parent_ignoring}: give a probability from 0 to less than 1"
        )
    return layer_from_bottom(
        "--parent-scaled-layer", options.parent_scaled_layer, cfg.encoder.layers, "encoder"
    )


def build_parent_scaling(cfg: TransformerConfig, options: Any) -> ParentScaling:
    """The factor of the scaled layer.

    Args:
        cfg: fairseq's options of the Transformer.
        options: that passed :func:`parent_scaled_layer`.
    """
    heads = cfg.encoder.attention_heads
    return ParentScaling(
        heads,
        options.parent_scaled_heads or heads,
        options.parent_scaled_variance,
        options.parent_ignoring,
        options.parent_ignoring_per_head,
    )
