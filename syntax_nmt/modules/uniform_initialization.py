"""The initial parameters of the RNN family."""

from __future__ import annotations

from torch import nn

from syntax_nmt.modules.masked_batch_norm import MaskedBatchNorm

RANGE = 0.1


def initialize_uniform(model: nn.Module) -> None:
    """Draws all parameters from the uniform distribution over (−0.1, 0.1).

    Batch norms keep their 1 and 0, and the embedding of the pad its 0. A parameter that two modules
    share is drawn once for each.

    Args:
        model: changed in place.
    """
    for module in model.modules():
        if isinstance(module, MaskedBatchNorm):
            continue
        for parameter in module.parameters(recurse=False):
            nn.init.uniform_(parameter, -RANGE, RANGE)
    zero_pads(model)


def zero_pads(model: nn.Module) -> None:
    """Sets the embeddings of pads to 0; called last, as an output layer may share the weights.

    Args:
        model: changed in place.
    """
    for module in model.modules():
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            nn.init.zeros_(module.weight[module.padding_idx])
