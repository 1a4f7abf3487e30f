"""Signs that a text is in another language than it is said to be: most of its words are unknown."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from syntax_nmt.data.text_columns import share_text
from syntax_nmt.data.text_files import read_lines

LINES = 1000
"""How many lines of a text are looked at, its first ones."""
_TRAINING_LINES = 100_000
_FEWEST = 100  # words; less text says nothing
_MOST_KNOWN = 0.5  # real text in the right language has 0.7 and more, in another 0.15 and less


def known_share(lines: Iterable[Sequence[str]], is_known: Callable[[str], bool]) -> float | None:
    """The share of running words of letters that are known; None = there are too few."""
    words = [word for line in lines for word in line if word.isalpha()]
    return sum(map(is_known, words)) / len(words) if len(words) >= _FEWEST else None


def is_foreign(share: float | None) -> bool:
    """Whether most words are unknown.

    Args:
        share: of :func:`known_share`.
    """
    return share is not None and share < _MOST_KNOWN


def first_lines(text: Path, lines: int = LINES) -> Iterator[list[str]]:
    """The words of the first lines of a text."""
    return (line.split() for line in islice(read_lines(text), lines))


def foreign_texts(
    training: tuple[Path, Path], others: Iterable[tuple[Path, Path]]
) -> Iterator[str]:
    """A line on each text most words of which the training text of its language does not have.

    Args:
        training: the words of both languages.
        others: likewise, of further splits.
    """
    known = [
        {word for line in first_lines(text, _TRAINING_LINES) for word in line} for text in training
    ]
    if min(map(len, known), default=0) < _FEWEST:
        return
    for texts in others:
        for text, own, of_other in zip(texts, known, known[::-1]):
            share = known_share(first_lines(text), own.__contains__)
            if share is None or not is_foreign(share):
                continue
            other = known_share(first_lines(text), of_other.__contains__) or 0.0
            asked = "is it of another language or domain?"
            if other > share:
                asked = f"{share_text(other)} in that of the other: are the files exchanged?"
            yield (
                f"warning: {text}: {share_text(share)} of its words occur in the training text "
                f"of its language, {asked}"
            )
