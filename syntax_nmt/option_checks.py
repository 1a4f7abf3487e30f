"""Checks of options."""

import logging
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from omegaconf import OmegaConf

from syntax_nmt.arguments import flag
from syntax_nmt.errors import UserError

logger = logging.getLogger(__name__)


def differs_from_default(value: Any, default: Any) -> bool:
    """Whether a value is another one; a choice is not a string but is compared as one."""
    return value != default and str(value) != str(default)


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Raises a :class:`UserError` for an unknown choice in a YAML, which fairseq does not check."""
    if str(value) not in choices:
        raise UserError(f"{flag(name)} {value}: choose {' or '.join(choices)}")


def check_dropouts(options: Any, names: Iterable[str]) -> None:
    """Raises a :class:`UserError` for a share of units outside 0 to 1."""
    for name in names:
        value = getattr(options, name)
        if not 0 <= value < 1:
            raise UserError(f"{flag(name)} {value}: give a share from 0 to less than 1")


def layer_from_bottom(option: str, layer: int, layers: int, stack: str) -> int:
    """A layer's index from 0, the lowest.

    Args:
        option: that names the layer, as it is typed.
        layer: its number from 0, the lowest, or from −1, the top.
        layers: how many there are.
        stack: `encoder` or `decoder`, for the message.

    Raises:
        UserError: there is no such layer.
    """
    if not -layers <= layer < layers:
        raise UserError(
            f"{option} {layer}: the {stack} has {layers} layers; give a number from {-layers} to "
            f"{layers - 1}"
        )
    return layer % layers


def refuse_changed(options: Any, names: Iterable[str], needed: str) -> None:
    """Refuses options that have no effect.

    Args:
        needed: what they need to have an effect, for the message.

    Raises:
        UserError: one of the named options does not have its default.
    """
    for name in _changed(options, names):
        raise UserError(f"{name} needs {needed}")


def warn_of_changed(options: Any, names: Iterable[str], beside: str) -> None:
    """Warns of options that have no effect but may be in a checkpoint.

    Args:
        options: a configuration made of a dataclass.
        beside: the option and value that make them ineffective.
    """
    for name in _changed(options, names):
        logger.warning(
            f"{name} has no effect beside {beside}: change one of them, or leave {name} out"
        )


def _changed(options: Any, names: Iterable[str]) -> Iterator[str]:
    defaults = OmegaConf.get_type(options)
    return (
        flag(x) for x in names if differs_from_default(getattr(options, x), getattr(defaults, x))
    )


def refuse_together(what: str, cfg: Any, *names: str) -> None:
    """Refuses options of fairseq's Transformer that a feature excludes.

    Args:
        what: the feature, for the message.

    Raises:
        UserError: one of the named options is on.
    """
    for name in names:
        if getattr(cfg, name):
            raise UserError(f"{what} cannot be combined with {flag(name)}: leave {flag(name)} out")
