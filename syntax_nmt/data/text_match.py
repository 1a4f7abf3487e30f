"""Does a side file belong to its corpus? A comparison of words that forgives spelling habits."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Sequence

from syntax_nmt.data.constituents import unescape_word
from syntax_nmt.errors import UserError

_QUOTES = {"``": '"', "''": '"', "“": '"', "”": '"', "„": '"', "@-@": "-", "’": "'", "‘": "'"}
_SHOWN_WORDS = 8


class OtherTextError(UserError):
    """An annotation is well-formed, but its words are not those of the corpus."""


def check_same_text(
    corpus: Sequence[str], annotated: Sequence[str], where: str, corpus_name: str
) -> None:
    """Refuses an annotation of another text: fewer than half of the words agree.

    Args:
        corpus: the words of the corpus line.
        annotated: the words of the annotation.
        where: file and line of the annotation.
        corpus_name: file and line of the corpus.

    Raises:
        OtherTextError: other numbers of words, or other words.
    """
    if list(annotated) == list(corpus):
        return
    if len(annotated) != len(corpus):
        raise OtherTextError(
            f"{where}: {len(annotated)} words, but {corpus_name} has {len(corpus)}: annotate the "
            f"tokenised text that the subwords were made from"
        )
    agreeing = sum(map(_same_word, corpus, annotated))
    if agreeing * 2 < len(corpus):
        raise OtherTextError(
            f"{where}: the words differ from {corpus_name} ({agreeing} of {len(corpus)} agree): "
            f"{_excerpt(annotated)!r} against {_excerpt(corpus)!r}: annotate this very text, "
            f"one entry a line"
        )


def _same_word(left: str, right: str) -> bool:
    return left == right or normalise_word(left) == normalise_word(right)


def normalise_word(word: str) -> str:
    """A word without what tokenisers and treebanks change: case, width, escapes, quotes.

    Args:
        word: a word of a corpus (Moses escapes undone) or of a tree (Penn escapes undone).
    """
    word = unescape_word(html.unescape(word))
    word = unicodedata.normalize("NFKC", _QUOTES.get(word, word)).casefold()
    return _QUOTES.get(word, word)


def _excerpt(words: Sequence[str]) -> str:
    shown = " ".join(words[:_SHOWN_WORDS])
    return shown + " …" if len(words) > _SHOWN_WORDS else shown
