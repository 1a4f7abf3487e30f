"""Folders of `prepare --linearised` and `--interleave`: their record, and typed text for models.

Both sides of such a folder are texts of :mod:`~syntax_nmt.data.linearised`, in pieces. A symbol is
a piece of its own, which no subword model cuts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from syntax_nmt.data.linearised import TRANSLATE, escape, is_symbol, unescape
from syntax_nmt.data.prepared_text import RECORD
from syntax_nmt.data.subwords import OPENER, SENTENCEPIECE, detect_scheme
from syntax_nmt.data.text_files import read_json
from syntax_nmt.errors import UserError

MULTITASK, MIXED, PARSED_SOURCE, PARSED_TARGET = PARSED = (
    "multitask", "mixed", "source", "target"
)  # fmt: skip
INTERLEAVED = "interleaved"
MODES = (*PARSED, INTERLEAVED)
WITH_SYMBOLS = (PARSED_TARGET, INTERLEAVED)
"""The modes whose translations have symbols."""
KEY = "linearised"
"""The key of the mode, in the report on the data-bin in :data:`~.prepared_text.RECORD`."""


def linearised_mode(folder: Path) -> str | None:
    """One of :data:`MODES`; None = `prepare` wrote no brackets, or did not write the folder.

    Args:
        folder: that holds the data-bin.

    Raises:
        UserError: the record is damaged.
    """
    record = folder / RECORD
    try:
        mode = read_json(record).get("data-bin", {}).get("report", {}).get(KEY)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, AttributeError):
        mode = ""
    if mode is not None and mode not in MODES:
        raise UserError(f"{record}: damaged: run the same `syntax-nmt prepare` line again")
    return mode


def option_of(mode: str) -> str:
    """The option of `prepare` that makes such folders.

    Args:
        mode: one of :data:`MODES`.
    """
    return "--interleave" if mode == INTERLEAVED else f"--linearised {mode}"


def is_symbol_piece(piece: str) -> bool:
    """Whether a piece of sentencepiece's marks is a symbol of a linearised text."""
    return piece.startswith(OPENER) and len(piece) > 1 and is_symbol(piece[1:])


def cut_between_symbols(
    lines: Sequence[str], cut: Callable[[list[str]], Iterable[list[str]]]
) -> Iterator[list[str]]:
    """The pieces of linearised lines.

    Args:
        cut: the pieces of each of some texts without symbols.
    """
    runs = [[(known, [*run]) for known, run in groupby(line.split(), is_symbol)] for line in lines]
    pieces = iter(cut([" ".join(run) for line in runs for known, run in line if not known]))
    for line in runs:
        found: list[str] = []
        for known, run in line:
            found += [OPENER + symbol for symbol in run] if known else next(pieces)
        yield found


def join_between_symbols(lines: Sequence[str]) -> list[str]:
    """Linearised lines of the pieces that a model wrote; others, in words, stay as they are."""
    if detect_scheme(lines) != SENTENCEPIECE:
        return list(lines)
    joined = []
    for line in lines:
        tokens: list[str] = []
        for known, run in groupby(line.split(), is_symbol_piece):
            pieces = list(run)
            tokens += [piece[1:] for piece in pieces] if known else _joined(pieces)
        joined.append(" ".join(tokens))
    return joined


def _joined(pieces: Sequence[str]) -> Iterator[str]:
    return filter(None, "".join(pieces).split(OPENER))


def without_symbols(line: str) -> str:
    """The words of a linearised line as they are cut, with their escapes."""
    return " ".join(token for token in line.split() if not is_symbol(token))


class LinearisedSubwords:
    """The subwords of one side of a linearised folder, with the interface of fairseq's `bpe`.

    Args:
        subwords: fairseq's; None = tokens are words, or the text is in pieces already.
        mode: one of :data:`MODES`.
        ready: lines are tokens of the model already, with escapes; all but the task are theirs.
        in_pieces: the model's tokens have sentencepiece's marks.
        source: lines to encode are of the source, as those typed into a program.
    """

    def __init__(
        self, subwords: Any, mode: str, *, ready: bool, in_pieces: bool, source: bool = True
    ) -> None:
        self._subwords = subwords
        self._mode = mode
        self._ready = ready
        self._in_pieces = in_pieces
        self._source = source

    @property
    def sp(self) -> Any:
        """The sentencepiece model, by fairseq's name; None = there is none."""
        return getattr(self._subwords, "sp", None)

    @property
    def leaves_symbols_out(self) -> bool:
        """Whether a model writes symbols between the words of this side, and lines have none."""
        return not self._source and self._mode in WITH_SYMBOLS

    def encode(self, x: str) -> str:
        """The tokens of a line of words, led by the task for a multi-task model.

        Args:
            x: words without brackets; tokens if the text is ready.

        Raises:
            UserError: the source must be parsed.
        """
        if not self._ready:
            if self._source and self._mode == PARSED_SOURCE:
                raise UserError(
                    "the model reads linearised parses, and typed text has none: prepare the text "
                    "as a test set (--testpref) for fairseq-generate, or give lines in pieces, "
                    "without --bpe and --tokenizer"
                )
            x = " ".join(map(escape, x.split()))
            x = x if self._subwords is None else self._subwords.encode(x)
        if not self._source or self._mode != MULTITASK:
            return x
        task = self._symbol(TRANSLATE)
        led = self._ready and x.split()[:1] and self._is_symbol(x.split()[0])
        return x if led else f"{task} {x}".strip()

    def decode(self, x: str) -> str:
        """The words of tokens, without symbols and escapes; pieces stay pieces if text is ready.

        Args:
            x: the model's tokens, separated by spaces.
        """
        x = " ".join(token for token in x.split() if not self._is_symbol(token))
        if self._ready and self._in_pieces:
            return x
        x = x if self._subwords is None else self._subwords.decode(x)
        return " ".join(map(unescape, x.split()))

    def _symbol(self, symbol: str) -> str:
        return OPENER + symbol if self._in_pieces else symbol

    def _is_symbol(self, token: str) -> bool:
        return is_symbol_piece(token) if self._in_pieces else is_symbol(token)
