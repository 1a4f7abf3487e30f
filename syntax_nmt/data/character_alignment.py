"""Two tokenisations of one sentence, aligned by their characters.

Annotation has the words of a treebank or a parser, and the corpus has other tokens: `don't` against
`do n't`, `well-known` against `well @-@ known`, `'` against `&apos;`. Both are reduced to the
characters that tokenisers and treebanks never change; then characters at the same position belong
together.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import NamedTuple
from unicodedata import combining

import regex

from syntax_nmt.data.constituents import PENN_BRACKETS
from syntax_nmt.text.cleaning import MOSES_ESCAPES

# Several characters that represent one: escapes and joints of Moses and XML, Penn's brackets and
# slashes. Searched in the whole sentence, because a tokeniser may split an escape.
_ESCAPE = re.compile(
    "|".join(MOSES_ESCAPES) + r"|&#[0-9]{1,7};|@([^\w\s]|_)@|-[LR][RSC]B-|\\([/*])"
)
_ESCAPED = {**MOSES_ESCAPES, **PENN_BRACKETS}
# A double quote is two single ones, as Penn writes it (`` and ''); every dash is a hyphen. Turkish
# lowercases I to ı and İ to i, other rules do not.
_SPELLED = {
    **dict.fromkeys('"“”„‟«»″〝〞״', "''"),
    **dict.fromkeys("'`´‘’‚‛′ʼ׳", "'"),
    **dict.fromkeys("-‐‑‒–—―−﹣-", "-"),
    "⁄": "/",
    **dict.fromkeys("ıİ", "i"),
    "ـ": "",  # tatweel, which stretches Arabic words
}
_POINTED = ("ARABIC", "HEBREW")  # scripts whose text has vowel points or not
_DOT_ABOVE = "\u0307"  # which İ leaves behind an i in other languages' lowercase
_PUNCTUATION = regex.compile(r"[^\p{L}\p{N}\p{M}]+")
_MARKS = regex.compile(r"[^\p{L}\p{N}\p{M}]*")
# Runs of punctuation with more pairs of characters (drawings in text) are aligned at their ends.
_LARGEST_TABLE = 10_000


class Spelling(NamedTuple):
    """The characters of a sentence that do not differ between tokenisers.

    Attributes:
        characters: those of all words, concatenated.
        words: the word of each character.
    """

    characters: str
    words: list[int]


def align_by_characters(words: Sequence[str], tokens: Sequence[str]) -> list[int] | None:
    """The token that each word belongs to: the one with its first character.

    Case, width, coding of accents, vowel points, escapes, kinds of quotes and dashes do not count.
    If the characters differ only in punctuation (`U.S.` at the end of a sentence against `U.S.` and
    `.`), letters and digits are aligned, and each run of punctuation between two of them by the
    longest common subsequence; as many marks in both between its members replace one another. A
    word that has none of the text's characters belongs to the token of the previous word, and so
    does a mark that shares its token with letters of that word.

    Args:
        tokens: of the text that gets the annotation.

    Returns:
        indices of tokens, never decreasing; None if letters or digits differ: another sentence.
    """
    if len(words) == len(tokens) and all(map(same_spelling, words, tokens)):
        return list(range(len(words)))
    left, right = spelling(words), spelling(tokens)
    if left.characters == right.characters:
        pairs = list(enumerate(range(len(left.characters))))
    else:
        pairs = _pairs_by_letters(left, right)
    if not pairs:
        return None
    home: dict[int, int] = {}
    letters_of = (-1, -1)  # the token of the last letter, and its word
    for one, other in pairs:
        word, token = left.words[one], right.words[other]
        if not is_punctuation(left.characters[one]):
            letters_of = token, word
        elif token == letters_of[0] and is_punctuation(words[word]):
            token = home[letters_of[1]]
        home.setdefault(word, token)
    aligned = []
    before = 0
    for word in range(len(words)):
        before = home.get(word, before)
        aligned.append(before)
    return aligned


def words_of_tokens(home: Sequence[int], tokens: int) -> list[range]:
    """The words that belong to each token; none for one that continues the previous word.

    Args:
        home: of :func:`align_by_characters`.
        tokens: how many there are.
    """
    bounds = [bisect_left(home, token) for token in range(tokens + 1)]
    return [range(start, end) for start, end in pairwise(bounds)]


def spelling(words: Sequence[str]) -> Spelling:
    """The characters to compare, and the word of each.

    Args:
        words: of one sentence.
    """
    text = "".join(words)
    owners = [index for index, word in enumerate(words) for _ in word]
    while (unescaped := _unescaped(text, owners)) is not None:
        text, owners = unescaped
    characters: list[str] = []
    kept: list[int] = []
    for character, owner in zip(text, owners):
        folded = _folded(character)
        if folded == _DOT_ABOVE and characters and characters[-1] == "i":
            continue
        for part in folded:
            place = len(characters)
            mark = combining(part)  # marks of one letter have an order, by these classes
            while mark and place and combining(characters[place - 1]) > mark:
                place -= 1
            characters.insert(place, part)
            kept.insert(place, owner)
    return Spelling("".join(characters), kept)


def same_spelling(left: str, right: str) -> bool:
    """Whether two words have the same characters, as :func:`align_by_characters` compares them."""
    if left == right:
        return True
    characters = spelling([left]).characters
    return bool(characters) and characters == spelling([right]).characters


def may_continue(token: str, word: str) -> bool:
    """Whether a token is no mark, or one that the word has."""
    return not is_punctuation(token) or spelling([token]).characters in spelling([word]).characters


@lru_cache(maxsize=1 << 16)
def is_punctuation(word: str) -> bool:
    """Whether a word has no letter and no digit, escapes undone."""
    return _MARKS.fullmatch(spelling([word]).characters) is not None


def _unescaped(text: str, owners: list[int]) -> tuple[str, list[int]] | None:
    """Replaces escapes by their characters, which belong to the word where the escape begins."""
    parts: list[str] = []
    kept: list[int] = []
    end = 0
    for match in _ESCAPE.finditer(text):
        character = match[1] or match[2] or _ESCAPED.get(match[0]) or _numbered(match[0])
        parts += [text[end : match.start()], character]
        kept += owners[end : match.start()] + owners[match.start() : match.start() + 1]
        end = match.end()
    if not end:
        return None
    return "".join(parts) + text[end:], kept + owners[end:]


def _numbered(escape: str) -> str:
    number = int(escape[2:-1])
    return chr(number) if number < 0x110000 else "?"


@lru_cache(maxsize=1 << 16)
def _folded(character: str) -> str:
    """A character without case, width and composition; empty for an invisible one, or a point."""
    if unicodedata.category(character) in ("Cc", "Cf") or character.isspace():
        return ""
    if character in _SPELLED:
        return _SPELLED[character]
    plain = unicodedata.normalize("NFKD", character).casefold()
    return "".join(
        _SPELLED.get(part, part) for part in plain if not (part.isspace() or _is_point(part))
    )


def _is_point(character: str) -> bool:
    """Whether it is a mark over or under a letter of a script that is also written without."""
    return unicodedata.category(character) == "Mn" and (
        unicodedata.name(character, "").startswith(_POINTED)
    )


def _pairs_by_letters(left: Spelling, right: Spelling) -> list[tuple[int, int]]:
    """Indices of characters that belong together if only punctuation differs; otherwise none."""
    letters = _PUNCTUATION.sub("", left.characters)
    if letters != _PUNCTUATION.sub("", right.characters):
        return []
    pairs: list[tuple[int, int]] = []
    one = other = 0
    # Every letter or digit follows a possibly empty run of punctuation; another run ends the text.
    for _ in range(len(letters) + 1):
        runs = _run(left.characters, one), _run(right.characters, other)
        ends = one + len(runs[0]), other + len(runs[1])
        common = _common_suffix(*runs)
        # Where a word begins, its letters decide, or punctuation that touches them in the text.
        next_word = left.words[ends[0]] if ends[0] < len(left.words) else None
        touching = ends[1] - common
        between = []
        for a, b, equal in reversed(_counterparts(*runs, common)):
            touching -= other + b == touching - 1
            if left.words[one + a] != next_word or (equal and other + b == touching):
                between.append((one + a, other + b))
        pairs += reversed(between)
        pairs += [(ends[0] - step, ends[1] - step) for step in range(common, -1, -1)]
        one, other = ends[0] + 1, ends[1] + 1
    return pairs[:-1]


def _run(text: str, start: int) -> str:
    """The punctuation that begins at a position; may be empty."""
    match = _MARKS.match(text, start)
    return match[0] if match is not None else ""


def _common_suffix(left: str, right: str) -> int:
    """How many characters two runs share at their ends."""
    backwards = zip(reversed(left), reversed(right))
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], backwards))


def _counterparts(left: str, right: str, suffix: int) -> list[tuple[int, int, bool]]:
    """Indices of the marks of two runs that belong together before their common suffix, and whether
    they are equal; between equal ones, as many marks replace one another in order (`$` for `€`).

    Args:
        suffix: the number of characters at the ends to leave out.
    """
    left, right = left[: len(left) - suffix], right[: len(right) - suffix]
    if not (left and right):
        return []
    found = []
    one = other = 0
    for a, b in [*_common_subsequence(left, right), (len(left), len(right))]:
        if a - one == b - other:
            found += [(one + step, other + step, False) for step in range(a - one)]
        found.append((a, b, True))
        one, other = a + 1, b + 1
    return found[:-1]


def _common_subsequence(left: str, right: str) -> list[tuple[int, int]]:
    """Indices of the longest common subsequence of two runs."""
    if len(left) * len(right) > _LARGEST_TABLE:
        return []
    # lengths[i][j]: of the longest common subsequence of left[i:] and right[j:]
    lengths = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in reversed(range(len(left))):
        for j in reversed(range(len(right))):
            longer = max(lengths[i + 1][j], lengths[i][j + 1])
            lengths[i][j] = lengths[i + 1][j + 1] + 1 if left[i] == right[j] else longer
    pairs = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] == right[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs
