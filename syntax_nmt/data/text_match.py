"""Checks whether annotation belongs to its corpus, and reports differing words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import NoReturn

from syntax_nmt.data.character_alignment import same_spelling
from syntax_nmt.errors import UserError

_SHOWN_WORDS = 8


class OtherTextError(UserError):
    """An annotation is well-formed, but its words are not those of the corpus.

    Args:
        where: file and line of the annotation.
        detail: the difference, with both sides.
        remedy: what to do.
    """

    def __init__(self, where: str, detail: str, remedy: str) -> None:
        super().__init__(f"{where}: {detail}: {remedy}")
        self.where = where
        self.detail = detail


def other_text(
    annotated: Sequence[str], tokens: Sequence[str], where: str, corpus: str
) -> NoReturn:
    """Refuses an annotation of another sentence.

    Args:
        tokens: the words of the corpus line.
        where: file and line of the annotation.
        corpus: file and line of the corpus.

    Raises:
        OtherTextError: always, with both texts from their first difference.
    """
    same = sum(1 for _ in takewhile(lambda pair: same_spelling(*pair), zip(annotated, tokens)))
    start = max(0, min(same, len(annotated) - 1, len(tokens) - 1) - 2)
    raise OtherTextError(
        where,
        f"the parse has {len(annotated)} words, the text ({corpus}) has {len(tokens)}: "
        f"{_excerpt(annotated, start)!r} against {_excerpt(tokens, start)!r}",
        "annotate this very text, one entry a sentence",
    )


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
            where,
            f"{len(annotated)} words, but {corpus_name} has {len(corpus)}",
            "annotate the tokenised text that the subwords were made from",
        )
    agreeing = sum(map(same_spelling, corpus, annotated))
    if agreeing * 2 < len(corpus):
        raise OtherTextError(
            where,
            f"the words differ from {corpus_name} ({agreeing} of {len(corpus)} agree): "
            f"{_excerpt(annotated)!r} against {_excerpt(corpus)!r}",
            "annotate this very text, one entry a line",
        )


def _excerpt(words: Sequence[str], start: int = 0) -> str:
    shown = " ".join(words[start : start + _SHOWN_WORDS])
    before = "… " if start else ""
    return f"{before}{shown} …" if len(words) > start + _SHOWN_WORDS else before + shown
