"""From a segmented line to the pieces of each word.

Two conventions are supported: sentencepiece (`▁` begins a word) and subword-nmt (`@@` at the end
of a piece says that the word continues). A piece belongs to exactly one word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from syntax_nmt.errors import UserError

if TYPE_CHECKING:  # scoring starts without fairseq
    from fairseq.data import Dictionary

SENTENCEPIECE: Final = "sentencepiece"
SUBWORD_NMT: Final = "subword-nmt"
NO_SUBWORDS: Final = "none"
SCHEMES: Final = (SENTENCEPIECE, SUBWORD_NMT, NO_SUBWORDS)

OPENER = "▁"
_BYTE = re.compile("<0x[0-9A-F]{2}>")  # of a character that sentencepiece does not know
CONTINUED = "@@"
_LINES_LOOKED_AT = 100_000


def detect_scheme(lines: Iterable[str]) -> str:
    """Detects which of :data:`SCHEMES` segmented a text.

    sentencepiece marks every word, so most lines contain a piece that begins with `▁`; otherwise
    any piece that ends with `@@` indicates subword-nmt. Single words that look like marked pieces
    (a stray `▁`) therefore do not mislead.

    Args:
        lines: the segmented text; no more than the first 100,000 are read.
    """
    opened = filled = 0
    continued = False
    for line in islice(lines, _LINES_LOOKED_AT):
        pieces = line.split()
        filled += bool(pieces)
        opened += any(piece.startswith(OPENER) for piece in pieces)
        continued = continued or any(piece.endswith(CONTINUED) for piece in pieces)
    if opened * 2 > filled:
        return SENTENCEPIECE
    return SUBWORD_NMT if continued else NO_SUBWORDS


_FEW_CUT = 20  # a text is in pieces if more than one line of this number has cut words


def scheme_of_text(lines: Sequence[str]) -> str:
    """Detects the scheme of a text that may be raw, in which a few words may end in `@@`."""
    scheme = detect_scheme(lines)
    if scheme != SUBWORD_NMT:
        return scheme
    cut = sum(f"{CONTINUED} " in line for line in lines)
    return SUBWORD_NMT if cut * _FEW_CUT > len(lines) else NO_SUBWORDS


# One marked entry of a vocabulary in this number indicates a scheme; stray marks are fewer.
_MARKED_SHARE = 100


def vocabulary_scheme(dictionary: Dictionary) -> str:
    """Detects which of :data:`SCHEMES` segmented the text of a vocabulary."""
    symbols = dictionary.symbols[dictionary.nspecial :]
    opened = sum(symbol.startswith(OPENER) for symbol in symbols)
    continued = sum(symbol.endswith(CONTINUED) for symbol in symbols)
    if max(opened, continued) * _MARKED_SHARE <= len(symbols):
        return NO_SUBWORDS
    return SENTENCEPIECE if opened >= continued else SUBWORD_NMT


class PieceMarks(NamedTuple):
    """The properties of dictionary entries that the rules of :func:`pieces_per_word` need.

    Attributes:
        marked: begins with `▁`.
        filled: also has letters.
        over: has a `▁` after its letters, so that it crosses a word's end.
        continued: ends with `@@`, so that the next piece belongs to the same word.
    """

    marked: np.ndarray
    filled: np.ndarray
    over: np.ndarray
    continued: np.ndarray


def piece_marks(pieces: Sequence[str]) -> PieceMarks:
    """The marks of a dictionary's entries, (entries,) each.

    Args:
        pieces: the entries in the order of their ids.
    """
    letters = [piece.lstrip(OPENER) for piece in pieces]
    return PieceMarks(
        marked=np.array([piece.startswith(OPENER) for piece in pieces]),
        filled=np.array([bool(rest) for rest in letters]),
        over=np.array([OPENER in rest for rest in letters]),
        continued=np.array([x.endswith(CONTINUED) and x != CONTINUED for x in pieces]),
    )


def pieces_per_word(pieces: Sequence[str], scheme: str, where: str) -> list[int]:
    """The number of pieces of each word of a line; the numbers add up to `len(pieces)`.

    Args:
        pieces: the segmented line.
        scheme: one of :data:`SCHEMES`.
        where: file and line, for messages.

    Raises:
        UserError: a sentencepiece piece crosses a word's end.
    """
    if scheme == NO_SUBWORDS:
        return [1] * len(pieces)
    if scheme == SUBWORD_NMT:
        return _subword_nmt(pieces)
    return _sentencepiece(pieces, where)


def _subword_nmt(pieces: Sequence[str]) -> list[int]:
    counts: list[int] = []
    inside = False
    for piece in pieces:
        if inside:
            counts[-1] += 1
        else:
            counts.append(1)
        inside = piece.endswith(CONTINUED) and piece != CONTINUED
    return counts


def _sentencepiece(pieces: Sequence[str], where: str) -> list[int]:
    counts: list[int] = []
    inside = False  # the last word has letters, so that the next `▁` begins another
    for piece in pieces:
        letters = piece.lstrip(OPENER)
        if OPENER in letters:
            raise UserError(
                f"{where}: the piece {piece!r} reaches over the end of a word: train "
                f"sentencepiece with --split_by_whitespace and without "
                f"--treat_whitespace_as_suffix, or give --subwords if this is not sentencepiece"
            )
        opens = piece.startswith(OPENER)
        if not counts or (opens and inside):
            counts.append(1)
            inside = False
        else:
            counts[-1] += 1
        inside = inside or bool(letters)
    if len(counts) > 1 and not inside:  # a lone ▁ at the end begins no word
        lone = counts.pop()
        counts[-1] += lone
    return counts


def _with_characters(pieces: Sequence[str]) -> Iterator[str]:
    """Pieces of sentencepiece in which characters stand for their bytes (`<0xC3>` `<0xA9>` for é).

    What is no UTF-8 becomes U+FFFD, and so does a space or line end, which no word has.
    """
    for in_bytes, group in groupby(pieces, key=lambda piece: _BYTE.fullmatch(piece) is not None):
        if in_bytes:
            text = bytes(int(piece[3:5], 16) for piece in group).decode(errors="replace")
            yield re.sub(r"\s", "\ufffd", text)
        else:
            yield from group


def join_pieces(pieces: Sequence[str], counts: Sequence[int], scheme: str) -> list[str]:
    """The words of a segmented line; bytes of sentencepiece become the characters that they spell.

    Args:
        pieces: the segmented line.
        counts: the number of pieces of each word, from :func:`pieces_per_word`.
        scheme: one of :data:`SCHEMES`.
    """
    words = []
    start = 0
    for count in counts:
        parts = pieces[start : start + count]
        start += count
        if scheme == SENTENCEPIECE:
            word = "".join(parts)
            if "<0x" in word:
                word = "".join(_with_characters(parts))
            words.append(word.replace(OPENER, ""))
        elif scheme == SUBWORD_NMT:
            joined = "".join(part[: -len(CONTINUED)] for part in parts[:-1])
            words.append(joined + parts[-1])
        else:
            words.append(parts[0])
    return words
