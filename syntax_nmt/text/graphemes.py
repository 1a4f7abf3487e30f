"""Grapheme clusters, which no word boundary divides; and checks that text does not change."""

import re
from collections.abc import Sequence
from itertools import accumulate

import regex

from syntax_nmt.text.joints import JOINT, plain_hyphen

# An extended grapheme cluster (Unicode annex 29); flags, for which `regex` takes quadratic time,
# come first.
CHARACTER = r"(?:[\U0001f1e6-\U0001f1ff]{2}[\p{M}\u200c\u200d]*|\X)"
# Including the characters after a final joiner: in Persian and Indic scripts a joiner is inside a
# word.
_CHARACTER = regex.compile(rf"{CHARACTER}(?:(?<=[\u200c\u200d])(?!\p{{P}}){CHARACTER})*")
# Nothing before the combining marks extends a character: a quick answer for most of Europe's text.
_BEYOND_LATIN = re.compile("[\u0300-\U0010ffff]")
# Without one of these every code point is a character.
_EXTENDING = regex.compile(
    r"[\p{M}\p{Cf}\uff9e\uff9f\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff\p{Hangul_Syllable_Type=V}"
    r"\p{Hangul_Syllable_Type=T}]"
)


def same_text(words: Sequence[str], text: str) -> bool:
    """Whether words are only a tokenisation of a text.

    Args:
        words: may hold :data:`~syntax_nmt.text.joints.JOINT` for a hyphen.
        text: words and spaces (U+0020).
    """
    said = "".join(words)
    expected = text.replace(" ", "")
    if said != expected and JOINT in words:
        said = "".join(map(plain_hyphen, words))
    return said == expected


def keep_characters_whole(words: Sequence[str], text: str) -> list[str]:
    """The words, with split characters joined again.

    Moses splits off joiners, marks on signs (`❤\ufe0f`) and the halves of a
    flag.

    Args:
        words: tokenised from the text, for which :func:`same_text` holds.
        text: words and spaces (U+0020).
    """
    if _BEYOND_LATIN.search(text) is None or _EXTENDING.search(text) is None:
        return list(words)
    characters = [part for word in text.split(" ") for part in _CHARACTER.findall(word)]
    begins = set(accumulate(map(len, characters), initial=0))
    whole: list[str] = []
    position = 0
    for word in words:
        if position in begins:
            whole.append(word)
        else:
            whole[-1] = plain_hyphen(whole[-1]) + plain_hyphen(word)
        position += len(plain_hyphen(word))
    return whole
