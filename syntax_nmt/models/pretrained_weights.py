"""Weights from a checkpoint: refused in one line if they do not fit, or used to initialise a larger
model.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from syntax_nmt.errors import UserError, exits_in_fairseq_programs, is_a_program_of_fairseq

logger = logging.getLogger(__name__)


class PretrainedWeights:
    """A model that can start from the weights of one that it extends, such as a stock Transformer.

    A base class to list before fairseq's model.

    Attributes:
        begins_with_weights_of_another: modules that a checkpoint lacks keep their random start. Off
            if a checkpoint must be the model's own; the task switches it on when a training begins
            with `--finetune-from-model`.
        origin: the file of the weights, if the task knows it.
    """

    origin = "the checkpoint"
    begins_with_weights_of_another = False

    def load_state_dict(
        self: Any,
        state_dict: dict[str, Tensor],
        strict: bool = True,
        model_cfg: Any = None,
        args: Any = None,
    ) -> Any:
        """Copies weights into the model.

        Args:
            state_dict: the weights by name; upgraded in place, as fairseq does.
            strict: whether they must match the model.
            model_cfg: the model's options; fairseq's programs give them.
            args: the same, as older programs give them.

        Raises:
            RuntimeError: they do not fit, if the caller gave no options.
            UserError: they do not fit, for fairseq's programs; one line says where.
        """
        try:
            return super().load_state_dict(  # type: ignore[misc]
                state_dict, strict=strict, model_cfg=model_cfg, args=args
            )
        except RuntimeError as error:
            difference = _difference(state_dict, self.state_dict())
            if model_cfg is None or difference is None:
                raise
            remedy = "give the --arch and the options that it was trained with"
            if is_a_program_of_fairseq() and not self.begins_with_weights_of_another:
                remedy += ", or --finetune-from-model to begin a model that extends it"
            with exits_in_fairseq_programs():
                raise UserError(
                    f"{self.origin} is not of this model: {difference}: {remedy}"
                ) from error

    def upgrade_state_dict_named(self: Any, state_dict: dict[str, Tensor], name: str) -> None:
        """Brings weights of other versions, or of a model that this one extends, up to date.

        Args:
            state_dict: the weights by name, changed in place.
            name: prefix of the model's names.
        """
        super().upgrade_state_dict_named(state_dict, name)  # type: ignore[misc]
        if not self.begins_with_weights_of_another:
            return
        own = self.state_dict()
        there = {_module(key) for key in state_dict}  # a module that lacks only a part is not new
        new = [key for key in own if key not in state_dict and _module(key) not in there]
        state_dict.update({key: own[key] for key in new})
        if new:
            modules = _listed([_module(key) for key in new], most=99)
            logger.warning(f"not in the checkpoint, so they begin at random: {modules}")


def _difference(given: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> str | None:
    """The difference between weights and a model's in name and shape; None = no difference."""
    parts = []
    lacking = [name for name in own if name not in given]
    if lacking:
        parts.append(f"it lacks {_listed(lacking)}")
    unknown = [name for name in given if name not in own]
    if unknown:
        parts.append(f"the model has no {_listed(unknown)}")
    for name, weight in given.items():
        if name in own and weight.shape != own[name].shape:
            shapes = ["×".join(map(str, tensor.shape)) for tensor in (weight, own[name])]
            parts.append(f"{name} is {shapes[0]}, in the model {shapes[1]}")
            break
    return "; ".join(parts) or None


def _module(name: str) -> str:
    """The module that a weight belongs to."""
    return name.rpartition(".")[0]


def _listed(names: Sequence[str], most: int = 4) -> str:
    """Names of weights; those of all layers as one."""
    kinds = list(dict.fromkeys(re.sub(r"\.\d+(?=\.|$)", ".*", name) for name in names))
    more = f" and {len(kinds) - most} more" if len(kinds) > most else ""
    return ", ".join(kinds[:most]) + more
