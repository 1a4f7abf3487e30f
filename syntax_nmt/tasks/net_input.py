"""Batches with one input of the model more or less."""

from __future__ import annotations

from typing import Any


def with_input(sample: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """A copy of the batch that has an input.

    Args:
        sample: the batch, which stays as it is.
        name: of the argument of the model's forward pass.
        value: what it gets.
    """
    return {**sample, "net_input": {**sample["net_input"], name: value}}


def without_input(sample: dict[str, Any], name: str) -> dict[str, Any]:
    """The batch if it lacks an input anyway, otherwise a copy without it.

    Args:
        sample: the batch, which stays as it is.
        name: of the argument of the model's forward pass.
    """
    inputs = sample["net_input"]
    if name not in inputs:
        return sample
    rest = {key: value for key, value in inputs.items() if key != name}
    return {**sample, "net_input": rest}
