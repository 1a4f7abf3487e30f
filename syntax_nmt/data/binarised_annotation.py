"""Binarised annotation of one split, opened and checked against its text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from syntax_nmt.data.annotation import KINDS
from syntax_nmt.data.annotation.columns import making_options
from syntax_nmt.data.annotation.kind import AnnotationKind, BatchedText
from syntax_nmt.data.batch import Batch
from syntax_nmt.data.checked_files import checked_fingerprint
from syntax_nmt.data.manifest import NAME, AnnotationFile, read_manifest, remedy
from syntax_nmt.data.prepared_text import made_by_prepare
from syntax_nmt.data.ragged import RaggedArray, RowBlock, count_rows
from syntax_nmt.errors import UserError
from syntax_nmt.text.languages import SOURCE, TARGET


@dataclass(frozen=True)
class BinarisedAnnotation:
    """One kind of annotation of one split.

    Attributes:
        rows: one row a sentence, without EOS, in the form of the kind; a row that begins with −1
            has no annotation.
        labels: in id order from 1; empty for a kind without labels.
    """

    kind: AnnotationKind
    rows: RaggedArray
    labels: tuple[str, ...] = ()

    @classmethod
    def concatenate(
        cls, parts: Sequence[BinarisedAnnotation], repeats: Sequence[int] | None = None
    ) -> BinarisedAnnotation:
        """The splits `train`, `train1`, … joined as fairseq joins their texts.

        Args:
            parts: the splits' annotation, of one kind.
            repeats: number of repetitions of each (`--upsample-primary`); once by default.
        """
        rows = RaggedArray.concatenate([part.rows for part in parts], repeats)
        return cls(parts[0].kind, rows, parts[0].labels)

    def __len__(self) -> int:
        return len(self.rows)

    def batched(self, text: BatchedText) -> Batch:
        """The tensors of a batch, under the keys of the kind."""
        tensor = self.kind.collate(self.rows, text, len(self.labels))
        return {self.kind.key: tensor, **self.kind.batch_flags(tensor)}


def open_annotation(
    prefix: str | Path,
    kind: AnnotationKind,
    sizes: np.ndarray,
    checksums: bool = True,
    loaded: Collection[AnnotationKind] = (),
) -> BinarisedAnnotation:
    """Opens `prefix.kind.{bin,idx}` and checks that it belongs to the text.

    Files are memory-mapped; `examples/benchmark` has the time for opening a million sentences.

    Args:
        prefix: fairseq's prefix of the side's tokens: `data-bin/train.de-en.de`.
        sizes: the dataset's lengths of this side with EOS, (sentences,).
        checksums: compare them, too. False if the caller does so.
        loaded: all kinds that are wanted; a message names every column of a list.

    Raises:
        UserError: a file is missing, damaged, or not made from this text, or contains numbers that
            are invalid for the kind.
    """
    prefix = Path(prefix)
    name = f"{prefix.name}.{kind.name}"
    entry = _manifest_entry(prefix, name, kind, loaded)
    if checksums:
        _check_fingerprints(prefix.parent, name, entry, kind)
    try:
        _check_number(count_rows(prefix.parent / name), len(sizes), prefix.parent / name)
        rows = RaggedArray.open(prefix.parent / name)
        labels = read_labels(prefix.parent, kind)
    except (OSError, ValueError, AssertionError) as error:
        raise UserError(
            f"{prefix.parent / name}: cannot be read ({error}): {remedy(prefix)}"
        ) from error
    for block in rows.blocks():
        these = slice(block.first, block.first + len(block.sizes))
        lengths = np.asarray(sizes[these]).astype(np.int64) - 1
        _check_lengths(block, kind, lengths, prefix.parent / name, entry.source)
        limits = kind.limits(lengths, len(labels))
        _check_numbers(block, limits, prefix.parent / name, entry.source)
    if len(rows) != entry.sentences:
        raise UserError(
            f"{prefix.parent / name}.idx: {len(rows)} sentences, {NAME} says {entry.sentences}: "
            f"one of them is damaged: {remedy(prefix)}"
        )
    return BinarisedAnnotation(kind, rows, labels)


def _manifest_entry(
    prefix: Path, name: str, kind: AnnotationKind, loaded: Collection[AnnotationKind]
) -> AnnotationFile:
    manifest = prefix.with_name(NAME)
    making = _making([each for each in loaded if each.option == kind.option] or [kind])
    if not manifest.is_file():
        cure = making if made_by_prepare(manifest.parent) else remedy(manifest)
        raise UserError(f"{manifest}: not found, so there is no annotation: {cure}")
    files = read_manifest(prefix.parent)
    if name not in files:
        raise _not_made(manifest, files.keys(), name, kind, making)
    needed = {f"{stem}.{end}" for stem in (name, prefix.name) for end in ("bin", "idx")}
    needed |= {kind.labels_file} if kind.labels_file else set()
    unchecked = sorted(needed - files[name].files.keys())
    if unchecked:
        raise UserError(
            f"{manifest}: damaged (no checksum of {unchecked[0]} for {name}): {remedy(manifest)}"
        )
    return files[name]


def _making(kinds: Sequence[AnnotationKind]) -> str:
    options = " ".join(making_options(kinds)) or "that annotation"
    return f"run `syntax-nmt prepare` again with {options}"


def _not_made(
    manifest: Path, files: Collection[str], name: str, kind: AnnotationKind, making: str
) -> UserError:
    """The message for annotation that nobody has binarised.

    Args:
        files: those of the manifest.
        making: how `prepare` makes it.
    """
    split, pair, *rest = name.split(".")
    of_split = sorted(file for file in files if file.startswith(f"{split}.{pair}."))
    listed = ", ".join(of_split or sorted(files)) or "nothing"
    file = f"{split}.{'.'.join(rest[:-1])}.{kind.ending}"
    text = "raw" if made_by_prepare(manifest.parent) else "tokenised"
    cure = f"{making}, or put {file} beside the {text} text and {remedy(manifest)}"
    of_kind = [file for file in of_split if file.endswith(f".{kind.name}")]
    # Trees of the target are rarely there; those of the source, under the same name, mostly.
    of_source = kind.side == TARGET and any(
        each.name == kind.name and each.side == SOURCE for each in KINDS
    )
    if of_kind and not of_source:
        return UserError(
            f"{manifest} has no {name}, but that of the other language (it has {listed}): are "
            f"--source-lang and --target-lang exchanged? Otherwise {cure}"
        )
    return UserError(f"{manifest} has no {name} (it has {listed}): {cure}")


def _check_fingerprints(
    folder: Path, name: str, entry: AnnotationFile, kind: AnnotationKind
) -> None:
    """Compares every file that the manifest names with its checksum."""
    for file_name, recorded in entry.files.items():
        path = folder / file_name
        try:
            found = checked_fingerprint(path)
        except (OSError, ValueError) as error:  # ValueError: no name that a file can have
            reason = getattr(error, "strerror", None) or error
            raise UserError(
                f"{path}: cannot be read ({reason}), but {NAME} names it: {remedy(path)}"
            ) from error
        difference = found.difference(recorded)
        if not difference:
            continue
        if file_name.startswith(name):
            cause = "damaged or not written by the last binarize"
        elif file_name == kind.labels_file:
            cause = f"not the tag list {name} was made with"
        else:
            cause = f"has changed since {name} was made for it"
        raise UserError(f"{path}: {cause} ({difference}): {remedy(path)}")


def _check_number(found: int, expected: int, path: Path) -> None:
    """Compares the number of sentences with the dataset's."""
    if found != expected:
        raise UserError(
            f"{path}: {found} sentences, the dataset has {expected}: {remedy(path)}, and give no "
            f"option that joins or leaves out sentences"
        )


def _check_lengths(
    rows: RowBlock, kind: AnnotationKind, expected: np.ndarray, path: Path, source: str
) -> None:
    """Compares each sentence's length with the dataset's, both without EOS."""
    found = kind.covered(rows, expected)
    differing = np.flatnonzero(found != expected)
    if len(differing):
        row = int(differing[0])
        line = rows.first + row + 1
        raise UserError(
            f"{path}: sentence {line} (line {line} of the text; {source}) covers "
            f"{found[row]} subwords, the dataset has {expected[row]} without EOS "
            f"({len(differing)} sentences differ): {remedy(path)}, and give no option that "
            "shortens or lengthens sentences (--truncate-source, --prepend-bos, "
            "--num-batch-buckets)"
        )


def _check_numbers(rows: RowBlock, limits: tuple[int, np.ndarray], path: Path, source: str) -> None:
    """Refuses numbers that are invalid for the kind; a row of −1 has no annotation.

    Batches are collated without checks, and models use the numbers as positions.
    """
    least, greatest = limits
    lowest, highest = rows.ranges()
    within = (lowest >= least) & (highest <= greatest)
    wrong = np.flatnonzero((rows.sizes > 0) & ~within & ((lowest != -1) | (highest != -1)))
    if len(wrong):
        row = int(wrong[0])
        most = np.broadcast_to(greatest, len(rows.sizes))[row]
        line = rows.first + row + 1
        number = lowest[row] if lowest[row] < least else highest[row]
        raise UserError(
            f"{path}: sentence {line} (line {line} of the text; {source}) holds {number}, "
            f"its numbers can be {least} to {most} ({len(wrong)} sentences hold such): "
            f"{remedy(path)}"
        )


def read_labels(folder: Path, kind: AnnotationKind) -> tuple[str, ...]:
    """The labels of a kind in id order from 1; () for a kind without labels.

    Raises:
        UserError: the file that lists them cannot be read or is no text.
    """
    if kind.labels_file is None:
        return ()
    path = folder / kind.labels_file
    try:
        return tuple(path.read_text(encoding="utf-8").split())
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read ({error}): {remedy(path)}") from error
