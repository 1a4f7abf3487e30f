"""The `syntax-nmt` command. Each subcommand is a module of `commands`, imported on demand.

A subcommand's module has `EXAMPLE` (a command line that works), `add_arguments(parser)` and
`run(args)`, which raises :class:`~syntax_nmt.errors.UserError` for mistakes that the user can
correct. With `RESUMES`, the name of an option, the same command resumes an interrupted run that had
this option. With `TAKES_MORE`, what follows `--` is `args.more`, for another program.
"""

import argparse
import importlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from types import ModuleType
from typing import NoReturn

from syntax_nmt import __version__
from syntax_nmt.arguments import CommandParser
from syntax_nmt.data.text_files import UNKNOWN_BYTES
from syntax_nmt.errors import UserError, not_installed, one_line_errors
from syntax_nmt.reporting.output import ending_with_reader, errors_of_stdout

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("syntax_nmt.commands.demo", "write the built-in corpus, gold structures included"),
    "prepare": (
        "syntax_nmt.commands.prepare",
        "turn raw parallel text into a data-bin folder with annotation",
    ),
    "train": ("syntax_nmt.commands.train", "train methods on prepared data, and compare them"),
    "translate": ("syntax_nmt.commands.translate", "translate text with a trained method"),
    "parse": ("syntax_nmt.commands.parse", "parse tokenised text"),
    "chunk": (
        "syntax_nmt.commands.chunk",
        "chunk tokenised text; train and score a chunker",
    ),
    "merge": ("syntax_nmt.commands.merge", "join the outputs of several parse or chunk jobs"),
    "control": (
        "syntax_nmt.commands.control",
        "write annotation without syntax, such as trees of other sentences",
    ),
    "linearise": ("syntax_nmt.commands.linearise", "write parses as text with brackets"),
    "binarize": (
        "syntax_nmt.commands.binarize",
        "add annotation to a data-bin folder of fairseq-preprocess",
    ),
    "inspect": ("syntax_nmt.commands.inspect", "check a data-bin folder and show its content"),
    "trees": (
        "syntax_nmt.commands.trees",
        "extract trees from a trained model; UAS or bracket F1",
    ),
    "align": (
        "syntax_nmt.commands.align",
        "extract word alignments from a trained model and symmetrise them; AER",
    ),
    "chunks": (
        "syntax_nmt.commands.chunks",
        "extract chunks from a trained bi-scale decoder; accuracies and F1",
    ),
    "contrast": (
        "syntax_nmt.commands.contrast",
        "measure how often models prefer references to copies with errors",
    ),
    "likelihood": (
        "syntax_nmt.commands.likelihood",
        "write how probable a model finds the words of a reference",
    ),
    "select": (
        "syntax_nmt.commands.select",
        "write the sentences of a test set whose parse has a relation, a distance, a depth",
    ),
    "score": ("syntax_nmt.commands.score", "compute BLEU, chrF, TER and RIBES, also by length"),
    "compare": ("syntax_nmt.commands.compare", "test whether one system is better than another"),
    "rate": (
        "syntax_nmt.commands.rate",
        "write a blind sheet of translations for people to mark, and read the marks",
    ),
    "plot": (
        "syntax_nmt.commands.plot",
        "pictures: attention, alignments, trees, distances, chunks, scores by length",
    ),
    "report": (
        "syntax_nmt.commands.report",
        "write one HTML page: scores, curves, translations and structures",
    ),
    "serve": (
        "syntax_nmt.commands.serve",
        "serve a local web page that shows translations and their syntax",
    ),
    "average": ("syntax_nmt.commands.average", "average checkpoints of a training"),
    "export": (
        "syntax_nmt.commands.export",
        "export a trained model to CTranslate2 or plain fairseq",
    ),
    "examples": (
        "syntax_nmt.commands.examples",
        "copy the examples: settings of each paper, comparisons, a notebook",
    ),
    "options": (
        "syntax_nmt.commands.options",
        "list options that fairseq-train --help omits",
    ),
    "user-dir": ("syntax_nmt.commands.user_dir", "print the path to give to --user-dir"),
}


def main(argv: Sequence[str] | None = None) -> None:
    """Runs one subcommand; the exit status is 0 only if the job is complete.

    Args:
        argv: the arguments after the program's name; those of the process by default.
    """
    if argv is None:  # `kill` and batch systems end the program as Ctrl-C does
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        if hasattr(sys.stdout, "reconfigure"):  # names of files are printed
            sys.stdout.reconfigure(errors=UNKNOWN_BYTES)
    arguments = list(sys.argv[1:] if argv is None else argv)
    command = _command(arguments[:1])
    module_name, summary = COMMANDS[command]
    resumes = False
    with one_line_errors("syntax-nmt"), ending_with_reader():
        try:
            module = _module(module_name)
            parser = CommandParser(
                prog=f"syntax-nmt {command}",
                description=summary,
                epilog=f"example:\n  {module.EXAMPLE}",
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
            module.add_arguments(parser)
            given = arguments[1:]
            if getattr(module, "TAKES_MORE", False):
                end = given.index("--") if "--" in given else len(given)
                # Otherwise `translate DIR METHOD --seed 1 TEXT` has no place for TEXT.
                args = parser.parse_intermixed_args(given[:end])
                args.more = given[end + 1 :]
            else:
                args = parser.parse_args(given)
            resumes = getattr(args, getattr(module, "RESUMES", ""), None) is not None
            module.run(args)
            with errors_of_stdout():
                sys.stdout.flush()
        except KeyboardInterrupt:
            again = ": run the same command again; it resumes" if resumes else ""
            interrupted = UserError(f"interrupted{again}")
            if argv is None:
                _end(interrupted)
            raise interrupted from None


def _end(error: UserError) -> NoReturn:
    """Ends the process at once.

    At its own end Python waits for the threads of a pool of processes, and those of one that was
    interrupted can wait forever, while the process keeps the lock of its folder.
    """
    with suppress(OSError):  # nobody may read what was printed so far
        sys.stdout.flush()
    print(f"syntax-nmt: error: {error}", file=sys.stderr, flush=True)
    for child in multiprocessing.active_children():
        child.kill()
    os._exit(1)


def _command(first: Sequence[str]) -> str:
    """The subcommand; what is none ends the program with a line that says what was meant."""
    parser = _command_parser()
    for word in first:
        if word.startswith("-") and word not in parser._option_string_actions:
            parser.error(f"{word}: the command comes first: syntax-nmt COMMAND {word}")
        close = get_close_matches(word, COMMANDS, n=1)
        if close and word not in COMMANDS:
            parser.error(f"{word}: no such command: did you mean {close[0]}?")
    return parser.parse_args(first).command


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("syntax_nmt"):
            raise
        raise UserError(not_installed(error.name)) from None


def _command_parser() -> argparse.ArgumentParser:
    """The parser of the first word, whose help lists the subcommands."""
    width = max(map(len, COMMANDS))
    listing = "\n".join(f"  {name:<{width}}  {summary}" for name, (_, summary) in COMMANDS.items())
    parser = CommandParser(
        prog="syntax-nmt",
        usage="syntax-nmt COMMAND …   (syntax-nmt COMMAND --help for the options of one)",
        description=f"commands:\n{listing}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"syntax-nmt {__version__}")
    parser.add_argument("command", choices=list(COMMANDS), help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    main()
