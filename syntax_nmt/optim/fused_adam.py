"""`--optimizer fused_adam`: fairseq's `adam`, each step in one kernel."""

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from fairseq.optim import register_optimizer
from fairseq.optim.adam import FairseqAdam, FairseqAdamConfig
from torch import Tensor, nn

from syntax_nmt.errors import UserError, exits_in_fairseq_programs

# Entries of a group in fairseq's own Adam, in addition to its parameters.
_GROUP_KEYS = ("params", "lr", "betas", "eps", "weight_decay", "amsgrad")


class FusedAdam(torch.optim.AdamW):
    """Adam (Kingma and Ba, 2015) with decoupled weight decay as fairseq computes it.

    Same numbers as `fairseq.optim.adam.Adam`, which loops over the parameters in Python and
    makes about ten passes over each; torch's kernel makes one pass. fairseq adds ε to `√v`, torch
    to `√(v / (1 − β₂ᵗ))`: each step gets the ε that makes both equal for parameters with gradients
    from the first step on.

    It saves its state like fairseq's Adam, and each resumes from the other's state.

    Args:
        params: what is optimised.
        lr: learning rate.
        betas: β₁ and β₂.
        weight_decay: share of the learning rate that is subtracted from each parameter.
    """

    supports_flat_params = True

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float,
        betas: tuple[float, float],
        eps: float,
        weight_decay: float,
    ) -> None:
        super().__init__(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, fused=True)
        self._updates = 0

    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """One update.

        Args:
            closure: computes the loss anew.
        """
        self._updates += 1
        given = [group["eps"] for group in self.param_groups]
        for group in self.param_groups:
            group["eps"] /= math.sqrt(1 - group["betas"][1] ** self._updates)
        try:
            return super().step(closure)
        finally:
            for group, eps in zip(self.param_groups, given):
                group["eps"] = eps

    def state_dict(self) -> dict[str, Any]:
        """The state in the form of fairseq's Adam."""
        saved = super().state_dict()
        return {
            "state": {
                index: {**state, "step": int(state["step"])}
                for index, state in saved["state"].items()
            },
            "param_groups": [
                {key: group[key] for key in _GROUP_KEYS} for group in saved["param_groups"]
            ],
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Loads the state of fairseq's Adam.

        Args:
            state_dict: of :meth:`state_dict`, from this class or fairseq's.
        """
        groups = [
            {**own, **saved} for own, saved in zip(self.param_groups, state_dict["param_groups"])
        ]
        super().load_state_dict({**state_dict, "param_groups": groups})
        steps = (int(state["step"]) for state in state_dict["state"].values())
        self._updates = max(steps, default=0)


_EXACT = (torch.float32, torch.float64)


@dataclass
class FusedAdamConfig(FairseqAdamConfig):
    """The options of fairseq's `adam`."""


@register_optimizer("fused_adam", dataclass=FusedAdamConfig)
class FusedFairseqAdam(FairseqAdam):
    """fairseq's `adam` by :class:`FusedAdam`: same options, same numbers, same checkpoints.

    ε is corrected by the updates of the optimizer, not of each parameter: of one with fewer (layer
    drop) the numbers differ where gradients are as small as ε.

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
