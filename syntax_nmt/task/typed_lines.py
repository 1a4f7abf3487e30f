"""Typed text: a file in place of the standard input, and the numbers of its lines.

It loads no torch, as exported models translate with it, too.
"""

import io
import sys
from collections.abc import Sequence

from syntax_nmt.data.text_files import AS_TYPED, OF_GZIP, damaged_gzip, open_bytes
from syntax_nmt.errors import UserError, exits_in_fairseq_programs


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
