"""The Moses tokeniser, prevented from changing the text, and its sets of letters."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

import regex
from sacremoses import MosesDetokenizer, MosesTokenizer

from syntax_nmt.text.graphemes import same_text
from syntax_nmt.text.joints import JOINT
from syntax_nmt.text.languages import plain_language

# Accents written behind their letter, as in Yoruba, stressed Russian and decomposed text, and what
# joins consonants in Indic scripts.
_MARKS = regex.compile(r"(?<=\p{L})\p{M}+")


class MosesWords:
    """Splits text into words by the rules of Moses, without escapes, and joins them again.

    Args:
        lang: language code, any of the language's; decides abbreviations and apostrophes.
            Languages unknown to Moses are treated by its English rules for abbreviations.
    """

    def __init__(self, lang: str) -> None:
        known = plain_language(lang)
        self._tokenizer = _FastMosesTokenizer(known)
        self._joiner = MosesDetokenizer(known)

    def tokenise(self, text: str, hyphens_apart: bool = False) -> list[str] | None:
        """The words of a line; None if Moses would change its text.

        Moses treats combining marks as punctuation: they are removed before and put back after
        tokenisation. sacremoses 0.2 takes `DOTMULTI` in a text for its own placeholder and makes it
        a dot.

        Args:
            text: a cleaned line.
            hyphens_apart: split at hyphens between letters, and write them `@-@`.
        """
        bare, marks = _taken_off(text)
        words: list[str] = self._tokenizer.tokenize(
            bare, aggressive_dash_splits=hyphens_apart, escape=False
        )
        if not same_text(words, bare):
            return None
        return _put_back(words, marks) if marks else words

    def join(self, words: Sequence[str]) -> str:
        """The text that words were made from, as far as the rules can be inverted.

        Args:
            words: of one line.
        """
        try:
            text: str = self._joiner.detokenize(words, unescape=False)
        except TypeError:  # the rule for Czech `-li` of sacremoses 0.2 always fails
            return " ".join(words)
        return text


def _taken_off(text: str) -> tuple[str, Mapping[int, str]]:
    """The text without combining marks, and the marks by the number of characters before them.

    Spaces do not count, nor do other marks.
    """
    marks: dict[int, str] = {}
    taken = spaces = end = 0
    if not text.isascii():
        for found in _MARKS.finditer(text):
            spaces += text.count(" ", end, found.start())
            end = found.end()
            marks[found.start() - spaces - taken] = found[0]
            taken += len(found[0])
    return (_MARKS.sub("", text) if marks else text), marks


def _put_back(words: Sequence[str], marks: Mapping[int, str]) -> list[str]:
    """The words of a text with its marks; a hyphen written as `JOINT` is one character."""
    begins = accumulate((1 if word == JOINT else len(word) for word in words), initial=0)
    return [
        word
        if word == JOINT
        else "".join(letter + marks.get(place, "") for place, letter in enumerate(word, begin + 1))
        for begin, word in zip(begins, words)
    ]


class _FastMosesTokenizer(MosesTokenizer):
    """Moses with cached sets for its two tests of letters.

    The original builds a set of all letters of Unicode for every word like `U.S.`: more than a
    second for a line of two thousand.
    """

    def __init__(self, lang: str) -> None:
        super().__init__(lang)
        self._letters = frozenset(self.IsAlpha)
        self._small_letters = frozenset(self.IsLower)

    def islower(self, text: str) -> bool:
        """Whether all characters are small letters."""
        return self._small_letters.issuperset(text)

    def isanyalpha(self, text: str) -> bool:
        """Whether one of the characters is a letter."""
        return not self._letters.isdisjoint(text)
