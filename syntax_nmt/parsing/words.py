"""The corpus's words in the form that a parser expects, one for one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from syntax_nmt.data.constituents import PENN_BRACKETS
from syntax_nmt.data.languages import is_english
from syntax_nmt.data.text import MOSES_ESCAPES, penn_negations

_MOSES_JOINER = re.compile(r"@(\W|_)@")
OPENING_QUOTE, CLOSING_QUOTE = "``", "''"
_PENN_SYMBOLS = {**PENN_BRACKETS, OPENING_QUOTE: '"', CLOSING_QUOTE: '"'}
_DOUBLE_QUOTES = ('"', "“", "”", "„")


def parser_words(words: Sequence[str], lang: str) -> list[str]:
    """The words in the spelling of treebanks; their number and order do not change.

    Undone are Moses's escapes (`&apos;`) and marked joints (`@-@`) and the bracket and quote names
    of the Penn Treebank, which Universal Dependencies do not use. In English, negations are split
    as treebanks do (`don 't` becomes `do n't`): otherwise they cost 19 points of unlabelled
    attachment in the sentences that hold one.

    Args:
        words: the words of one sentence, without white space inside.
        lang: language code.
    """
    spelled = [_plain(word) for word in words]
    if is_english(lang):
        spelled = penn_negations([word.replace("’", "'") for word in spelled])
    return spelled


def penn_words(words: Sequence[str]) -> list[str]:
    """Quotes and brackets by their names in the Penn Treebank, word for word.

    A double quote opens and closes in turns.

    Args:
        words: of :func:`parser_words`.
    """
    names = {bracket: name for name, bracket in PENN_BRACKETS.items()}
    spelled = []
    opens = True
    for word in words:
        if word in _DOUBLE_QUOTES:
            word = OPENING_QUOTE if opens else CLOSING_QUOTE
            opens = not opens
        spelled.append(names.get(word, word))
    return spelled


def _plain(word: str) -> str:
    if word in _PENN_SYMBOLS:
        return _PENN_SYMBOLS[word]
    joiner = _MOSES_JOINER.fullmatch(word)
    if joiner is not None:
        return joiner.group(1)
    if "&" in word:
        for escape, character in MOSES_ESCAPES.items():
            word = word.replace(escape, character)
    return word
