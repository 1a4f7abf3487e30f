"""Numbers of a training that fairseq counts without a look at the rest: validations since the best
one, by which `--patience` ends it, over restarts; a warm-up longer than the training.
"""

import logging
import math
import sys
from collections.abc import Mapping
from typing import Any

from fairseq import checkpoint_utils

STATE = "patience"  # in a checkpoint's state of the task


_BEST, _COUNT = "best", "num_runs"  # as fairseq calls them


# Where that function is, in a program started by its file, in one that such a program starts, and
# in all others.
_MODULES = ("__main__", "__mp_main__", "fairseq_cli.train")


logger = logging.getLogger(__name__)


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
    """Goes on counting where a checkpoint stopped."""
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


def planned_updates(batches: int, update_freq: int, max_epoch: int, max_update: int) -> float:
    """How many updates a training makes; infinite where nothing ends it.

    Args:
        batches: of an epoch, of one worker.
        max_epoch: 0 = no limit.
        max_update: 0 = no limit.
    """
    by_epochs = max_epoch * math.ceil(batches / update_freq) if max_epoch > 0 else math.inf
    return min(by_epochs, max_update if max_update > 0 else math.inf)


def warn_of_long_warmup(warmup: int, updates: float) -> None:
    """Says in the log if the learning rate will not reach its peak.

    Args:
        warmup: `--warmup-updates`.
        updates: of the whole training.
    """
    if warmup > updates:
        logger.warning(
            f"--warmup-updates {warmup} is more than the {updates:.0f} updates of this training: "
            f"the learning rate never reaches --lr, and the model learns little; give "
            f"--warmup-updates {max(1, int(updates) // 4)} or less, or train longer (--max-epoch, "
            "--max-update)"
        )
