"""The options of a Transformer's encoder or decoder, and of an RNN's.

A model refuses options that it does not use, and the message says which model takes them.
"""

import argparse
from dataclasses import fields
from functools import cache
from typing import Any

from fairseq.models.transformer import TransformerModel

from syntax_nmt.arguments import DECODER, ENCODER, attribute, flag
from syntax_nmt.errors import UserError, exits_in_fairseq_programs
from syntax_nmt.methods.method import FAMILIES, RNN, TRANSFORMER
from syntax_nmt.models.options import RecurrentOptions, SyntaxRNNOptions, SyntaxTransformerOptions
from syntax_nmt.option_checks import check_choice, differs_from_default

STACKS = (ENCODER, DECODER)

_NAMES = {TRANSFORMER: "Transformer", RNN: "RNN"}
# The stack of fairseq's own options whose names do not begin with it; all others belong to both.
_BEGINNINGS = {
    ENCODER: ("encoder_",),
    DECODER: (
        "decoder_", "no_cross_", "cross_self_", "no_decoder_", "adaptive_softmax_", "tie_adaptive_",
        "base_",
    ),
}  # fmt: skip
_CHOICES = frozenset(f"{stack}_family" for stack in STACKS)
_OF_THE_TASK = ("max_source_positions", "max_target_positions")


def command_line_options(model: Any) -> dict[str, argparse.Action]:
    """All options of a model by their names in checkpoints.

    Args:
        model: its class, which has `add_args`.
    """
    parser = argparse.ArgumentParser(add_help=False)
    model.add_args(parser)
    options = {action.dest: action for action in parser._actions}
    options.pop(argparse.SUPPRESS, None)
    return options


@cache
def options_of(family: str) -> frozenset[str]:
    """The options that only this family has.

    Args:
        family: one of :data:`FAMILIES`.
    """
    if family == RNN:
        return frozenset(_names(RecurrentOptions) - _names(SyntaxTransformerOptions))
    names = set(command_line_options(TransformerModel)) | _names(SyntaxTransformerOptions)
    return frozenset(names - _names(SyntaxRNNOptions) - set(_OF_THE_TASK))


def refuse_while_parsing(parser: argparse.ArgumentParser, family: str) -> None:
    """Adds the options of a family to an architecture of the other, so that it can refuse them.

    Args:
        family: which the architecture does not have.
    """
    for name in sorted(options_of(family) | _CHOICES):
        parser.add_argument(
            flag(name), action=_Refused, nargs="*", dest=argparse.SUPPRESS, help=argparse.SUPPRESS
        )


class _Refused(argparse.Action):
    def __call__(self, _parser: Any, _namespace: Any, _value: Any, option: Any = None) -> None:
        with exits_in_fairseq_programs():
            raise UserError(f"{option} {how_to_have(attribute(option))}")


def is_of_another(name: str) -> bool:
    """Whether an option that an architecture does not have is one of mixed models."""
    return name in _CHOICES or any(name in options_of(family) for family in FAMILIES)


def how_to_have(name: str) -> str:
    """The end of a message about an option that an architecture lacks: what has it.

    Args:
        name: of an option that :func:`is_of_another`.
    """
    if name in _CHOICES:
        return "is an option of mixed models: give --arch syntax_hybrid, which has one"
    family = RNN if name in options_of(RNN) else TRANSFORMER
    stack, *others = stacks_of(name)
    other = TRANSFORMER if family == RNN else RNN
    families = {each: family if each == stack else other for each in STACKS}
    chosen = " ".join(f"--{each}-family {families[each]}" for each in STACKS)
    return (
        f"is an option of {_described(family, None if others else stack)}, which this architecture "
        f"does not have: give --arch syntax_hybrid {chosen}"
    )


def check_families(args: Any, families: dict[str, str]) -> None:
    """Refuses options that a mixed model does not use.

    Args:
        args: the options as the user gave them; a namespace.

    Raises:
        UserError: unknown family, or an option of a family that the model lacks.
    """
    for stack, family in families.items():
        check_choice(f"{stack}_family", family, FAMILIES)
    defaults = {
        option.name: option.default
        for options in (SyntaxTransformerOptions, RecurrentOptions)
        for option in fields(options)
    }
    for family in FAMILIES:
        for name in sorted(options_of(family) & set(vars(args))):
            value, default, stacks = getattr(args, name), defaults.get(name), stacks_of(name)
            there = [stack for stack in stacks if families[stack] == family]
            if differs_from_default(value, default) and not there:
                described = _described(family, stacks[0] if len(stacks) == 1 else None)
                raise UserError(
                    f"{flag(name)} is an option of {described}, and the model has none: give "
                    f"--{stacks[-1]}-family {family}, or leave it out"
                )


def stacks_of(option: str) -> tuple[str, ...]:
    """The stacks of an option: from its declaration, or from the name of fairseq's own option."""
    if option in _declared():
        return (_declared()[option],)
    return tuple(s for s in STACKS if option.startswith(_BEGINNINGS[s])) or STACKS


@cache
def _declared() -> dict[str, str]:
    """The stack of each method option that belongs to only one stack."""
    ours = (*fields(SyntaxTransformerOptions), *fields(RecurrentOptions))
    return {field.name: field.metadata["stack"] for field in ours if "stack" in field.metadata}


def _described(family: str, stack: str | None) -> str:
    article = "an" if family == RNN else "a"
    return f"{_NAMES[family]}s" if stack is None else f"{article} {_NAMES[family]} {stack}"


def _names(options: Any) -> set[str]:
    return {option.name for option in fields(options) if option.name != "_name"}
