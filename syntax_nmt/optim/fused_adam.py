"""`--optimizer fused_adam`: fairseq's `adam`, each step in one kernel."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import torch
from fairseq.optim import register_optimizer
from fairseq.optim.adam import FairseqAdam, FairseqAdamConfig
from torch import nn

from syntax_nmt.errors import UserError, exits_in_fairseq_programs
from syntax_nmt.optim.adam_step import FusedAdam

_EXACT = (torch.float32, torch.float64)


@dataclass
class FusedAdamConfig(FairseqAdamConfig):
    """The options of fairseq's `adam`."""


@register_optimizer("fused_adam", dataclass=FusedAdamConfig)
class FusedFairseqAdam(FairseqAdam):
    """fairseq's `adam` by :class:`FusedAdam`: same options, same numbers, same checkpoints.

    A parameter that gets its first gradient later than others (layer drop) has their ε: the numbers
    differ where its gradients are as small as ε.

    Parameters that are kept in half precision (`--memory-efficient-fp16`) stay with fairseq's
    step, which takes each to float32 and back.

    Args:
        params: what is optimised.

    Raises:
        UserError: statistics of 16 bits or fairseq's own step are asked for; one line says so.
    """

    def __init__(self, cfg: FairseqAdamConfig, params: Collection[nn.Parameter]) -> None:
        with exits_in_fairseq_programs():
            if cfg.fp16_adam_stats:
                raise UserError(
                    "--fp16-adam-stats: fused_adam keeps its statistics in 32 bits; leave the "
                    "option out, or take --optimizer adam"
                )
            if cfg.use_old_adam:
                raise UserError(
                    "--use-old-adam: fused_adam has a step of its own; leave the option out, or "
                    "take --optimizer adam"
                )
        super().__init__(cfg, params)
        if all(parameter.dtype in _EXACT for parameter in params):
            self.optimizer = FusedAdam(params, **self.optimizer_config)


# A training resumes only with an optimizer whose class has the name in the checkpoint.
FusedFairseqAdam.__name__ = FairseqAdam.__name__
