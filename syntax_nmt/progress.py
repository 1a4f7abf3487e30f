"""Progress of long work on stderr: a bar on a terminal, otherwise one line per minute."""

import os
import sys
from collections.abc import Iterable
from typing import Any

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 60.0
_NARROWEST = 20  # columns; some terminals report none, and tqdm would then show nothing
_USUAL = {"ncols": 80, "nrows": 24}


class Progress(tqdm):
    """Counts items; shows the rate and, if the total is known, the remaining time.

    Args:
        items: are counted as they are taken; None = `update` counts.
        unit: name of the items, in the plural.
        total: number of items; None = that of `items`, if they have a length.
        leave: whether the bar stays when all is done.
    """

    monitor_interval = 0  # no thread
    is_bar = False  # for `close`, which Python calls even if a signal came before `__init__`

    def __init__(
        self,
        items: Iterable[Any] | None,
        what: str,
        unit: str,
        total: int | None = None,
        leave: bool = True,
    ) -> None:
        self.is_bar = sys.stderr.isatty()
        seconds = SECONDS_BETWEEN_LINES
        settings = _size() if self.is_bar else {"mininterval": seconds, "delay": seconds}
        super().__init__(items, what, total, leave, unit=f" {unit}", **settings)

    def display(self, msg: str | None = None, pos: int | None = None) -> bool:
        """Draws the bar, or prints a line; tqdm calls this when it is time."""
        if self.is_bar:
            return super().display(msg, pos)
        print(self.line(self._time() - self.start_t), file=self.fp, flush=True)
        return True

    def close(self) -> None:
        """Ends the bar; the last line of a log stays as it is."""
        if self.is_bar:
            super().close()

    def line(self, seconds: float) -> str:
        """The text after so much time."""
        rate = self.n / seconds
        share = f"{self.n:,}" if self.total is None else f"{self.n:,} of {self.total:,}"
        text = f"{self.desc}: {share}{self.unit}"
        if not rate:
            return text
        text += f", {rate:,.1f} a second"
        if self.total is None:
            return text
        minutes = max(0, self.total - self.n) / rate / 60
        left = f"{minutes:,.0f} minutes" if minutes >= 1.5 else f"{60 * minutes:.0f} seconds"
        return f"{text}, about {left} left"


def _size() -> dict[str, Any]:
    """The size of the terminal, if tqdm is not to ask it, as arguments of tqdm."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return {} if columns >= _NARROWEST else _USUAL
