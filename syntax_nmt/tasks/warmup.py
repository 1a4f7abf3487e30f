"""A warm-up of the learning rate that is longer than the training, noticed before it begins."""

import logging
import math

logger = logging.getLogger(__name__)


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
