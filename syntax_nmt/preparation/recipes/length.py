"""How many words a line has, split into words only where bounds cannot decide."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

from syntax_nmt.data.text import clean_line
from syntax_nmt.data.unspaced import is_unspaced
from syntax_nmt.task.word_tokenizer import WordTokenizer, default_mode

# Of Chinese and Japanese; where words are not marked off, their number is estimated.
CHARACTERS_PER_WORD = 1.7
# Modes that split what is written without spaces; where there are spaces, these count instead.
_SEGMENTERS = ("char", "stanza")
_SPLITTER = re.compile(r"[^A-Za-z0-9 ]")


class Length:
    """The number of words of a line: two bounds, which are cheap, and the number itself.

    Args:
        least: a number of words that the line has at least.
        count: counts them; called only if the number itself is asked for.

    Attributes:
        least: as given.
        most: as given.
    """

    def __init__(self, least: float, most: float, count: Callable[[], float]) -> None:
        self.least = least
        self.most = most
        self._count = count

    @cached_property
    def exact(self) -> float:
        """The number of words."""
        return self._count()

    def exceeds(self, limit: float) -> bool:
        """Whether there are more words than a limit.

        Args:
            limit: number of words.
        """
        if self.most <= limit:
            return False
        return self.least > limit or self.exact > limit

    def is_over_times(self, other: Length, ratio: float) -> bool:
        """Whether there are more words than `ratio` times those of another line.

        Args:
            other: the other line's length; not zero.
        """
        if self.most <= ratio * other.least:
            return False
        return self.least > ratio * other.most or self.exact > ratio * other.exact


class Measure:
    """Measures lines of one language in words, as `syntax-nmt prepare` will tokenise them.

    Text of a language written without spaces is measured in characters,
    :data:`CHARACTERS_PER_WORD` of them to a word, unless the mode says that it is split already.

    Args:
        lang: language code.
        mode: tokeniser mode of `syntax-nmt prepare`, or None for the language's default.

    Raises:
        UserError: for an unknown mode.
    """

    def __init__(self, lang: str, mode: str | None = None) -> None:
        mode = mode or default_mode(lang)
        if mode in _SEGMENTERS:
            mode = "char" if is_unspaced(lang) else default_mode(lang)
        self._tokenizer = None if mode == "char" else WordTokenizer(mode, lang)

    def length(self, line: str) -> Length:
        """The length of a line, in words.

        Args:
            line: one line of raw text.
        """
        # What lies between spaces is split further, but never joined.
        chunks = clean_line(line).split()
        characters = sum(map(len, chunks))
        if self._tokenizer is None:
            words = characters / CHARACTERS_PER_WORD
            return Length(words, words, lambda: words)
        if self._tokenizer.mode == "none":
            return Length(len(chunks), len(chunks), lambda: len(chunks))
        # Around characters other than letters and digits a word may begin and end; `cannot` and its
        # like are two words.
        text = " ".join(chunks)
        most = 2 * len(chunks) + 2 * len(_SPLITTER.findall(text))
        return Length(len(chunks), min(characters, most), lambda: len(self.words(line).split()))

    def words(self, line: str) -> str:
        """The words of a line, separated by single spaces.

        Args:
            line: one line of raw text.
        """
        return line if self._tokenizer is None else self._tokenizer.tokenize(line)
