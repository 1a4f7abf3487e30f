"""The options that choose a parser of dependencies: one that is loaded here, or a program."""

from __future__ import annotations

import argparse
from pathlib import Path

from syntax_nmt.arguments import add_numbers, positive_int
from syntax_nmt.commands.shared.checks import require_companion_options
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.parsers import PARSERS, STANZA
from syntax_nmt.parsing.program import OPTION

SECONDS = 600
_NEEDS = {"parser_model": ("parser",), "parse_seconds": ("parse_command",)}


def add_parser_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that choose the parser of dependencies."""
    parser.add_argument(
        "--parser",
        choices=PARSERS,
        help="what makes dependency trees; constituents and chunks are Stanza's (default: "
        f"{STANZA})",
    )
    parser.add_argument(
        "--parser-model",
        metavar="PATH",
        type=Path,
        help="the model of --parser udpipe (a file) or spacy (a folder)",
    )
    parser.add_argument(
        OPTION,
        metavar="CMD",
        help="a program that makes dependency trees in place of --parser: it gets words, a "
        "sentence a line, and writes CoNLL-U; it runs once a worker, without a shell, and only "
        "from this option",
    )
    add_numbers(
        parser,
        positive_int,
        parse_seconds=f"the longest silence of that program (default: {SECONDS})",
    )


def check_parser_options(args: argparse.Namespace) -> None:
    """Refuses options of :func:`add_parser_options` that do not go together.

    Raises:
        UserError: names them.
    """
    require_companion_options(args, _NEEDS)
    if args.parse_command is not None and args.parser is not None:
        raise UserError(f"--parser and {OPTION} exclude each other: leave one out")
    if args.parser == STANZA and args.parser_model is not None:
        raise UserError(
            f"--parser-model {args.parser_model}: is no option of Stanza: give --stanza-dir or "
            "--stanza-model, or another --parser"
        )


def uses_stanza(args: argparse.Namespace) -> bool:
    """Whether Stanza makes dependency trees of the source."""
    return args.parse_command is None and args.parser in (None, STANZA)
