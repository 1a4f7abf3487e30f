"""Checks options that fairseq's programs use before they call the task, while they are parsed.

A task has no other hook so early. `fairseq-hydra-train` parses its options itself.
"""

import argparse
import io
import os
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from syntax_nmt.arguments import attribute, positive_int
from syntax_nmt.data.text_files import AS_TYPED
from syntax_nmt.errors import UserError, exits_in_fairseq_programs
from syntax_nmt.task.typed_lines import TypedFile


def check_while_parsing(parser: argparse.ArgumentParser) -> None:
    """Replaces options of a program's parser by checked ones.

    Args:
        parser: of a program of fairseq.
    """
    # An option that is added again replaces the first.
    group = parser.add_argument_group("checked by the task", conflict_handler="resolve")
    for option, (beside, settings) in _OPTIONS.items():
        if parser.get_default(beside) is not None:
            default = parser.get_default(attribute(option))
            group.add_argument(option, default=default, **settings)


class _Checked(argparse.Action, ABC):
    """Takes a value that passes :meth:`check`."""

    def __call__(self, _parser: Any, namespace: Any, value: Any, option: Any = None) -> None:
        with exits_in_fairseq_programs():
            self.check(value)
        setattr(namespace, self.dest, value)

    @abstractmethod
    def check(self, value: Any) -> None:
        """Raises a :class:`UserError` for values that fairseq would fail at or ignore."""


class _SaveDir(_Checked):
    def check(self, value: str) -> None:
        there = Path(value)
        while not there.exists() and there != there.parent:
            there = there.parent
        if not there.is_dir():
            raise UserError(f"--save-dir {value}: {there} is a file: give another folder")
        if not os.access(there, os.W_OK):
            raise UserError(f"--save-dir {value}: {there} cannot be written to: give another one")


_NO_VALUE = "@@ "  # what fairseq takes for the name of a file, if the option has no value


class _ReplaceUnk(_Checked):
    """An optional value, as fairseq has it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "nargs": "?", "const": _NO_VALUE})

    def check(self, value: str) -> None:
        if value == _NO_VALUE:
            raise UserError(
                "--replace-unk without a value names no dictionary of words: give one, or "
                "--replace-unk '' to put the source words themselves in place of unknown ones"
            )
        # An assertion of fairseq-generate comes before the task; only a command line has it all.
        words = sys.argv[1:]
        generates = Path(sys.argv[0]).stem in ("fairseq-generate", "generate")
        if generates and words and _format_of_text(words) != "raw":
            raise UserError(
                "--replace-unk: fairseq-generate reads the source words from raw text alone, and "
                "the folder is binarised: give the text to fairseq-interactive, or a folder of "
                "fairseq-preprocess --dataset-impl raw with --dataset-impl raw"
            )


def _format_of_text(words: list[str]) -> str | None:
    """What a command line gives `--dataset-impl`; None = nothing."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--dataset-impl")
    found: str | None = parser.parse_known_args(words)[0].dataset_impl
    return found


def _standard_input(path: str) -> str:
    """Makes a file the standard input, where only newlines end lines.

    `fairseq-interactive` would open the file so that a carriage return also ends a line: every
    later translation would belong to another line. Text that is piped is read as a file's is,
    whatever the locale. (The type of an option is called for its default, too; an action is not.)

    Args:
        path: - = the standard input there is.
    """
    with exits_in_fairseq_programs():
        if path != "-":
            sys.stdin = TypedFile(path)
        elif isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(**AS_TYPED)
    return "-"


# Each option, with another option of its group that tells whether the program has the group.
_OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "--save-dir": ("save_dir", {"action": _SaveDir, "help": "folder of the checkpoints"}),
    "--beam": ("beam", {"type": positive_int, "help": "size of the beam"}),
    "--replace-unk": (
        "beam",
        {"action": _ReplaceUnk, "help": "replace unknown words (a dictionary, or '')"},
    ),
    "--print-alignment": (
        "buffer_size",
        {
            "nargs": "?",
            "const": "hard",
            "choices": ["hard"],
            "help": "print the source word that each word attends to most (fairseq-generate prints "
            "soft alignments, too)",
        },
    ),
    "--input": (
        "buffer_size",
        {"type": _standard_input, "help": "file to read, plain or .gz; - = standard input"},
    ),
}
