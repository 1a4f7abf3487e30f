"""Validations since the best one, by which `--patience` ends a training, counted over restarts.

fairseq counts them in attributes of the function that decides: no checkpoint holds these, and the
next training of the same process (`fairseq-hydra-train -m`) begins with them.
"""

import sys
from collections.abc import Mapping
from typing import Any

from fairseq import checkpoint_utils

STATE = "patience"  # in a checkpoint's state of the task
_BEST, _COUNT = "best", "num_runs"  # as fairseq calls them
# Where that function is, in a program started by its file, in one that such a program starts, and
# in all others.
_MODULES = ("__main__", "__mp_main__", "fairseq_cli.train")


def counted_validations() -> dict[str, float]:
    """The best validation loss and how many validations followed it; empty before the first."""
    decide = _deciding_function()
    return {name: getattr(decide, name) for name in (_BEST, _COUNT) if hasattr(decide, name)}


def forget_training_before() -> None:
    """Forgets the validations of the training that this process did before, if it did one."""
    for function in (_deciding_function(), checkpoint_utils.save_checkpoint):
        for name in (_BEST, _COUNT):
            getattr(function, "__dict__", {}).pop(name, None)


def resume_count(checkpoint: Mapping[str, Any]) -> None:
    """Goes on counting where a checkpoint stopped.

    Args:
        checkpoint: its content.
    """
    counted = (checkpoint.get("task_state") or {}).get(STATE) or {}
    decide = _deciding_function()
    if decide is not None:
        for name in counted.keys() & {_BEST, _COUNT}:
            setattr(decide, name, counted[name])


def is_at_end(patience: int) -> bool:
    """Whether enough validations followed the best one for a training to end.

    Args:
        patience: `--patience`; none if it is not positive.
    """
    return 0 < patience <= counted_validations().get(_COUNT, 0)


def _deciding_function() -> Any:
    """None outside fairseq's programs."""
    modules = (sys.modules.get(name) for name in _MODULES)
    found = (getattr(module, "should_stop_early", None) for module in modules)
    return next(filter(None, found), None)
