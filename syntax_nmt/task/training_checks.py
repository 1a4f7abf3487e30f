"""Checks the start of a training before its first update."""

import logging
import math
import os
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

import torch
import torch.distributed as dist
from fairseq.criterions import FairseqCriterion
from fairseq.criterions.adaptive_loss import AdaptiveLoss

from syntax_nmt.checkpoints.task_checkpoints import interpolated_option
from syntax_nmt.criterions.cross_entropy import ways_to_learn
from syntax_nmt.errors import UserError
from syntax_nmt.option_checks import warn_of_changed
from syntax_nmt.task.annotation_inputs import annotation_read_by
from syntax_nmt.task.yaml_options import refuse_unknown_options

logger = logging.getLogger(__name__)

# Variables that torchrun sets for its processes.
_TORCHRUN = ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE")


_DEFAULT_RATE = 0.25


def check_start(cfg: Any, model_options: Any) -> None:
    """Checks the start of the training of a model.

    Args:
        cfg: the options of the task, with those of the training.

    Raises:
        UserError: it would not be the intended training.
    """
    check_joined()
    if cfg.print_factors:
        raise UserError(
            "--print-factors: a training prints none: give it to fairseq-generate or "
            "fairseq-interactive"
        )
    refuse_unknown_options(model_options)
    check_device(cfg)
    warn_of_default_rate(interpolated_option(cfg, "lr"))


def check_joined() -> None:
    """Refuses to train alone if torchrun has started several processes.

    fairseq takes the number of visible GPUs as the number of workers. On CPUs, and on
    machines of one GPU each, that is 1: every process would train by itself and all would write the
    same checkpoints.

    Raises:
        UserError: says which options join them.
    """
    if not all(name in os.environ for name in _TORCHRUN):
        return
    count = os.environ["WORLD_SIZE"]
    if count == "1" or (dist.is_available() and dist.is_initialized()):
        return
    options = f"--distributed-world-size {count}"
    if not torch.cuda.is_available():
        options += (
            " --distributed-init-method env:// --distributed-no-spawn --distributed-rank $RANK "
            "--distributed-backend gloo --ddp-backend legacy_ddp"
        )
    raise UserError(
        f"torchrun has started {count} processes, but each would train alone and write the same "
        f"checkpoints: add {options}"
    )


def check_device(cfg: Any) -> None:
    """Refuses options that fairseq supports only on another device.

    Args:
        cfg: the options of the task, with those of the training.

    Raises:
        UserError: names the option to use here.
    """
    fp16, tpu, on_cpu, *others = (
        interpolated_option(cfg, name)
        for name in ("fp16", "tpu", "cpu", "memory_efficient_fp16", "fp16_no_flatten_grads")
    )
    if tpu and find_spec("torch_xla") is None:
        raise UserError(
            "--bf16 of fairseq-train is for TPUs, and torch_xla is not installed: give "
            "common.bf16=true to fairseq-hydra-train, or --fp16"
        )
    if (on_cpu or not torch.cuda.is_available()) and fp16 and not any(others):
        raise UserError(
            "--fp16 flattens the gradients on a GPU, and there is none: add "
            "--fp16-no-flatten-grads, or leave --fp16 out"
        )


def warn_of_default_rate(rates: Any) -> None:
    """Warns if no learning rate was given: fairseq's default diverges with Adam.

    Args:
        rates: `--lr`, one an epoch.
    """
    if rates is not None and list(rates) == [_DEFAULT_RATE]:
        logger.warning(
            f"--lr is {_DEFAULT_RATE}, fairseq's default, with which hardly anything trains: give "
            "--lr, such as 1e-3 for Adam (`syntax-nmt options --training` prints whole lines)"
        )


def check_output_layer(model: Any, criterion: FairseqCriterion) -> None:
    """Refuses an adaptive softmax with another criterion.

    Raises:
        UserError: names the criterion to use.
    """
    decoder = getattr(model, "decoder", None)
    if getattr(decoder, "adaptive_softmax", None) is None or isinstance(criterion, AdaptiveLoss):
        return
    raise UserError(
        "--adaptive-softmax-cutoff has a loss of its own, without auxiliary losses: "
        "leave it out, or give --criterion adaptive_loss --ddp-backend legacy_ddp"
    )


def warn_of_untrained_parts(model: Any, objectives: Iterable[Any]) -> None:
    """Warns if no objective trains a part of the model that learns annotation."""
    read = annotation_read_by(objectives)
    for kind in getattr(model, "learns_annotation", ()):
        if kind not in read:
            what = f"nothing trains what the model learns of the {kind.description}"
            logger.warning(f"{what}: give {ways_to_learn(kind)}")


def warn_of_loss_options(model: Any, criterion: Any) -> None:
    """Warns of options of the criterion that have no effect on the model."""
    for objective in getattr(criterion, "objectives", ()):
        for beside, names in objective.without_effect(model).items():
            warn_of_changed(criterion.options, names, beside)


def warn_of_long_warmup(cfg: Any, model_options: Any, batches: int) -> None:
    """Warns if the learning rate will not reach its peak.

    Args:
        cfg: the options of the task, with those of the training.
        batches: of an epoch, of one worker.
    """
    warmup = getattr(model_options, "warmup_updates", None) or 0
    max_epoch, max_update = (
        interpolated_option(cfg, name) or 0 for name in ("max_epoch", "max_update")
    )
    update_freq = interpolated_option(cfg, "update_freq") or [1]
    by_epochs = max_epoch * math.ceil(batches / update_freq[0]) if max_epoch > 0 else math.inf
    updates = min(by_epochs, max_update if max_update > 0 else math.inf)
    if warmup > updates:
        logger.warning(
            f"--warmup-updates {warmup} is more than the {updates:.0f} updates of this training: "
            f"the learning rate never reaches --lr, and the model learns little; give "
            f"--warmup-updates {max(1, int(updates) // 4)} or less, or train longer (--max-epoch, "
            "--max-update)"
        )
