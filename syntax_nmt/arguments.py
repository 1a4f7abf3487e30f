"""Command-line arguments that several subcommands take, their types, and options of fairseq's."""

from __future__ import annotations

import argparse
from dataclasses import field
from typing import Any


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


def add_files(group: argparse._ActionsContainer, **helps: str) -> None:
    """Adds options that name files: `gold="…"` is `--gold FILE` with this help."""
    for name, text in helps.items():
        group.add_argument(f"--{name.replace('_', '-')}", metavar="FILE", help=text)


def add_flags(group: argparse._ActionsContainer, **helps: str) -> None:
    """Adds options that are given or not, by name and help."""
    for name, text in helps.items():
        group.add_argument(f"--{name.replace('_', '-')}", action="store_true", help=text)


def option(default: Any, text: str) -> Any:
    """A field of a dataclass of options, as fairseq reads them.

    Args:
        text: what `--help` says.
    """
    return field(default=default, metadata={"help": text})
