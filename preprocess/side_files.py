"""Annotation that lies beside the raw text, taken along when it fits the words."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from syntax_nmt.data.chunks import read_chunks
from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.data.constituents import read_trees
from syntax_nmt.data.text_files import NEWLINE_ONLY, find_text, read_lines, write_atomically
from syntax_nmt.data.text_match import check_same_text
from syntax_nmt.errors import UserError


def find_side_file(raw_prefix: str, lang: str, kind: str) -> Path | None:
    """The annotation beside a raw text, `PREFIX.LANG.KIND` with or without `.gz`.

    Args:
        raw_prefix: path of the raw text up to the language.
        lang: language code.
        kind: `conllu`, `trees` or `chunks`.
    """
    return find_text(f"{raw_prefix}.{lang}.{kind}")


def check_side_file(side: Path, kind: str, words: Path) -> None:
    """Checks that an annotation has one entry a line of a text and that the words are the same.

    Args:
        side: the annotation.
        kind: `conllu`, `trees` or `chunks`.
        words: the text.

    Raises:
        UserError: names the line where they part.
    """
    missing = object()
    pairs = zip_longest(read_lines(words, NEWLINE_ONLY), _READERS[kind](side), fillvalue=missing)
    for number, (line, entry) in enumerate(pairs, start=1):
        if line is missing or entry is missing:
            longer, shorter = (side, words) if line is missing else (words, side)
            raise UserError(f"{longer} has more lines than {shorter}, which ends before {number}")
        if entry is None:
            continue
        where, corpus = f"{side}, sentence {number}", f"{words}:{number}"
        text = str(line).split()
        if isinstance(entry, int):
            if entry != len(text):
                raise UserError(f"{where}: {entry} words, but {corpus} has {len(text)}")
        else:
            check_same_text(text, entry, where, corpus)


def copy_side_file(side: Path, destination: Path) -> None:
    """Copies an annotation, decompressed.

    Args:
        side: the file, plain or `.gz`.
        destination: the new file, there only once it is whole.
    """
    with (
        (
            gzip.open(side, "rt", encoding="utf-8", newline="")
            if side.suffix == ".gz"
            else open(side, encoding="utf-8", newline="")
        ) as source,
        write_atomically(destination) as out,
    ):
        shutil.copyfileobj(source, out)


def _conllu_words(path: Path) -> Iterator[Sequence[str] | int | None]:
    for tree in read_conllu(path):
        yield None if tree is None else tree.words


def _tree_words(path: Path) -> Iterator[Sequence[str] | int | None]:
    for tree in read_trees(path):
        yield None if tree is None else tree.words


def _chunk_count(path: Path) -> Iterator[Sequence[str] | int | None]:
    """Chunks come without words: only their number can be compared."""
    for chunks in read_chunks(path):
        yield None if chunks is None else chunks[-1].end


_READERS: dict[str, Callable[[Path], Iterator[Sequence[str] | int | None]]] = {
    "conllu": _conllu_words,
    "trees": _tree_words,
    "chunks": _chunk_count,
}
