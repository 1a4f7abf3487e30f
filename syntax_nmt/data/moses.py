"""The Moses tokeniser, which is kept from changing the text that it tokenises."""

from __future__ import annotations

from collections.abc import Sequence

from sacremoses import MosesDetokenizer, MosesTokenizer

from syntax_nmt.data.graphemes import same_text


class MosesWords:
    """Splits text into words by the rules of Moses, without escapes, and joins them again.

    Args:
        lang: language code; decides abbreviations and apostrophes. Codes unknown to Moses are
            treated by its English rules for abbreviations.
    """

    def __init__(self, lang: str) -> None:
        self._tokenizer = _FastMosesTokenizer(lang)
        self._joiner = MosesDetokenizer(lang)

    def tokenise(self, text: str, hyphens_apart: bool = False) -> list[str] | None:
        """The words of a line; None where Moses would change what it says.

        sacremoses 0.2 takes `DOTMULTI` in a text for its own placeholder and makes it a dot.

        Args:
            text: a cleaned line.
            hyphens_apart: split at hyphens between letters, and write them `@-@`.
        """
        words: list[str] = self._tokenizer.tokenize(
            text, aggressive_dash_splits=hyphens_apart, escape=False
        )
        return words if same_text(words, text) else None

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


class _FastMosesTokenizer(MosesTokenizer):
    """Moses with its two questions about letters answered from sets that are made once.

    The original makes a set of all letters of Unicode anew for every word like `U.S.`: more than a
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
