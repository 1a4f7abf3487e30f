"""The `syntax-nmt` command. Each subcommand lives beside what it runs and is imported on demand.

A subcommand's module has `EXAMPLE` (a command line that works), `add_arguments(parser)` and
`run(args)`, which raises :class:`~syntax_nmt.errors.UserError` for what the user can correct. With
`RESUMES`, the name of an option, an interrupted run that had this option resumes when the same line
is given again.
"""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
from collections.abc import Sequence

from syntax_nmt import __version__
from syntax_nmt.data.text_files import UNKNOWN_BYTES
from syntax_nmt.errors import UserError, one_line_errors

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("syntax_nmt.commands.demo", "write the built-in corpus, gold structures included"),
    "prepare": (
        "syntax_nmt.commands.prepare",
        "raw parallel text to tokens, subwords, parses and a data-bin folder, in one go",
    ),
    "parse": ("syntax_nmt.commands.parse", "parse tokenised text with Stanza"),
    "chunk": (
        "syntax_nmt.commands.chunk",
        "chunk tokenised text; train the tagger that does it, and score it",
    ),
    "merge": ("syntax_nmt.commands.merge", "put together what several parse or chunk jobs made"),
    "control": (
        "syntax_nmt.commands.control",
        "annotation without syntax: chains, shuffled trees, structures of other sentences",
    ),
    "binarize": (
        "syntax_nmt.commands.binarize",
        "put side information beside fairseq's own files in a data-bin folder",
    ),
    "inspect": ("syntax_nmt.commands.inspect", "what a data-bin folder holds, checked"),
    "trees": (
        "syntax_nmt.commands.trees",
        "dependency or constituency trees, and UAS or bracket F1, out of a trained model",
    ),
    "align": (
        "syntax_nmt.commands.align",
        "word alignments, and AER, out of a trained model; symmetrisation",
    ),
    "chunks": (
        "syntax_nmt.commands.chunks",
        "chunks, their accuracies and F1, out of a trained bi-scale decoder",
    ),
    "contrast": (
        "syntax_nmt.commands.contrast",
        "how often models prefer the reference to a copy with an error, by distance",
    ),
    "score": ("syntax_nmt.commands.score", "BLEU, chrF, TER and RIBES, by length as well"),
    "compare": ("syntax_nmt.commands.compare", "is one system better than another: paired tests"),
    "plot": (
        "syntax_nmt.commands.plot",
        "pictures: attention, alignments, trees, distances, chunks, scores by length",
    ),
    "report": (
        "syntax_nmt.commands.report",
        "one HTML page: scores, training curves, translations and their structures",
    ),
    "serve": (
        "syntax_nmt.commands.serve",
        "a page on this machine: translations and the syntax in them, while one types",
    ),
    "average": ("syntax_nmt.commands.average", "average checkpoints, such as the last ones"),
    "export": (
        "syntax_nmt.commands.export",
        "a model that is a plain Transformer at inference, for CTranslate2 or plain fairseq",
    ),
    "examples": (
        "syntax_nmt.commands.examples",
        "copy the examples: each paper's settings, comparisons, a notebook",
    ),
    "options": (
        "syntax_nmt.commands.options",
        "the options of architectures and criterions, which fairseq-train --help leaves out",
    ),
    "user-dir": ("syntax_nmt.commands.user_dir", "print the path to give to --user-dir"),
}


def main(argv: Sequence[str] | None = None) -> None:
    """Runs one subcommand; the exit status is 0 only if the whole job was done.

    Args:
        argv: the arguments after the program's name; those of the process by default.
    """
    if argv is None:  # a program of its own: `kill`, and batch systems, end it as Ctrl-C does
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        if hasattr(sys.stdout, "reconfigure"):  # names of files are printed
            sys.stdout.reconfigure(errors=UNKNOWN_BYTES)
    arguments = list(sys.argv[1:] if argv is None else argv)
    command = _command_parser().parse_args(arguments[:1]).command
    module_name, summary = COMMANDS[command]
    resumes = False
    with one_line_errors("syntax-nmt"):
        try:
            module = importlib.import_module(module_name)
            parser = argparse.ArgumentParser(
                prog=f"syntax-nmt {command}",
                description=summary,
                epilog=f"example:\n  {module.EXAMPLE}",
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
            module.add_arguments(parser)
            args = parser.parse_args(arguments[1:])
            resumes = getattr(args, getattr(module, "RESUMES", ""), None) is not None
            module.run(args)
        except KeyboardInterrupt:
            again = ": run the same command again; it resumes" if resumes else ""
            raise UserError(f"interrupted{again}") from None


def _command_parser() -> argparse.ArgumentParser:
    """The parser of the first word alone, whose help lists the subcommands."""
    width = max(map(len, COMMANDS))
    listing = "\n".join(f"  {name:<{width}}  {summary}" for name, (_, summary) in COMMANDS.items())
    parser = argparse.ArgumentParser(
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
