"""What the lines of a linearised training text are: translations or parses, and one of each."""

from collections import Counter
from itertools import islice
from pathlib import Path

from syntax_nmt.data.linearised import PARSE, TASKS, is_symbol
from syntax_nmt.data.linearised_folder import (
    INTERLEAVED,
    join_between_symbols,
    linearised_mode,
    option_of,
)
from syntax_nmt.data.prepared_text import prepared_folder
from syntax_nmt.data.text_columns import count_text, share_text
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import printable

_LINES = 100_000  # that are looked at, the first ones
_SHOWN = 100  # characters of a line


def linearised_lines(data: Path, source: str, target: str) -> str | None:
    """A line on each kind of pair with its share, and the first of it; None = there are no parses.

    Args:
        data: the folder of `prepare`, or its data-bin folder.
    """
    folder, _ = prepared_folder(data)
    mode = linearised_mode(folder)
    if mode is None:
        return None
    said = [f"annotation: parses as text (prepare {option_of(mode)})"]
    texts = [folder / "pieces" / f"train.{language}" for language in (source, target)]
    if not all(text.is_file() for text in texts):
        return said[0]
    found: Counter[str] = Counter()
    first: dict[str, list[str]] = {}
    for pair in islice(zip(*map(read_lines, texts)), _LINES):
        lines = join_between_symbols(pair)
        kind = _kind(mode, *lines)
        found[kind] += 1
        first.setdefault(kind, lines)
    for kind, count in found.items():
        share = share_text(count / found.total())
        said.append(f"  {kind}: {count_text(count)} of {count_text(found.total())} ({share})")
        said += [f"    {printable(line)[:_SHOWN]}" for line in first[kind]]
    return "\n".join(said)


def _kind(mode: str, source: str, target: str) -> str:
    """The kind of a pair, such as `parse → target`."""
    words = source.split()
    task = words.pop(0) if words and words[0] in TASKS else ""
    read = "parse" if any(map(is_symbol, words)) else "source"
    parsed = "parse of the source" if task == PARSE else "parse"
    if mode == INTERLEAVED:
        parsed = "target with tags"
    written = parsed if any(map(is_symbol, target.split())) else "target"
    return f"{read} → {written}"
