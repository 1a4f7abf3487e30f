"""Tokenises raw text, line by line, in parallel."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from syntax_nmt.data.text_files import read_lines, write_atomically
from syntax_nmt.parsing.word_tokenizer import WordTokenizer
from syntax_nmt.preparation.executor import OrderedMap
from syntax_nmt.progress import Progress

_CHUNK = 5000


class Tokenizer(NamedTuple):
    """What makes a :class:`~syntax_nmt.parsing.word_tokenizer.WordTokenizer`, small enough to send.

    Attributes:
        mode: one of its modes.
        lang: language code.
        segmenter: model of mode `stanza`.
    """

    mode: str
    lang: str
    segmenter: Path | None = None


def tokenize_file(raw: Path, words: Path, tokenizer: Tokenizer, mapped: OrderedMap) -> Counter[str]:
    """Splits a raw text into words, one line for one line.

    Args:
        raw: UTF-8 text; may be `.gz`.
        words: the file to write.
        tokenizer: tokenises lines.
        mapped: runs the work in parallel.

    Returns:
        Counts: `lines`, `words`, `empty` lines, and the characters replaced by cleaning: `space`,
        `invisible`, `mark`; and `fallback`, lines tokenised by `char` in place of the tokeniser's
        mode.

    Raises:
        UserError: for text that cannot be read.
    """
    counts: Counter[str] = Counter()
    unread = read_lines(raw)
    chunks = iter(lambda: list(islice(unread, _CHUNK)), [])
    with (
        write_atomically(words) as out,
        Progress(None, f"words of {raw.name}", "lines") as bar,
    ):
        for lines, counted in mapped(partial(_tokenize, tokenizer), chunks):
            out.writelines(f"{line}\n" for line in lines)
            counts.update(counted)
            bar.update(len(lines))
    return counts


def _tokenize(tokenizer: Tokenizer, raw: Sequence[str]) -> tuple[list[str], Counter[str]]:
    counts: Counter[str] = Counter()
    lines = loaded_tokenizer(tokenizer).tokenize_lines(raw, counts)
    counts.update(lines=len(lines), words=sum(len(line.split()) for line in lines))
    counts.update(empty=lines.count(""))
    return lines, counts


@lru_cache(maxsize=4)
def loaded_tokenizer(tokenizer: Tokenizer) -> WordTokenizer:
    """The tokeniser, which stays in this process.

    Args:
        tokenizer: what makes it.

    Raises:
        UserError: mode, language and model do not go together.
    """
    return WordTokenizer(*tokenizer)
