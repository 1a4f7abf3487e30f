"""Checks that programs rely on: types of a checkpoint's parts, and finite weights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from syntax_nmt.errors import UserError

# Parts that fairseq and this package read without type checks; None counts as missing.
_TYPES: dict[str, type] = {
    "criterion": dict,
    "extra_state": dict,
    "last_optimizer_state": dict,
    "optimizer_history": list,
    "task_state": dict,
}
# fairseq saves a buffer that it never sets.
_NEVER_SET = "_float_tensor"


def check_parts(path: Path, state: Mapping[str, Any], remedy: str) -> None:
    """Refuses parts of other types, and weights that are not finite.

    Args:
        path: of the checkpoint, for messages.
        state: its content, which has weights under `model`.
        remedy: what to do, for messages.

    Raises:
        UserError: names the first.
    """
    for name, kind in _TYPES.items():
        part = state.get(name)
        if part is not None and not isinstance(part, kind):
            raise UserError(
                f"{path}: its {name} is of type {type(part).__name__}, not {kind.__name__}: "
                f"{remedy}"
            )
    if not all(isinstance(entry, dict) for entry in state.get("optimizer_history") or ()):
        raise UserError(f"{path}: its optimizer_history is no list of dictionaries: {remedy}")
    for name, weight in state["model"].items():
        if not isinstance(name, str) or not isinstance(weight, torch.Tensor):
            raise UserError(f"{path}: {name} is no tensor with a name: {remedy}")
        if weight.layout != torch.strided or weight.is_quantized or weight.is_complex():
            raise UserError(f"{path}: {name} is no dense tensor of real numbers: {remedy}")
        _check_finite(path, name, weight)


def _check_finite(path: Path, name: str, weight: torch.Tensor) -> None:
    if not weight.is_floating_point() or name.endswith(_NEVER_SET):
        return
    finite = torch.isfinite(weight)
    if not finite.all():
        wrong = weight.numel() - int(finite.sum())
        raise UserError(
            f"{path}: {wrong} of {weight.numel()} numbers of {name} are not finite, so the "
            "training has diverged: give an earlier checkpoint, or train with a lower --lr or "
            "--clip-norm"
        )
