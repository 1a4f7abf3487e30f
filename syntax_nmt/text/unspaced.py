"""Splits text in scripts without spaces between words into characters, and joins it again."""

from collections.abc import Iterable, Sequence
from itertools import islice

import regex

from syntax_nmt.text.graphemes import CHARACTER
from syntax_nmt.text.languages import plain_language

# Plain codes; of the Chinese languages those that have corpora.
_CHINESE = ("zh", "yue", "wuu", "hak", "nan", "gan", "lzh")
_LANGUAGES = frozenset((*_CHINESE, "th", "lo", "km", "my", "ja"))
_SCRIPTS = ("Han", "Hiragana", "Katakana", "Bopomofo", "Thai", "Lao", "Khmer", "Myanmar")
# In addition to the scripts: the prolonged sound marks, the closing mark and the kana repeat marks,
# which Unicode assigns to several scripts. Digits of Thai and its neighbours are digits like
# others.
_LETTER = (
    "[["
    + "".join(rf"\p{{{script}}}" for script in _SCRIPTS)
    + r"\u30fc\uff70\u3006\u3031-\u3035]--\p{Nd}]"
)
_SPACED = rf"[[\p{{L}}\p{{M}}\p{{N}}\u200c\u200d]--{_LETTER}]"
# Signs inside words: Wi-Fi, 3.5, U.S., http://a.b/c_d; between digits 3,000 and 12:30.
_CONNECTOR = r"(?:://|[-\u2010\u2011.'’_/@&+]|(?<=\p{Nd})[,:](?=\p{Nd}))"
_WORD = regex.compile(
    rf"(?={_LETTER})\X"
    rf"|{_SPACED}+(?:{_CONNECTOR}{_SPACED}+)*"
    r"|(\p{P})\1*"  # …… and —— and ...
    rf"|{CHARACTER}",
    regex.VERSION1,
)
_WIDE = (
    rf"(?:{_LETTER}|[[\u3000-\u303f\u30a0\u30fb\ufe10-\ufe1f\ufe30-\ufe4f\uff01-\uff65]"
    r"--\p{L}--\p{N}])"
)
_WIDE_BEGIN = regex.compile(_WIDE, regex.VERSION1)
_WIDE_END = regex.compile(rf"{_WIDE}[\p{{M}}\u200c\u200d\uff9e\uff9f]*\Z", regex.VERSION1)
_LETTERS = regex.compile(rf"[{_LETTER}--\p{{M}}]", regex.VERSION1)
_SPACES_INSIDE = regex.compile(rf"(?<={_WIDE})\s+(?={_WIDE})", regex.VERSION1)
_OPENS = regex.compile(r"[\p{Ps}\p{Pi}\p{Sc}¿¡]+")
_CLOSES = regex.compile(r"[\p{Pe}\p{Pf}.,;:!?%‰°℃℉…]+")
# Signs that scripts without spaces share with others, and write without spaces around them.
_SHARED_SIGN = regex.compile(r"[“”‘’…—–·]+")
_LINKS = ("-", "~", "/", "+", "=", "&")
_STRAIGHT_QUOTES = ('"', "'")

_SAMPLE = 2000
_TELLING_LETTERS = 6
_LETTERS_PER_SPACE = 8
_LONGEST_MEAN = 25  # characters of a word; no language has as long ones


def is_unspaced(lang: str) -> bool:
    """Whether a language is written without spaces between words (Chinese, Japanese, Thai, …).

    Args:
        lang: language code, with or without a region or script: `zh`, `zh_TW`, `zho_Hant`.
    """
    return plain_language(lang) in _LANGUAGES


def is_chinese(lang: str) -> bool:
    """Whether a language is one of the Chinese ones.

    Args:
        lang: as of :func:`is_unspaced`.
    """
    return plain_language(lang) in _CHINESE


def split_characters(text: str) -> list[str]:
    """Every character of a script without spaces as a word; also splits other words, numbers,
    signs.

    Characters are grapheme clusters, so that a Thai vowel stays with its consonant. Words of other
    scripts keep the signs inside them (`Wi-Fi`, `3.5`); a repeated sign (`……`) is one word. Only
    spaces change.

    Args:
        text: a cleaned line.
    """
    return [match.group() for word in text.split() for match in _WORD.finditer(word)]


def join_characters(words: Sequence[str]) -> str:
    """The text of words in a script without spaces; spaces between words of other scripts are kept.

    Spaces of the text next to a character of such a script are lost.

    Args:
        words: from :func:`split_characters`, or longer words of the same scripts.
    """
    unspaced = any(_LETTERS.search(word) for word in words)
    tight = [_takes_no_space(word, unspaced) for word in words]
    for i, word in enumerate(words):
        if word in _LINKS:  # 512年-511年
            beside = (*tight[max(i - 1, 0) : i], *tight[i + 1 : i + 2])
            tight[i] = (any(left or right for left, right in beside),) * 2
    text = ""
    opened: set[str] = set()  # straight quotes that wait for their partner
    glued = True  # the next word follows without a space
    for word, (before, after) in zip(words, tight):
        closing = word in opened
        if not (glued or closing or before):
            text += " "
        text += word
        glued = after
        if closing:
            opened.remove(word)
        elif word in _STRAIGHT_QUOTES:
            opened.add(word)
            glued = True
    return text


def looks_segmented(lines: Iterable[str]) -> bool:
    """Whether text in a script without spaces is already split into words.

    A line counts as split if it has at least one space for every eight letters. Thai has spaces
    between phrases, but fewer.

    Args:
        lines: raw text; no more than 2,000 lines of six letters or more in such scripts are read.
    """
    telling = (line for line in lines if len(_LETTERS.findall(line)) >= _TELLING_LETTERS)
    votes = [
        len(_SPACES_INSIDE.findall(line)) * _LETTERS_PER_SPACE >= len(_LETTERS.findall(line))
        for line in islice(telling, _SAMPLE)
    ]
    return sum(votes) * 2 > len(votes)


def lacks_spaces(lines: Iterable[str]) -> bool:
    """Whether most lines have no spaces between words: their script has none, or they were lost.

    Args:
        lines: text; no more than 2,000 lines are read.
    """
    sample = list(islice(filter(str.strip, lines), _SAMPLE))
    in_such_scripts = sum(_LETTERS.search(line) is not None for line in sample)
    if in_such_scripts * 2 > len(sample):
        return not looks_segmented(sample)
    words = [word for line in sample for word in line.split()]
    return sum(map(len, words)) > _LONGEST_MEAN * len(words)


def _takes_no_space(word: str, unspaced: bool) -> tuple[bool, bool]:
    """Whether a word takes no space before it, and none after it.

    Args:
        unspaced: the line holds letters of a script without spaces.
    """
    if unspaced and _SHARED_SIGN.fullmatch(word):
        return True, True
    before = _CLOSES.fullmatch(word) is not None
    after = _OPENS.fullmatch(word) is not None
    if word.isascii():
        return before, after
    return (
        before or _WIDE_BEGIN.match(word) is not None,
        after or _WIDE_END.search(word) is not None,
    )
