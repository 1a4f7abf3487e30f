"""`syntax-nmt control`: writes annotation without syntax, as a control."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from syntax_nmt.arguments import add_numbers, natural_int
from syntax_nmt.commands.shared.findings import (
    add_findings_arguments,
    findings_outputs,
    write_findings,
)
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.data.conllu import read_conllu
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
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.findings import Findings, Table
from syntax_nmt.reporting.output import STDOUT, check_outputs, open_output
from syntax_nmt.reporting.result import Result

EXAMPLE = (
    "syntax-nmt control --kind borrowed --seed 1 prepared/words/train.en.conllu "
    "--output control/train.en.conllu"
)
DESCRIPTION = """\
Annotation without syntax. Put it next to the raw text for `syntax-nmt prepare`. A gain with it does
not come from structure. Sentences without annotation remain without annotation.

  chain     each word depends on the previous word; the first is the root (.conllu)
  shuffled  the sentence's own tree over permuted words: same shape, other distances (.conllu)
  borrowed  the structure of another sentence of the same length; each is used once. The only
            sentence of its length takes that of the next longer sentence, cut, or of the next
            shorter one, continued (.conllu, .trees, .chunks)
  dummy     one value in every column that is a feature; heads do not change (.conllu)
  balanced  constituents are the halves of the sentence, their halves, and so on (.trees)
  right     every constituent is a word and all words after it (.trees)
  majority  in every such column the value that the word has most often in the training text;
            unseen words have the most frequent value (.conllu)
"""
# Makes the new structure from a sentence's number, from 0, and its annotation.
_Make = Callable[[int, Any], Any]
_OF_CONSTITUENTS = {BALANCED: balanced_tree, RIGHT: right_branching_tree}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `syntax-nmt control`."""
    parser.description = DESCRIPTION
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="a .conllu, .trees or .chunks file, plain or .gz"
    )
    parser.add_argument("--kind", choices=CONTROLS, required=True, help="kind of control")
    add_numbers(parser, natural_int, seed=(1, "random seed"))
    parser.add_argument(
        "--training",
        metavar="FILE",
        type=Path,
        help="the .conllu file of the training text, for --kind majority",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        required=True,
        help="write the annotation here; - is stdout, and the table goes to stderr",
    )
    add_findings_arguments(parser.add_argument_group("what was kept"))


def run(args: argparse.Namespace) -> None:
    """Writes the control of an annotation file, and a table of its properties.

    Args:
        args: the options of :func:`add_arguments`.

    Raises:
        UserError: the file is of another kind, malformed, or has nothing to borrow.
    """
    read = [file for file in (args.file, args.training) if file is not None]
    check_outputs([args.output, *findings_outputs(args)], read)
    of = _kind_of(args.file)
    takes = CONTROLS[args.kind]
    if of.kind not in takes:
        raise UserError(
            f"{args.file}: --kind {args.kind} is for .{takes[0].ending} files alone: give --kind "
            f"{BORROWED}"
        )
    if (args.kind == MAJORITY) != (args.training is not None):
        raise UserError(
            f"--kind {args.kind}: --training FILE, the .{HEADS.ending} file of the training text, "
            f"is {'needed' if args.training is None else f'for --kind {MAJORITY} alone'}"
        )
    if args.kind in (DUMMY, MAJORITY):
        of = ControlledFeatures()
    kept = _Kept(of)
    with indexed_entries(args.file, of) as entries, open_output(args.output) as stream:
        stream.writelines(_controls(entries, _maker(args, entries, kept), kept))
    write_findings(*kept.report(args), args, stdout_is_free=args.output != STDOUT)


def _kind_of(file: Path) -> ControlledKind:
    name = file.name.removesuffix(".gz")
    for of in CONTROLLED:
        if name.endswith(f".{of.kind.ending}"):
            return of
    endings = ", ".join(f".{of.kind.ending}" for of in CONTROLLED)
    raise UserError(f"{file}: its ending does not say what it holds: give one of {endings}")


def _controls(entries: IndexedEntries, make: _Make, kept: _Kept) -> Iterator[str]:
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


def _maker(args: argparse.Namespace, entries: IndexedEntries, kept: _Kept) -> _Make:
    """What makes the new structure of a sentence."""
    random = Random(args.seed)
    if args.kind == BORROWED:
        return _lent(entries, random, kept)
    changed: Callable[[Any], Any]
    if args.kind == MAJORITY:
        trees = (tree for tree in read_conllu(args.training, one_root=False) if tree is not None)
        majority = Majority(trees)
        if not majority:
            raise UserError(f"--training {args.training}: has no parses: give the training text's")
        changed = majority.of
    elif args.kind in _OF_CONSTITUENTS:
        changed = _OF_CONSTITUENTS[args.kind]
    elif args.kind == SHUFFLED:

        def changed(annotation: Any) -> Any:
            return shuffled(kept.of.structure(annotation), random)
    else:
        changed = dummy if args.kind == DUMMY else lambda annotation: chain(len(annotation))
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


@dataclass
class ControlFigures(Result):
    """The result of `syntax-nmt control`.

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


class _Kept:
    """Statistics of the annotation before and after."""

    def __init__(self, of: ControlledKind) -> None:
        self.of = of
        self.without = 0
        self.before: Counter[str] = Counter()
        self.after: Counter[str] = Counter()
        self.same = 0
        self.lengths: Counter[str] = Counter()

    def lent(self, size: int, lender: int) -> None:
        """Counts a loan by the words of both sentences."""
        how = "of the same length" if size == lender else "cut" if size < lender else "continued"
        self.lengths[how] += 1

    def add(self, own: Any, new: Any) -> None:
        """Counts a sentence."""
        self.before.update(self.of.sums(own))
        self.after.update(self.of.sums(new))
        self.same += self.of.same(own, new)

    def report(self, args: argparse.Namespace) -> tuple[ControlFigures, Findings]:
        """The figures, and their table."""
        before, after = map(self.of.figures, (self.before, self.after))
        words, sentences = self.before["words"], self.before["sentences"]
        same = self.same / words if words else None
        rows = [(name, _cell(name, before[name]), _cell(name, after[name])) for name in before]
        rows.append((f"share with {self.of.alike}", share_text(1.0), share_text(same)))
        notes = [
            f"{count_text(sentences)} sentences, {count_text(words)} words; "
            f"{count_text(self.without)} sentences without annotation, before and after"
        ]
        if self.lengths:
            lent = ", ".join(f"{count_text(n)} {how}" for how, n in self.lengths.items())
            notes.append(f"structures of other sentences: {lent}")
        lengths = dict(self.lengths)
        figures = ControlFigures(
            args.kind, args.seed, sentences, self.without, words, lengths, before, after, same
        )
        heading = f"{args.file}: {args.kind}"
        return figures, Findings([Table(("", "before", "after"), rows)], heading, notes)


def _cell(name: str, value: float | None) -> str:
    return share_text(value) if "share" in name else decimal_text(value)
