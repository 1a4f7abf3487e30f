"""Checks options that fairseq's programs use before they call the task, while they are parsed, and
the typed text, which one of them may name.

A task has no other hook so early. `fairseq-hydra-train` parses its options itself.
"""

import argparse
import io
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from syntax_nmt.arguments import attribute, positive_int
from syntax_nmt.data.text_files import AS_TYPED, OF_GZIP, damaged_gzip, open_bytes
from syntax_nmt.errors import UserError, exits_in_fairseq_programs


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


class TypedFile(io.TextIOWrapper):
    """A text in place of typed lines, plain or `.gz`, read as :data:`AS_TYPED` says.

    Raises:
        UserError: it cannot be read.
    """

    def __init__(self, path: str) -> None:
        try:
            stream = open_bytes(path)
        except UserError as error:
            raise UserError(f"--input {error}") from None
        super().__init__(stream, **AS_TYPED)
        self.path = path
        self._lines = 0

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """The next line, as of any text file.

        Raises:
            UserError: the `.gz` file is damaged.
        """
        self._lines += 1
        with exits_in_fairseq_programs():
            try:
                return super().readline(size)
            except OF_GZIP as error:
                raise damaged_gzip(self.path, self._lines, error) from error


class TypedLines:
    """Counts typed lines.

    Attributes:
        before: lines before the current buffer.
    """

    def __init__(self) -> None:
        self.before = 0
        self._buffered = 0

    def add(self, lines: Sequence[str]) -> None:
        """Starts the next buffer.

        Args:
            lines: raw text.

        Raises:
            UserError: a line is not UTF-8. Such bytes are read as surrogates, which no subword
                model accepts.
        """
        self.before += self._buffered
        self._buffered = len(lines)
        for number, line in enumerate(lines, start=self.before + 1):
            try:
                line.encode("utf-8")
            except UnicodeEncodeError:
                text = sys.stdin.path if isinstance(sys.stdin, TypedFile) else "the input"
                raise UserError(
                    f"line {number} of {text} is not UTF-8: convert it, for instance with iconv"
                ) from None


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
