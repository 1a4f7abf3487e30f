"""Joins the parts of a parallel corpus and leaves out what is unfit for training; streams.

Lines are split into words only where bounds of their number cannot decide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple, TextIO

from syntax_nmt.data.text_files import read_lines, write_atomically
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.word_tokenizer import WordTokenizer, default_mode
from syntax_nmt.progress import Progress
from syntax_nmt.text.cleaning import clean_line
from syntax_nmt.text.unspaced import is_unspaced

# Of Chinese and Japanese; where words are not marked off, their number is estimated.
CHARACTERS_PER_WORD = 1.7
# Modes that split what is written without spaces; where there are spaces, these count instead.
_SEGMENTERS = ("char", "stanza")
_SPLITTER = re.compile(r"[^A-Za-z0-9 ]")


class Length:
    """The number of words of a line: two bounds, which are cheap, and the number itself.

    Args:
        least: a number of words that the line has at least.
        count: counts them; called only if the number itself is asked for.

    Attributes:
        least: as given.
        most: as given.
    """

    def __init__(self, least: float, most: float, count: Callable[[], float]) -> None:
        self.least = least
        self.most = most
        self._count = count

    @cached_property
    def exact(self) -> float:
        """The number of words."""
        return self._count()

    def exceeds(self, limit: float) -> bool:
        """Whether there are more words than a limit.

        Args:
            limit: number of words.
        """
        if self.most <= limit:
            return False
        return self.least > limit or self.exact > limit

    def is_over_times(self, other: Length, ratio: float) -> bool:
        """Whether there are more words than `ratio` times those of another line.

        Args:
            other: the other line's length; not zero.
        """
        if self.most <= ratio * other.least:
            return False
        return self.least > ratio * other.most or self.exact > ratio * other.exact


class Measure:
    """Measures lines of one language in words, as `syntax-nmt prepare` will tokenise them.

    Text of a language written without spaces is measured in characters,
    :data:`CHARACTERS_PER_WORD` of them to a word, unless the mode says that it is split already.

    Args:
        lang: language code.
        mode: tokeniser mode of `syntax-nmt prepare`, or None for the language's default.

    Raises:
        UserError: for an unknown mode.
    """

    def __init__(self, lang: str, mode: str | None = None) -> None:
        mode = mode or default_mode(lang)
        if mode in _SEGMENTERS:
            mode = "char" if is_unspaced(lang) else default_mode(lang)
        self._tokenizer = None if mode == "char" else WordTokenizer(mode, lang)

    def length(self, line: str) -> Length:
        """The length of a line, in words.

        Args:
            line: one line of raw text.
        """
        # What lies between spaces is split further, but never joined.
        chunks = clean_line(line).split()
        characters = sum(map(len, chunks))
        if self._tokenizer is None:
            words = characters / CHARACTERS_PER_WORD
            return Length(words, words, lambda: words)
        if self._tokenizer.mode == "none":
            return Length(len(chunks), len(chunks), lambda: len(chunks))
        # Around characters other than letters and digits a word may begin and end; `cannot` and its
        # like are two words.
        text = " ".join(chunks)
        most = 2 * len(chunks) + 2 * len(_SPLITTER.findall(text))
        return Length(len(chunks), min(characters, most), lambda: len(self.words(line).split()))

    def words(self, line: str) -> str:
        """The words of a line, separated by single spaces.

        Args:
            line: one line of raw text.
        """
        return line if self._tokenizer is None else self._tokenizer.tokenize(line)


REASONS = {
    "empty": "empty on one side or both",
    "held": "test pairs",
    "long": "over the length limit",
    "ratio": "over the ratio of lengths",
}


class Pair(NamedTuple):
    """One line of both sides."""

    source: str
    target: str


@dataclass(frozen=True)
class Filter:
    """What a pair must be like to be kept.

    Attributes:
        source: measures the source side.
        target: measures the target side.
        max_words: longest side in words; None for any length.
        max_ratio: the longer side may have this many times the words of the shorter; None for any.
        held: pairs, as :func:`fingerprint` gives them, that are not to be trained on.
    """

    source: Measure
    target: Measure
    max_words: int | None = None
    max_ratio: float | None = None
    held: frozenset[tuple[str, str]] = frozenset()

    def reason(self, pair: Pair) -> str | None:
        """Why a pair is left out: one of :data:`REASONS`, or None where it is kept."""
        source, target = self.source.length(pair.source), self.target.length(pair.target)
        if source.most == 0 or target.most == 0:
            return "empty"
        if self.held and fingerprint(pair) in self.held:
            return "held"
        limit, ratio = self.max_words, self.max_ratio
        if limit is not None and (source.exceeds(limit) or target.exceeds(limit)):
            return "long"
        if ratio is not None and (
            source.is_over_times(target, ratio) or target.is_over_times(source, ratio)
        ):
            return "ratio"
        return None


def fingerprint(pair: Pair) -> tuple[str, str]:
    """What is the same for a pair however its words are tokenised: no spaces, no case."""
    source, target = ("".join(line.split()).casefold() for line in pair)
    return source, target


def read_pairs(source: Path, target: Path) -> Iterator[Pair]:
    """The pairs of one part.

    Args:
        source: its source side, plain or `.gz`.
        target: its target side, likewise.

    Raises:
        UserError: a file cannot be read, is not UTF-8, or has more lines than the other.
    """
    sides = [read_lines(path) for path in (source, target)]
    for common, lines in enumerate(zip_longest(*sides)):
        if None in lines:
            more = [(line is not None) + sum(1 for _ in side) for line, side in zip(lines, sides)]
            raise UserError(
                f"{source} has {common + more[0]:,} lines and {target} has "
                f"{common + more[1]:,}: they are not parallel; fetch them again"
            )
        yield Pair(*lines)


@dataclass
class Counts:
    """The pairs of all parts.

    Attributes:
        by_part: those of each part.
        kept: those that are held out included.
        left_out: by reason.
    """

    by_part: list[int] = field(default_factory=list)
    kept: int = 0
    held_out: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class CleanCorpus:
    """What is kept of a parallel corpus, and where it is written.

    Attributes:
        languages: of source and target.
        output: prefix of the files to write.
        wanted: which pairs are kept.
        lowercase: the sides that are written in lower case, of 0 and 1.
        words: of each side, to write words in place of the text; None = the text.
        hold_out: N and a prefix: every Nth pair that is kept goes there instead; None = none.
    """

    languages: tuple[str, str]
    output: str
    wanted: Filter
    lowercase: Sequence[int] = ()
    words: Sequence[Measure] | None = None
    hold_out: tuple[int, str] | None = None

    def write(self, parts: Sequence[tuple[Path, Path]]) -> Counts:
        """Writes the files.

        Args:
            parts: source and target.

        Returns:
            what was kept, and what not.

        Raises:
            UserError: parts are not parallel or cannot be read, or nothing is left.
        """
        counts = Counts()
        every, prefix = self.hold_out or (0, "")
        with ExitStack() as stack:

            def output(prefix: str) -> list[TextIO]:
                names = (Path(f"{prefix}.{lang}") for lang in self.languages)
                return [stack.enter_context(write_atomically(name)) for name in names]

            kept = output(self.output)
            held_out = output(prefix) if every else kept
            for source, target in parts:
                counts.by_part.append(0)
                pairs = Progress(read_pairs(source, target), source.name, "pairs")
                for pair in pairs:
                    counts.by_part[-1] += 1
                    reason = self.wanted.reason(pair)
                    if reason is not None:
                        counts.left_out[reason] += 1
                        continue
                    counts.kept += 1
                    if every and counts.kept % every == 0:
                        counts.held_out += 1
                        self._write_pair(held_out, pair)
                    else:
                        self._write_pair(kept, pair)
            if counts.kept == counts.held_out:
                raise UserError(f"nothing is left of {parts[0][0]} and the other parts")
        return counts

    def _write_pair(self, files: Sequence[TextIO], pair: Pair) -> None:
        for side, (file, line) in enumerate(zip(files, pair)):
            text = line if self.words is None else self.words[side].words(line)
            file.write((text.lower() if side in self.lowercase else text) + "\n")
