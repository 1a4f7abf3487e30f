"""The lines that fairseq-interactive reads, counted over all of its buffers."""

from __future__ import annotations

from collections.abc import Sequence

from syntax_nmt.errors import UserError


class InteractiveLines:
    """Counts the lines that were typed.

    Attributes:
        before: lines before those of the buffer at hand.
    """

    def __init__(self) -> None:
        self.before = 0
        self._buffered = 0

    def add(self, lines: Sequence[str]) -> None:
        """Takes the next buffer.

        Args:
            lines: raw text.

        Raises:
            UserError: a line is not UTF-8. Where the locale is C or POSIX, Python reads such bytes
                as surrogates, which no subword model takes.
        """
        self.before += self._buffered
        self._buffered = len(lines)
        for number, line in enumerate(lines, start=self.before + 1):
            try:
                line.encode("utf-8")
            except UnicodeEncodeError:
                raise UserError(
                    f"line {number} of the input is not UTF-8: convert it, for instance with iconv"
                ) from None
