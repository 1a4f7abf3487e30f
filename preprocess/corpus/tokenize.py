"""Raw text to words, line by line, in parallel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from syntax_nmt.data.text_files import NEWLINE_ONLY, read_lines, write_atomically
from syntax_nmt.data.tokenizer import WordTokenizer
from syntax_nmt.preprocess.annotation.executor import Workers, ordered_results

_CHUNK = 5000


class _Chunk(NamedTuple):
    mode: str
    lang: str
    lines: list[str]


def tokenize_file(raw: Path, words: Path, mode: str, lang: str, workers: Workers) -> Counter[str]:
    """Cuts a raw text into words, one line for one line.

    Args:
        raw: UTF-8 text; may be `.gz`.
        words: the file to write.
        mode: of the :class:`~syntax_nmt.data.tokenizer.WordTokenizer`.
        lang: language code.
        workers: where the work runs.

    Returns:
        Counts: `lines`, `words`, `empty` lines, and the characters replaced by cleaning: `space`,
        `invisible`, `mark`.

    Raises:
        UserError: for text that cannot be read.
    """
    counts: Counter[str] = Counter()
    tasks = _chunks(raw, mode, lang)
    with (
        write_atomically(words) as out,
        tqdm(desc=f"words of {raw.name}", unit="line", unit_scale=True, disable=None) as bar,
    ):
        for lines, counted in ordered_results(workers, _tokenize, tasks):
            out.writelines(f"{line}\n" for line in lines)
            counts.update(counted)
            bar.update(len(lines))
    return counts


def _chunks(raw: Path, mode: str, lang: str) -> Iterator[_Chunk]:
    lines = read_lines(raw, NEWLINE_ONLY)
    while chunk := list(islice(lines, _CHUNK)):
        yield _Chunk(mode, lang, chunk)


def _tokenize(chunk: _Chunk) -> tuple[list[str], Counter[str]]:
    tokenizer = _tokenizer(chunk.mode, chunk.lang)
    counts: Counter[str] = Counter()
    lines = [tokenizer.tokenize(line, counts) for line in chunk.lines]
    counts.update(lines=len(lines), words=sum(len(line.split()) for line in lines))
    counts.update(empty=lines.count(""))
    return lines, counts


@lru_cache(maxsize=4)
def _tokenizer(mode: str, lang: str) -> WordTokenizer:
    return WordTokenizer(mode, lang)
