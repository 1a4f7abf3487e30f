"""How all model families read their options, and the task they are for."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from fairseq.tasks import FairseqTask
from omegaconf import OmegaConf
from torch import nn

from syntax_nmt.errors import UserError, exits_in_fairseq_programs
from syntax_nmt.models.checkpoint_defaults import set_option


def build_for_syntax_translation(
    build: Callable[[Any, FairseqTask], Any], args: Any, task: FairseqTask, family: str
) -> Any:
    """Builds a model for `fairseq-train`, `fairseq-hydra-train` or a checkpoint.

    Args:
        build: makes the model of a namespace of options and the task.
        family: the name of the model, for messages.

    Raises:
        UserError: options that contradict each other, or another task; one line says which.
    """
    given = args
    if OmegaConf.is_config(args):  # started by fairseq-hydra-train
        plain: Any = OmegaConf.to_container(args, resolve=True)
        args = argparse.Namespace(**plain)
    with exits_in_fairseq_programs():
        if not getattr(task, "hands_over_sides", False):
            raise UserError(
                f"architecture {getattr(args, 'arch', family)} runs under its own task, this is "
                f"{type(task).__name__}: add --task syntax_translation"
            )
        try:
            model = build(args, task)
        # how fairseq reports options that contradict each other
        except (ValueError, AssertionError) as error:
            if not str(error):
                raise
            raise UserError(
                f"{error}: correct the options, or give the data they are for (this is "
                f"{task.cfg.data})"
            ) from error
        noise = getattr(args, "quant_noise_scalar", 0) or 0
        if noise > 0 and any(isinstance(module, nn.GRU) for module in model.modules()):
            raise UserError("--quant-noise-scalar: fairseq cannot quantise GRUs: leave it out")
    for kind, labels in model.side_labels.items():  # checkpoints keep them
        set_option(given, kind.key, " ".join(labels))
    return model
