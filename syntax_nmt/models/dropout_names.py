"""Names of dropouts, by which fairseq's `--retain-dropout-modules` chooses them."""

from __future__ import annotations

from fairseq.models.transformer import TransformerDecoderBase, TransformerEncoderBase
from fairseq.modules import FairseqDropout, MultiheadAttention
from fairseq.modules.transformer_layer import (
    TransformerDecoderLayerBase,
    TransformerEncoderLayerBase,
)
from torch import nn

TRANSFORMER_DROPOUTS = ("dropout", "attention_dropout", "activation_dropout")  # as options

_STOCK = {
    TransformerEncoderBase: "TransformerEncoder",
    TransformerDecoderBase: "TransformerDecoder",
    TransformerEncoderLayerBase: "TransformerEncoderLayerBase",
    TransformerDecoderLayerBase: "TransformerDecoderLayerBase",
    MultiheadAttention: "MultiheadAttention",
}


def name_as_in_fairseq(model: nn.Module) -> None:
    """Gives the dropouts that our classes inherit the names that they have in fairseq's.

    fairseq names a dropout by the class that it is in, which is a subclass here.
    """
    for module in model.modules():
        for base, name in _STOCK.items():
            if isinstance(module, base):
                for child in module.children():
                    if isinstance(child, FairseqDropout):
                        child.module_name = name
