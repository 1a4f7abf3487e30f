"""Options of other groups that the task reads through fairseq's interpolation."""

from __future__ import annotations

from typing import Any

from omegaconf.errors import OmegaConfBaseException


def interpolated_option(cfg: Any, name: str) -> Any:
    """An option of another group; None where the task was set up without that group.

    Args:
        cfg: the options of the task.
        name: of a field that stands for one of another group.
    """
    try:
        value = getattr(cfg, name, None)
    except OmegaConfBaseException:
        return None
    return None if isinstance(value, str) and value.startswith("${") else value
