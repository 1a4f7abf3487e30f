"""Checks of options."""

import logging
import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import Field, fields
from enum import Enum
from typing import Any, get_args

from omegaconf import OmegaConf

from syntax_nmt.arguments import Needs, flag
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


def check_from_zero(options: Any, names: Iterable[str]) -> None:
    """Raises a :class:`UserError` for a number that is negative, infinite or NaN; None is right."""
    _check_least(options, names, 0)


def check_from_one(options: Any, names: Iterable[str]) -> None:
    """Raises a :class:`UserError` for a size below 1, infinite or NaN; None is right."""
    _check_least(options, names, 1)


def _check_least(options: Any, names: Iterable[str], least: int) -> None:
    for name in names:
        value = getattr(options, name)
        if value is not None and not least <= value < math.inf:
            raise UserError(f"{flag(name)} {value}: give a number from {least} on")


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


def check_lowest_layers(option: str, number: int, layers: int, stack: str, least: int = 1) -> None:
    """Checks a number of lowest layers.

    Args:
        option: that gives it, as it is typed.
        layers: how many there are.
        stack: `encoder` or `decoder`, for the message.

    Raises:
        UserError: there are not so many, or it is too small.
    """
    if not least <= number <= layers:
        raise UserError(
            f"{option} {number}: the {stack} has {layers} layers; give a number from {least} to "
            f"{layers}"
        )


def lowest_layers(option: str, given: int | None, usual: int, layers: int, stack: str) -> range:
    """The lowest layers, counted from 0.

    Args:
        option: that gives their number, as it is typed.
        given: the number; None = the usual one, at most all.
        usual: where none is given.
        layers: how many there are.
        stack: `encoder` or `decoder`, for the message.

    Raises:
        UserError: there are not so many.
    """
    if given is None:
        return range(min(usual, layers))
    check_lowest_layers(option, given, layers, stack)
    return range(given)


def choices_of(declared: "Field[Any]") -> tuple[str, ...]:
    """The values that a declared option may have; empty = it is no choice."""
    kinds: tuple[Any, ...] = (declared.type, *get_args(declared.type))
    enums = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Enum)]
    return tuple(str(each) for kind in enums for each in kind)


def refuse_without_effect(options: Any) -> None:
    """Refuses options that lack what they are declared to need, but for those that are shared.

    Args:
        options: a dataclass of :func:`syntax_nmt.arguments.option`.

    Raises:
        UserError: such an option does not have its default.
    """
    for name, lacking in _lacking(options, shared=False).items():
        if lacking:
            raise UserError(f"{flag(name)} needs {lacking}")


def refuse_shared_without_effect(every: Iterable[Any]) -> None:
    """Refuses options that have an effect in none of the methods that share them.

    Args:
        every: the options of each method, as of :func:`refuse_without_effect`.

    Raises:
        UserError: such an option does not have its default.
    """
    needed: dict[str, list[str]] = {}
    for options in every:
        for name, lacking in _lacking(options, shared=True).items():
            needed.setdefault(name, []).append(lacking)
    for name, lacking_of_each in needed.items():
        if all(lacking_of_each):
            raise UserError(f"{flag(name)} needs {' or '.join(dict.fromkeys(lacking_of_each))}")


def _lacking(options: Any, shared: bool) -> dict[str, str]:
    """What each option that does not have its default lacks; "" = nothing."""
    declared = {each.name: each for each in fields(options)}

    def lacks(name: str) -> str:
        """What an option needs and lacks; the option that stands behind all others first."""
        needs = declared[name].metadata.get("needs", ())
        behind = [lacks(other.name) for other in needs]
        if any(
            not lacking and _is_met(other, options, declared[other.name].default)
            for other, lacking in zip(needs, behind)
        ):
            return ""
        return next(filter(None, behind), " or ".join(map(str, needs)))

    return {
        name: lacks(name)
        for name, each in declared.items()
        if each.metadata.get("shared", False) == shared
        and differs_from_default(getattr(options, name), each.default)
    }


def _is_met(needs: Needs, options: Any, default: Any) -> bool:
    value = getattr(options, needs.name)
    if needs.values:  # of a choice, or of a list with commas
        return any(part.strip() in needs.values for part in str(value).split(","))
    return differs_from_default(value, default)


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
    """Refuses options of fairseq's Transformer that an extension excludes.

    Args:
        what: the option of the extension, for the message.

    Raises:
        UserError: one of the named options is on.
    """
    for name in names:
        if getattr(cfg, name):
            raise UserError(f"{what} cannot be combined with {flag(name)}: leave {flag(name)} out")
