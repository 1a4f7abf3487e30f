"""The options of supervised heads and their loss (Wang et al., 2019), and their layer.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import FairseqDataclass
from fairseq.models.transformer import TransformerConfig

from syntax_nmt.arguments import encoder_option, option
from syntax_nmt.errors import UserError
from syntax_nmt.methods.dependency_heads.loss import SUPERVISED_HEADS
from syntax_nmt.option_checks import layer_from_bottom, refuse_together


@dataclass
class DependencyHeadOptions(FairseqDataclass):
    """Which layer learns the source dependency tree."""

    supervised_layer: Optional[int] = encoder_option(
        None,
        "supervised attention heads (Wang et al., 2019): the encoder layer whose first "
        "two self-attention heads learn the source dependency tree, child head and parent "
        "head; 0 is the lowest, -1 the top layer, the paper's choice; the heads learn "
        "without the layer's gates or window (default: no layer; "
        "dependency_transformer: -1)",
    )


@dataclass
class DependencyLossOptions(FairseqDataclass):
    """The weights of the losses of the two heads."""

    child_weight: float = option(
        0.4, "weight α of the child head's loss; 0 gives the paper's +PSH row"
    )
    parent_weight: float = option(
        0.4, "weight β of the parent head's loss; 0 gives the paper's +CSH row"
    )


def supervised_layer(cfg: TransformerConfig, options: DependencyHeadOptions) -> Optional[int]:
    """Index of the supervised layer counted from the lowest, or None.

    Args:
        cfg: fairseq's options of the Transformer.

    Raises:
        UserError: there is no such layer, it has too few heads, or another option excludes it.
    """
    if options.supervised_layer is None:
        return None
    layer = layer_from_bottom(
        "--supervised-layer", options.supervised_layer, cfg.encoder.layers, "encoder"
    )
    if cfg.encoder.attention_heads < SUPERVISED_HEADS:
        raise UserError(
            f"--supervised-layer needs a child head and a parent head, but "
            f"--encoder-attention-heads is {cfg.encoder.attention_heads}"
        )
    refuse_together("--supervised-layer", cfg, "encoder_layerdrop")
    return layer
