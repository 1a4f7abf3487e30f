"""Progress of long work on stderr: a bar on a terminal, otherwise one line per minute."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 60.0
_NARROWEST = 20  # columns; some terminals report none, and tqdm would then show nothing
_USUAL = {"ncols": 80, "nrows": 24}


class Progress:
    """Counts items; shows the rate and the remaining time.

    Args:
        total: number of items.
        unit: name of the items, in the plural.
    """

    def __init__(self, total: int, what: str, unit: str) -> None:
        self.total, self.what, self.unit = total, what, unit
        self.done = 0
        self._began = self._said = time.monotonic()
        self._bar = None
        if sys.stderr.isatty():
            self._bar = tqdm(total=total, desc=what, unit=f" {unit}", **_size())

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def update(self, more: int) -> None:
        """Adds items done since the last call."""
        self.done += more
        if self._bar is not None:
            self._bar.update(more)
        elif time.monotonic() - self._said >= SECONDS_BETWEEN_LINES:
            self._said = time.monotonic()
            print(self.line(self._said - self._began), file=sys.stderr, flush=True)

    def line(self, seconds: float) -> str:
        """The text after so much time."""
        rate = self.done / seconds
        share = f"{self.done:,} of {self.total:,} {self.unit}"
        if not rate:
            return f"{self.what}: {share}"
        minutes = max(0, self.total - self.done) / rate / 60
        left = f"{minutes:,.0f} minutes" if minutes >= 1.5 else f"{60 * minutes:.0f} seconds"
        return f"{self.what}: {share}, {rate:,.1f} a second, about {left} left"


def _size() -> dict[str, int]:
    """Of the terminal, if tqdm is not to ask it."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return {} if columns >= _NARROWEST else _USUAL
