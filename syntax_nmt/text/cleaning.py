"""Lines of text before tokenisation: cleaning, and splitting of English contractions."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

# Modes of tokenisation.
MODES = ("penn", "moses", "char", "stanza", "none")

# Moses's escapes of some characters. `&amp;` is last, for replacement one by one: `&amp;lt;` is the
# text `&lt;`.
MOSES_ESCAPES = {
    "&bar;": "|",
    "&#124;": "|",
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&apos;": "'",
    "&bra;": "[",
    "&#91;": "[",
    "&ket;": "]",
    "&#93;": "]",
    "&amp;": "&",
}

# Python (str.split, and so fairseq and every reader of annotation) treats more characters as the
# end of a word, some even as the end of a line, than tokenisers do.
_SPACES = "\t\v\f\r\n\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# Control characters and invisible marks; not U+200C and U+200D, which spell words in Persian and
# Indic scripts and hold emoji together.
_INVISIBLE = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
)
_WORD_MARK = "\u2581"
_ODD = re.compile(f"(?P<space>[{_SPACES}])|(?P<invisible>[{_INVISIBLE}])|(?P<mark>{_WORD_MARK})")
_REPLACEMENTS = {"space": " ", "invisible": "", "mark": "_"}
_JOINING_NOTHING = re.compile("(?<![^ ])[\u200c\u200d]+")
_NEGATION_ENDS = ("'t", "'T")

_APOSTROPHE = "(?:['’]|&apos;)"
_APART = re.compile(rf"(?<= )(?:n?{_APOSTROPHE}t|{_APOSTROPHE}(?:s|m|re|ve|ll|d))(?![^ ])", re.I)
_JOINED = re.compile(rf"(?<=[a-z]){_APOSTROPHE}(?:t|s|m|re|ve|ll|d)\b", re.I)
# Of the lines with contractions, 0 to 1.1 % have one apart in raw text (Multi30k, NTREX, Tatoeba,
# EWT, technical documents), 99.8 % and more in tokenised text (CoNLL 2000, Tanaka).
_SHARE_APART = 0.1
_FEWEST_APART = 3
LOOKED_AT = 100_000
"""How many lines of a text :func:`contractions_apart` reads, its first ones."""


def clean_line(text: str, counts: Counter[str] | None = None) -> str:
    """The line with every character that could move a word or line boundary replaced.

    Spaces other than U+0020 (no-break, ideographic, tabs, every kind of line break) become a space,
    control and invisible formatting characters are dropped, and U+2581, which sentencepiece marks
    the beginning of a word with, becomes an underscore. Joiners (U+200C, U+200D) are kept, except
    at the beginning of a word, where they would become invisible words. Nothing else changes;
    letters are not normalised.

    Args:
        text: one line, without the newline that ends it.
        counts: adds up how many characters of the kinds `space`, `invisible` and `mark` were
            replaced, those dropped at the beginning of the line among them; spaces at its end (a
            carriage return) are not counted.
    """
    text = text.rstrip()
    if _ODD.search(text) is not None:
        found: Counter[str] = Counter() if counts is None else counts

        def replacement(match: re.Match[str]) -> str:
            kind = match.lastgroup or "space"
            found[kind] += 1
            return _REPLACEMENTS[kind]

        text = _ODD.sub(replacement, text)
    if "\u200c" in text or "\u200d" in text:
        kept = _JOINING_NOTHING.sub("", text)
        if counts is not None and len(kept) < len(text):
            counts["invisible"] += len(text) - len(kept)
        text = kept
    return text.strip(" ")


def penn_negations(words: Sequence[str]) -> list[str]:
    """Splits negations as the Penn Treebank does: `don 't` becomes `do n't`, word for word.

    Args:
        words: words tokenised by Moses; the number of words does not change.
    """
    cut = list(words)
    for i in range(len(cut) - 1):
        word = cut[i]
        if cut[i + 1] in _NEGATION_ENDS and len(word) > 1 and word[-1] in "nN":
            cut[i], cut[i + 1] = word[:-1], word[-1] + cut[i + 1]
    return cut


def moses_negations(words: Sequence[str]) -> list[str]:
    """The inverse of :func:`penn_negations`: `do n't` becomes `don 't`.

    Args:
        words: words tokenised as in the Penn Treebank; the number of words does not change.
    """
    cut = list(words)
    for i in range(len(cut) - 1):
        end = cut[i + 1]
        if end[:1] in ("n", "N") and end[1:] in _NEGATION_ENDS:
            cut[i], cut[i + 1] = cut[i] + end[0], end[1:]
    return cut


def contractions_apart(lines: Iterable[str]) -> list[tuple[int, str]]:
    """The lines of an English text with a contraction apart from its word (`can 't`, `it 's`).

    Tokenised text has them, and cut once more they are other words (`can ' t`).

    Args:
        lines: raw text; no more than :data:`LOOKED_AT` are read.

    Returns:
        The number of each such line, from 1, and its first such words; nothing if they are so few
        beside others (`can't`) that they are mistakes.
    """
    apart, joined = [], 0
    for number, line in enumerate(islice(lines, LOOKED_AT), start=1):
        found = _APART.search(line)
        if found is not None:
            apart.append((number, " ".join(line[: found.end()].split()[-2:])))
        elif _JOINED.search(line) is not None:
            joined += 1
    enough = len(apart) >= max(_FEWEST_APART, _SHARE_APART * (len(apart) + joined))
    return apart if enough else []
