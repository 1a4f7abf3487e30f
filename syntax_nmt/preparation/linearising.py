"""The texts of `prepare --linearised` and `--interleave`: parses beside, in place of, or as the
translation, and translations with a tag before each word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from syntax_nmt.data.annotation.columns import Column
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.linearised import (
    PARSE,
    TRANSLATE,
    Form,
    escape,
    interleaved,
    is_symbol,
    linearised,
)
from syntax_nmt.data.linearised_folder import (
    MIXED,
    MULTITASK,
    PARSED_SOURCE,
    WITH_SYMBOLS,
    option_of,
)
from syntax_nmt.data.subwords import OPENER
from syntax_nmt.data.text_files import read_lines, write_atomically
from syntax_nmt.data.word_annotation import WordAnnotation, zip_checked
from syntax_nmt.text.languages import SOURCE, TARGET

POSITIONS = 1024
"""fairseq's default of `--max-source-positions` and `--max-target-positions`."""
_NAMED = 5  # lines that are too long


@dataclass(frozen=True)
class Linearising:
    """How parses become text.

    Attributes:
        mode: one of :data:`~syntax_nmt.data.linearised_folder.MODES`.
        form: of the brackets.
        kind: of the trees: constituents or dependencies.
        weight: how often a parse stands in the training text of `multitask`.
        max_positions: the most tokens that a model takes on each side, EOS included.
        column: in the mode `interleaved`, whose values are the tags.
    """

    mode: str
    form: Form
    kind: AnnotationKind
    weight: int = 1
    max_positions: tuple[int, int] = (POSITIONS, POSITIONS)
    column: Column | None = None

    @property
    def option(self) -> str:
        """The option of `prepare`, as it is typed."""
        return " ".join([option_of(self.mode), *([self.column.column] if self.column else [])])

    @property
    def side(self) -> str:
        """Which language is parsed."""
        return TARGET if self.mode in WITH_SYMBOLS else SOURCE

    def needs_trees(self, split: str) -> bool:
        """Whether brackets stand in the text of a split: models are chosen by translation."""
        if self.mode == PARSED_SOURCE:
            return True
        return split == "train" or (self.mode in WITH_SYMBOLS and split.startswith("valid"))

    def settings(self) -> list[Any]:
        """What the text depends on, besides words and trees."""
        form, column = self.form, [] if self.column is None else [self.column.column]
        of_trees = [form.words, form.labels, form.closing, self.kind.name, self.weight]
        return [self.mode, *of_trees, *column]

    def pairs(self, source: str, target: str, parse: str | None) -> Iterator[tuple[str, str]]:
        """The lines that are made of a sentence pair.

        Args:
            parse: None = there is none, or it is not wanted.
        """
        if self.mode == MULTITASK:
            yield f"{TRANSLATE} {source}".strip(), target
            for _ in range(self.weight if parse else 0):
                yield f"{PARSE} {source}", parse or ""
        elif self.mode == MIXED:
            yield source, target
            if parse:
                yield parse, target
        elif self.mode == PARSED_SOURCE:
            yield parse or source, target
        else:
            yield source, parse or target


def linearise_split(
    how: Linearising,
    words: tuple[Path, Path],
    trees: WordAnnotation | None,
    outputs: tuple[Path, Path],
) -> Counter[str]:
    """Writes both sides of a split.

    Args:
        words: of source and target.
        trees: of the parsed side; None = the split has no brackets.
        outputs: of source and target.

    Returns:
        Counts: `pairs` that were read, `lines` that were written, `unparsed` pairs among those
        that trees were wanted of.
    """
    streams: dict[str, Iterator[Any]] = {
        str(path): (line.split() for line in read_lines(path)) for path in words
    }
    if trees is not None:
        streams[str(trees.file)] = trees.entries()
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        files = [stack.enter_context(write_atomically(path)) for path in outputs]
        for number, (source, target, *entry) in zip_checked(streams):
            parse = None
            if trees is not None:
                parsed = source if how.side == SOURCE else target
                parse = _parse_text(how, trees.kind, entry[0], parsed, number)
                counts["unparsed"] += parse is None
            texts = [" ".join(map(escape, line)) for line in (source, target)]
            counts["pairs"] += 1
            for pair in how.pairs(texts[0], texts[1], parse):
                counts["lines"] += 1
                for file, line in zip(files, pair):
                    file.write(f"{line}\n")
    return counts


def _parse_text(
    how: Linearising, kind: AnnotationKind, entry: Any, words: list[str], number: int
) -> str | None:
    """The tree of an entry over a line's words, or these with their tags; None = no tree."""
    place, content = entry
    found = kind.format.read(content, words, place, f"sentence {number}") if words else None
    if found is None:
        return None
    if how.column is not None:
        return interleaved(words, how.column.values(found.annotation))
    return linearised(replace(found.annotation, words=tuple(words)), how.form)


@dataclass
class Lengths:
    """The lengths of a split's lines in tokens, EOS included.

    Attributes:
        tokens: as fairseq counts those of a batch, the longer side of each pair.
        plain: those of pairs without brackets, the translations of typed text.
        too_long: by side, the numbers of lines that models do not take, from 1.
    """

    tokens: int = 0
    plain: int = 0
    too_long: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))

    @classmethod
    def of(cls, pieces: tuple[Path, Path], how: Linearising) -> Lengths:
        """Reads both sides of a split, in tokens."""
        found = cls()
        for number, pair in enumerate(zip(*map(read_lines, pieces)), start=1):
            lengths = [len(line.split()) + 1 for line in pair]
            found.tokens += max(lengths)
            found.plain += max(lengths) * _is_plain(pair[0])
            for length, most, numbers in zip(lengths, how.max_positions, found.too_long):
                if length > most:
                    numbers.append(number)
        return found

    def notes(self, pieces: tuple[Path, Path], how: Linearising) -> Iterator[str]:
        """Names the lines that are too long."""
        sides = zip((SOURCE, TARGET), pieces, how.max_positions, self.too_long)
        for side, path, most, numbers in sides:
            if numbers:
                named = ", ".join(f"{number}" for number in numbers[:_NAMED])
                more = f" and {len(numbers) - _NAMED:,} more" if len(numbers) > _NAMED else ""
                yield (
                    f"{path}: {len(numbers):,} lines have more tokens than --max-{side}-positions "
                    f"{most}, and fairseq leaves them out: lines {named}{more}: train with a "
                    "larger number, or give shorter text"
                )

    def note_of_updates(self, max_tokens: int) -> str:
        """How many updates of so many tokens a pass over the translations takes."""
        updates, plain = (-(-tokens // max_tokens) for tokens in (self.tokens, self.plain))
        return (
            f"an epoch of translation takes about {updates:,} updates of {max_tokens:,} tokens, "
            f"{plain:,} without parses: to see each translation as often as without them, train "
            f"with {updates / max(1, plain):.2f} times the updates"
        )


def _is_plain(source: str) -> bool:
    """Whether a source line, in tokens, is one of a translation without brackets."""
    symbols = (token.removeprefix(OPENER) for token in source.split())
    return all(token == TRANSLATE or not token or not is_symbol(token) for token in symbols)
