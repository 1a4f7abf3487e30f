"""Words as tokens: a side whose vocabulary is its most frequent words, all others `<unk>`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from syntax_nmt.data.text_files import read_lines, write_atomically


def copy_words(words: Path, tokens: Path) -> Counter[str]:
    """Writes the words of a text as its tokens.

    Args:
        words: words separated by spaces.
        tokens: the file to write.

    Returns:
        Counts: `lines`, `words`, and as many `pieces`.
    """
    counts: Counter[str] = Counter()
    with write_atomically(tokens) as out:
        for line in read_lines(words):
            found = len(line.split())
            counts.update(lines=1, words=found, pieces=found)
            out.write(line + "\n")
    return counts
