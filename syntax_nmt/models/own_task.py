"""How both model families read their options, and the task they are for."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from textwrap import shorten
from typing import Any, TypeVar

from fairseq.tasks import FairseqTask
from omegaconf import OmegaConf, open_dict

from syntax_nmt.errors import UserError, one_line_errors
from syntax_nmt.tasks.syntax_translation import SyntaxTranslationTask

Model = TypeVar("Model")
_SHOWN = 240  # characters: a fault a weight


def build_for_own_task(
    build: Callable[[Any, FairseqTask], Model], args: Any, task: FairseqTask, family: str
) -> Model:
    """Builds a model, whoever started: `fairseq-train`, `fairseq-hydra-train` or a checkpoint.

    Args:
        build: makes the model of a namespace of options and the task.
        args: the options.
        task: has the dictionaries.
        family: the name of the model, for messages.

    Raises:
        SystemExit: options that contradict each other, or another task; one line says which.
    """
    if OmegaConf.is_config(args):  # started by fairseq-hydra-train
        plain: Any = OmegaConf.to_container(args, resolve=True)
        args = argparse.Namespace(**plain)
    with one_line_errors("syntax_nmt"):
        if not isinstance(task, SyntaxTranslationTask):
            raise UserError(
                f"architecture {getattr(args, 'arch', family)} runs under its own task, this is "
                f"{type(task).__name__}: add --task syntax_translation"
            )
        try:
            return build(args, task)
        except ValueError as error:  # how fairseq reports options that contradict each other
            raise UserError(
                f"{error}: mend the options, or give the data they are for (this is "
                f"{task.cfg.data})"
            ) from error


class FitsOrExits:
    """A model that says in one line which weights of a checkpoint do not fit, and whose they are.

    Goes before the class of fairseq's that it is mixed into.

    Attributes:
        origin: the file that its weights will come from, where the task knows it.
    """

    origin = "the checkpoint"

    def load_state_dict(
        self, state_dict: Any, strict: bool = True, model_cfg: Any = None, args: Any = None
    ) -> Any:
        """Loads weights.

        Args:
            state_dict: weights by name.
            strict: whether they must be those of the model.
            model_cfg: the model's options; fairseq's programs give them.
            args: the same, as older programs give them.

        Raises:
            RuntimeError: they are not, for a caller who gave no options.
            SystemExit: they are not, for fairseq's programs.
        """
        try:
            return super().load_state_dict(  # type: ignore[misc]
                state_dict, strict=strict, model_cfg=model_cfg, args=args
            )
        except RuntimeError as error:
            if model_cfg is None:
                raise
            with one_line_errors("syntax_nmt"):
                _, _, faults = str(error).partition(":")
                raise UserError(
                    f"{self.origin}: does not fit the model ({shorten(faults, _SHOWN)}): give one "
                    f"of this architecture with these options, and the data it was trained with"
                ) from error


def record(args: Any, name: str, value: str) -> None:
    """Sets an option that was found out while the model was built, for its checkpoints.

    Args:
        args: the options as fairseq gave them, which it will save.
        name: of the option.
        value: a builtin, as torch's safe loader reads nothing else.
    """
    if OmegaConf.is_config(args):
        with open_dict(args):
            args[name] = value
    else:
        setattr(args, name, value)
