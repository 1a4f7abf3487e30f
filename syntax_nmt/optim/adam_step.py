"""fairseq's Adam in one kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

# Entries of a group in fairseq's own Adam, in addition to its parameters.
_GROUP_KEYS = ("params", "lr", "betas", "eps", "weight_decay", "amsgrad")


class FusedAdam(torch.optim.AdamW):
    """Adam (Kingma and Ba, 2015) with decoupled weight decay as fairseq computes it.

    Same numbers as :class:`fairseq.optim.adam.Adam`, which loops over the parameters in Python and
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
