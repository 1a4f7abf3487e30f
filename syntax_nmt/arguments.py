"""Options: their spelling, their types, and those of several subcommands."""

import argparse
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from syntax_nmt.errors import UserError

T = TypeVar("T")

Namespace = argparse.Namespace
"""The options of a training as fairseq hands them to models, and as its checkpoints hold them."""

Parser = argparse.ArgumentParser
"""What fairseq hands to the `add_args` of a model or a task."""

Action = argparse.Action
"""An option of a parser."""

ENCODER, DECODER = "encoder", "decoder"


class CommandParser(argparse.ArgumentParser):
    """A command's parser, which reports a mistake in one line, without the list of all options."""

    def error(self, message: str) -> NoReturn:
        """Prints the line and exits with 2.

        Args:
            message: what is wrong.
        """
        unknown = re.match(r"unrecognized arguments: (--[\w-]+)", message)
        near = get_close_matches(unknown[1], self._option_string_actions, 1) if unknown else []
        message += "".join(f"; did you mean {option}?" for option in near)
        said = UserError(f"{message} ({self.prog} --help lists the options)")
        self.exit(2, f"{self.prog}: error: {said}\n")


def flag(name: str) -> str:
    """The spelling of an option: `--max-tokens` for `max_tokens`."""
    return "--" + name.replace("_", "-")


def attribute(option: str) -> str:
    """The name of an option's value among parsed ones: `max_tokens` for `--max-tokens`."""
    return option.strip("-").replace("-", "_")


def defaults_of(add_args: Callable[[Parser], object]) -> Namespace:
    """The default of each option that the `add_args` of a model or a task declares."""
    parser = Parser(allow_abbrev=False)
    add_args(parser)
    return parser.parse_args([])


def argument(read: Callable[[str], T]) -> Callable[[str], T]:
    """The type of an argument, for argparse to name the option and to print the error's text.

    Args:
        read: makes the value of the text; a ValueError says why it cannot.
    """

    def of_text(text: str) -> T:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return of_text


def positive_int(text: str) -> int:
    """A whole number of 1 or more.

    Raises:
        argparse.ArgumentTypeError: it is something else.
    """
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


def natural_int(text: str) -> int:
    """A whole number of 0 or more.

    Raises:
        argparse.ArgumentTypeError: it is something else.
    """
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 0 or more")
    return int(text)


@argument
def file_with_parts(text: str) -> Path:
    """The path of a file, beside which its finished parts may be kept; not a stream."""
    if text == "-":
        raise ValueError("- is no file: name one")
    return Path(text)


def sentence_numbers(text: str) -> list[int]:
    """Sentences counted from 1, separated by commas, each once.

    Raises:
        argparse.ArgumentTypeError: it is something else.
    """
    return list(dict.fromkeys(positive_int(part.strip()) for part in text.split(",")))


def ascending_numbers(text: str, least: int = 0) -> tuple[int, ...]:
    """Ascending whole numbers, separated by commas.

    Args:
        least: the least value of the first.

    Raises:
        argparse.ArgumentTypeError: it is something else.
    """
    parts = [part.strip() for part in text.split(",")]
    numbers = tuple(int(part) for part in parts if part.isascii() and part.isdigit())
    ascending = all(low < high for low, high in zip((least - 1, *numbers), numbers))
    if len(numbers) < len(parts) or not ascending:
        raise argparse.ArgumentTypeError(
            f"{text!r}: give ascending whole numbers separated by commas, such as 15,30,45"
        )
    return numbers


def named_in(option: str, text: str, known: Collection[str], what: str) -> tuple[str, ...]:
    """The names of a list with commas, in its order.

    Args:
        option: that has the list, as it is typed.
        known: the names that there are.
        what: such a name names, for the message.

    Raises:
        UserError: a name is unknown, or stands there twice.
    """
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in known:
            raise UserError(f"{option} {text}: {name!r} is no {what}: give {', '.join(known)}")
        if names.count(name) > 1:
            raise UserError(f"{option} {text}: {name} twice: give each {what} once")
    return names


def add_files(group: argparse._ActionsContainer, **helps: str) -> None:
    """Adds options that name files: `gold="…"` is `--gold FILE` with this help."""
    for name, text in helps.items():
        group.add_argument(flag(name), metavar="FILE", help=text)


def add_flags(group: argparse._ActionsContainer, **helps: str) -> None:
    """Adds flags, by name and help."""
    for name, text in helps.items():
        group.add_argument(flag(name), action="store_true", help=text)


def add_numbers(
    group: argparse._ActionsContainer,
    read: Callable[[str], int],
    **described: str | tuple[int, str],
) -> None:
    """Adds options of one number each: `beam=(5, "beam size")` is `--beam N`, 5 by default.

    Args:
        read: makes the number of the text.
        **described: the help alone, or the default and the help, which also names the default.
    """
    for name, about in described.items():
        default, text = about if isinstance(about, tuple) else (None, about)
        said = text if default is None else f"{text} (default: {default})"
        group.add_argument(flag(name), metavar="N", type=read, default=default, help=said)


@dataclass(frozen=True)
class Needs:
    """Another option that an option needs to have an effect.

    Attributes:
        name: of the other option.
        values: which of its values give the effect; empty = all but its default.
        such_as: a value, for messages.
    """

    name: str
    values: tuple[str, ...] = ()
    such_as: str = ""

    def __str__(self) -> str:
        such_as = f", such as {self.such_as}" if self.such_as else ""
        return " ".join(filter(None, (flag(self.name), " or ".join(self.values)))) + such_as


def option(
    default: Any, text: str, *needs: Needs, stack: str | None = None, shared: bool = False
) -> Any:
    """A field of a dataclass of options, as fairseq reads them.

    Args:
        text: what `--help` says.
        needs: other options, one of which it needs to have an effect.
        stack: `encoder` or `decoder`; None = it is for both.
        shared: several methods declare it, and it has an effect if it has one in any of them.
    """
    of_stack = {} if stack is None else {"stack": stack}
    about = {"help": text, "needs": needs, "shared": shared}
    return field(default=default, metadata={**about, **of_stack})


def encoder_option(default: Any, text: str, *needs: Needs) -> Any:
    """An :func:`option` only for the encoder."""
    return option(default, text, *needs, stack=ENCODER)


def decoder_option(default: Any, text: str, *needs: Needs) -> Any:
    """An :func:`option` only for the decoder."""
    return option(default, text, *needs, stack=DECODER)
