"""Controls of annotation files: every entry's structure replaced by one without syntax, and figures
of what stayed the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TextIO

from syntax_nmt.data.annotation import HEADS
from syntax_nmt.data.controls.features import Majority, dummy
from syntax_nmt.data.controls.kinds import (
    BALANCED,
    BORROWED,
    CONTROLLED,
    CONTROLS,
    DUMMY,
    MAJORITY,
    RIGHT,
    SHUFFLED,
    ControlledFeatures,
    ControlledKind,
    IndexedEntries,
    indexed_entries,
)
from syntax_nmt.data.controls.structures import (
    balanced_tree,
    chain,
    draw_lenders,
    right_branching_tree,
    shuffled,
)
from syntax_nmt.data.text_columns import count_text, decimal_text, share_text
from syntax_nmt.data.word_annotation import WordAnnotation, check_attaches_roots
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.findings import Findings, Table
from syntax_nmt.reporting.result import CommandResult

# Makes the new structure from a sentence's number, from 0, and its annotation.
_Make = Callable[[int, Any], Any]
_OF_CONSTITUENTS = {BALANCED: balanced_tree, RIGHT: right_branching_tree}


@dataclass
class ControlFigures(CommandResult):
    """What a control left as it was.

    Attributes:
        control: the kind of control.
        seed: of its draws.
        sentences: that have annotation.
        sentences_without_annotation: that have none, before and after.
        words: of the sentences with annotation.
        lent: structures of other sentences, by how they were fitted.
        before: means and shares of the annotation; None where there is nothing to divide by.
        after: the same of the control.
        same_share: share of words whose annotation is as before.
        alike: what these words have in common before and after.
        file: the annotation file.
    """

    control: str
    seed: int
    sentences: int
    sentences_without_annotation: int
    words: int
    lent: dict[str, int]
    before: dict[str, float | None]
    after: dict[str, float | None]
    same_share: float | None
    alike: str
    file: str

    def findings(self, digits: int = 1) -> Findings:
        """A table of properties before and after; `digits` changes nothing."""
        rows = [
            (name, _cell(name, before), _cell(name, self.after[name]))
            for name, before in self.before.items()
        ]
        rows.append((f"share with {self.alike}", share_text(1.0), share_text(self.same_share)))
        notes = [
            f"{count_text(self.sentences)} sentences, {count_text(self.words)} words; "
            f"{count_text(self.sentences_without_annotation)} sentences without annotation, before "
            "and after"
        ]
        if self.lent:
            lent = ", ".join(f"{count_text(n)} {how}" for how, n in self.lent.items())
            notes.append(f"structures of other sentences: {lent}")
        table = Table(("", "before", "after"), rows)
        return Findings([table], f"{self.file}: {self.control}", notes)


def _cell(name: str, value: float | None) -> str:
    return share_text(value) if "share" in name else decimal_text(value)


def write_control(
    file: Path,
    kind: str,
    output: TextIO,
    seed: int = 1,
    training: Path | None = None,
    attach_roots: bool = False,
) -> ControlFigures:
    """Writes the control of an annotation file; sentences without annotation remain without.

    Args:
        file: a `.conllu`, `.trees` or `.chunks` file, plain or `.gz`.
        kind: one of :data:`~syntax_nmt.data.controls.kinds.CONTROLS`.
        output: an entry for each one of the file, in order.
        seed: of kinds that draw, `shuffled` and `borrowed`.
        training: the `.conllu` file of the training text, for `majority` alone.
        attach_roots: attaches further roots of a parse to its first one with letters, in both
            files.

    Raises:
        UserError: the kind is of other files, a file is malformed or has nothing to borrow, or
            `training` is missing or too much.
    """
    of = _controlled(file)
    check_attaches_roots(file, of.kind, attach_roots)
    takes = CONTROLS[kind]
    if of.kind not in takes:
        raise UserError(
            f"{file}: --kind {kind} is for .{takes[0].ending} files alone: give --kind {BORROWED}"
        )
    if (kind == MAJORITY) != (training is not None):
        raise UserError(
            f"--kind {kind}: --training FILE, the .{HEADS.ending} file of the training text, "
            f"is {'needed' if training is None else f'for --kind {MAJORITY} alone'}"
        )
    if kind in (DUMMY, MAJORITY):
        of = ControlledFeatures()
    kept = _Kept(of)
    learned = None if training is None else WordAnnotation(training, HEADS, attach_roots)
    with indexed_entries(WordAnnotation(file, of.kind, attach_roots), of) as entries:
        make = _maker(kind, Random(seed), learned, entries, kept)
        output.writelines(_entries(entries, make, kept))
    return kept.figures(file, kind, seed)


def _controlled(file: Path) -> ControlledKind:
    name = file.name.removesuffix(".gz")
    for of in CONTROLLED:
        if name.endswith(f".{of.kind.ending}"):
            return of
    endings = ", ".join(f".{of.kind.ending}" for of in CONTROLLED)
    raise UserError(f"{file}: its ending does not say what it holds: give one of {endings}")


@dataclass
class _Kept:
    """Counts over the annotation before and after."""

    of: ControlledKind
    without: int = 0
    before: Counter[str] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)
    same: int = 0
    lengths: Counter[str] = field(default_factory=Counter)

    def lent(self, size: int, lender: int) -> None:
        """Counts a loan by the words of both sentences."""
        how = "of the same length" if size == lender else "cut" if size < lender else "continued"
        self.lengths[how] += 1

    def add(self, own: Any, new: Any) -> None:
        """Counts a sentence."""
        self.before.update(self.of.sums(own))
        self.after.update(self.of.sums(new))
        self.same += self.of.same(own, new)

    def figures(self, file: Path, kind: str, seed: int) -> ControlFigures:
        """The result."""
        before, after = map(self.of.figures, (self.before, self.after))
        words, sentences = self.before["words"], self.before["sentences"]
        same = self.same / words if words else None
        return ControlFigures(
            kind, seed, sentences, self.without, words, dict(self.lengths), before, after, same,
            self.of.alike, str(file),
        )  # fmt: skip


def _entries(entries: IndexedEntries, make: _Make, kept: _Kept) -> Iterator[str]:
    """The entries of the new file, from those of the old file."""
    of = kept.of
    for number in range(len(entries)):
        entry, annotation = entries[number]
        if annotation is None:
            kept.without += 1
            yield of.kind.format.entry_text(entry)
            continue
        new = make(number, annotation)
        kept.add(of.structure(annotation), new)
        yield of.text(entry, new)


def _maker(
    kind: str, random: Random, training: WordAnnotation | None, entries: IndexedEntries, kept: _Kept
) -> _Make:
    """What makes the new structure of a sentence."""
    if kind == BORROWED:
        return _lent(entries, random, kept)
    changed: Callable[[Any], Any]
    if training is not None:
        majority = Majority(tree for tree in training.annotations() if tree is not None)
        if not majority:
            raise UserError(f"--training {training.file}: has no parses: give the training text's")
        changed = majority.of
    elif kind in _OF_CONSTITUENTS:
        changed = _OF_CONSTITUENTS[kind]
    elif kind == SHUFFLED:

        def changed(annotation: Any) -> Any:
            return shuffled(kept.of.structure(annotation), random)
    else:
        changed = dummy if kind == DUMMY else lambda annotation: chain(len(annotation))
    return lambda number, annotation: changed(annotation)


def _lent(entries: IndexedEntries, random: Random, kept: _Kept) -> _Make:
    """What lends a sentence the structure of another."""
    try:
        lenders = draw_lenders(entries.sizes, random)
    except ValueError as error:
        raise UserError(f"{entries.file}: {error}: give more sentences") from None

    def lend(number: int, annotation: Any) -> Any:
        lender = lenders[number]
        kept.lent(entries.sizes[number], entries.sizes[lender])
        return kept.of.resized(kept.of.structure(entries[lender][1]), annotation)

    return lend
