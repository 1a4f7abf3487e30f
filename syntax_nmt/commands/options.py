"""`syntax-nmt options`: the options that `fairseq-train --help` does not list.

fairseq prints its help before it adds the options of the architecture, the task or the criterion.
"""

import argparse
from pathlib import Path

from syntax_nmt import FOLDER
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.output import STDOUT, open_output

EXAMPLE = (
    "syntax-nmt options phrase_transformer dependency_cross_entropy\n"
    "  syntax-nmt options --training prepared"
)

DESCRIPTION = """\
Lists the options of architectures, criterions, the task, the tokenizer and the optimizer, which
fairseq-train --help omits, and the presets of an architecture. Without NAME it lists the names.
With --training it prints complete commands for your data, of all methods or of those named.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    parser.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        help="name of an architecture, for example; with --training a method, as `prepare` lists",
    )
    parser.add_argument(
        "--markdown",
        action="store_true",
        help="print all options as Markdown, by method (docs/options.md)",
    )
    parser.add_argument(
        "--training",
        type=Path,
        metavar="FOLDER",
        help="print a training command for each method whose annotation is in this "
        "folder of `syntax-nmt prepare` or data-bin folder",
    )


def run(args: argparse.Namespace) -> None:
    """Prints the options of the names, or all names.

    Raises:
        UserError: there is nothing of a name, or something is given beside `--markdown`.
    """
    idle = [*args.names, *(["--training"] if args.training is not None else [])]
    if args.markdown and idle:
        raise UserError(
            f"{idle[0]} does nothing with --markdown, which prints all options: leave one out"
        )
    from syntax_nmt.commands.shared.components import listing, page
    from syntax_nmt.preparation.training_commands import (
        named_method,
        next_commands,
        train_command,
        translate_command,
        wrapped,
    )
    from syntax_nmt.preparation.training_data import TrainingData

    if args.training is not None:
        data = TrainingData.of(args.training)
        methods = [named_method(data, name) for name in args.names]
        said = "\n".join(
            wrapped(command(data, method, FOLDER))
            for method in methods
            for command in (train_command, translate_command)
        ) or next_commands(data, FOLDER)
    elif args.markdown:
        said = page()
    else:
        said = listing(args.names)
    with open_output(STDOUT) as out:
        print(said, file=out)
