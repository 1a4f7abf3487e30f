"""The lists of labels in a data-bin folder: given, counted in the training text, or on record."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from syntax_nmt.data.annotation import KINDS
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.binarised_annotation import read_labels
from syntax_nmt.data.manifest import AnnotationFile, Fingerprint
from syntax_nmt.data.prepared_text import prepared_folder
from syntax_nmt.data.text_files import checksum, read_json, write_atomically
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.binarised_texts import BinarisedText

LabelLists = dict[AnnotationKind, tuple[str, ...]]
"""By kind, in the order of ids from 1; () for a kind without labels."""

_LABELLED = {kind.labels_file: kind for kind in KINDS if kind.labels_file is not None}


def given_labels(path: Path, texts: Sequence[BinarisedText]) -> LabelLists:
    """The lists that `--labels` names, by which several folders have the same ids.

    Args:
        path: one list under its name, such as `dict.upos.txt`, or a folder that has the lists of
            all kinds that the texts have.

    Raises:
        UserError: there is no such list, it is none that this program writes, or no text has the
            annotation.
    """
    needed = {kind: file for text in texts for kind, file in text.annotation.items()}
    if path.is_dir():
        folder = prepared_folder(path)[1]
        kinds = [kind for kind in needed if kind.labels_file is not None]
        for kind in kinds:
            if not (folder / str(kind.labels_file)).is_file():
                raise UserError(
                    f"--labels {path}: has no {kind.labels_file}, which {needed[kind]} needs: give "
                    "a folder that was binarised with the same kinds of annotation"
                )
    elif path.is_file() and path.name in _LABELLED:
        folder, kinds = path.parent, [_LABELLED[path.name]]
        if kinds[0] not in needed:
            raise UserError(f"--labels {path}: no text has {kinds[0].name}: leave it out")
    else:
        raise UserError(
            f"--labels {path}: no list of labels: give a data-bin folder that has some, or one of "
            f"its files {', '.join(sorted(_LABELLED))}"
        )
    return {kind: _checked(read_labels(folder, kind), kind, folder) for kind in kinds}


def checksums_of_lists(folder: Path | None) -> dict[str, str] | None:
    """The checksum of each list of labels in a folder, by its name; None = there is no folder."""
    if folder is None:
        return None
    return {path.name: checksum(path) for path in sorted(folder.glob("dict.*.txt"))}


def _checked(labels: tuple[str, ...], kind: AnnotationKind, folder: Path) -> tuple[str, ...]:
    """The labels, if they are in the order in which they are written, each once."""
    if list(labels) != kind.ordered(labels):
        raise UserError(
            f"{folder / str(kind.labels_file)}: no list that `syntax-nmt binarize` writes (sorted, "
            f"each {kind.label} once): give the file as it was written"
        )
    return labels


def labels_on_record(
    kind: AnnotationKind, file: Path, destdir: Path, manifest: dict[str, AnnotationFile]
) -> tuple[str, ...]:
    """The list of a folder whose training text was binarised earlier.

    Args:
        file: of the annotation that needs it, for messages.

    Raises:
        UserError: there is no list, or it is not the one that the folder's files were made with.
    """
    path = destdir / str(kind.labels_file)
    if not path.is_file():
        raise UserError(
            f"{file}: the {kind.label}s are those of the training text, "
            f"which has no .{kind.ending} file: make one and give --trainpref too"
        )
    name = _made_with_other_labels(path, manifest)
    if name is not None:
        raise UserError(
            f"{path}: has changed since {name} was made with it: give "
            f"--trainpref too, so that all are made anew"
        )
    return read_labels(destdir, kind)


def refuse_two_lists(
    files: Iterable[Path],
    given: Path | None,
    manifest: dict[str, AnnotationFile],
    made_anew: Container[str],
) -> None:
    """Refuses lists if files of the folder were made with others and are not made anew.

    They are those of another split, or of the other direction.

    Args:
        files: the lists, as they will be written.
        given: as `--labels` has it, for messages; None = lists of the training text.
        made_anew: names of annotation files.

    Raises:
        UserError: names the first such file.
    """
    kept = {name: entry for name, entry in manifest.items() if name not in made_anew}
    for file in files:
        name = _made_with_other_labels(file, kept)
        if name is not None:
            lists = "the training text" if given is None else f"--labels {given}"
            keep = ", or --labels with the folder of the lists to keep" if given is None else ""
            raise UserError(
                f"{lists}: {name} was binarised with another {file.name}, and this run leaves it "
                f"so: give the prefixes of all splits{keep}; the other direction needs a copy of "
                "the folder, or the same lists"
            )


class LabelCounts(NamedTuple):
    """How many words of a shard have each label, by kind: of its training text, and of all."""

    training: dict[AnnotationKind, Counter[str]]
    everywhere: dict[AnnotationKind, Counter[str]]

    def write(self, file: Path) -> None:
        """Writes them as JSON."""
        named = [{kind.name: found for kind, found in each.items()} for each in self]
        with write_atomically(file) as out:
            json.dump(named, out, ensure_ascii=False)

    @classmethod
    def read(cls, file: Path) -> LabelCounts:
        """The content of :meth:`write`."""
        named = {kind.name: kind for kind in _LABELLED.values()}
        return cls(
            *(
                {named[name]: Counter(found) for name, found in each.items()}
                for each in read_json(file)
            )
        )


def _made_with_other_labels(file: Path, manifest: dict[str, AnnotationFile]) -> str | None:
    """The first annotation file that was made with another list of that name."""
    found = Fingerprint.of(file)
    other = (name for name, each in manifest.items() if each.files.get(file.name, found) != found)
    return next(other, None)
