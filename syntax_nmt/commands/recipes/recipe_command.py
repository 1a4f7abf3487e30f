"""How the dataset recipes' own commands are run: errors in one line that begins with the recipe."""

import argparse
import os
from collections.abc import Callable, Sequence

from syntax_nmt.arguments import CommandParser
from syntax_nmt.errors import one_line_errors


def run_command(
    name: str,
    description: str | None,
    add_arguments: Callable[[argparse.ArgumentParser], None],
    run: Callable[[argparse.Namespace], None],
    argv: Sequence[str] | None,
) -> None:
    """Parses arguments and runs a command.

    Args:
        name: of the module; errors begin with the recipe's name instead if $RECIPE says it.
        description: what `--help` says.
        add_arguments: adds the command's options to a parser.
        run: does the work.
        argv: the arguments; those of the process by default.
    """
    parser = CommandParser(
        prog=f"python -m syntax_nmt.commands.recipes.{name}", description=description
    )
    add_arguments(parser)
    args = parser.parse_args(argv)
    with one_line_errors(os.environ.get("RECIPE", name)):
        run(args)
