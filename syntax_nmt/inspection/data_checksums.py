"""Compares all files that `syntax.json` names with their checksums.

Loading (:mod:`syntax_nmt.data.binarised_annotation`) stops at the first difference; a report
names all, and reads each file once, however many annotation files depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from syntax_nmt.data.manifest import REMEDY, AnnotationFile, Fingerprint


class Change(NamedTuple):
    """A missing or changed file.

    Attributes:
        path: the file.
        message: one line.
        dependants: the annotation files that were made with it as it was (`train.de-en.de.heads`).
    """

    path: Path
    message: str
    dependants: tuple[str, ...]


def changed_files(folder: Path, manifest: Mapping[str, AnnotationFile]) -> Iterator[Change]:
    """The changes in a data-bin folder.

    Args:
        folder: the data-bin folder.
        manifest: its annotation files by name.
    """
    recorded: dict[str, dict[Fingerprint, list[str]]] = {}
    for name, entry in manifest.items():
        for file_name, fingerprint in entry.files.items():
            recorded.setdefault(file_name, {}).setdefault(fingerprint, []).append(name)
    for file_name, wanted in recorded.items():
        yield from _compare(folder / file_name, wanted)


def changed_sources(words: Path, manifest: Mapping[str, AnnotationFile]) -> Iterator[Change]:
    """The changes in the texts that annotation files were made from.

    Args:
        words: the folder they are in, that of `syntax-nmt binarize --words`.
        manifest: the annotation files by name.
    """
    for name, entry in manifest.items():
        yield from _compare(words / entry.source, {entry.source_text: [name]})


def _compare(path: Path, recorded: Mapping[Fingerprint, list[str]]) -> Iterator[Change]:
    try:
        found = Fingerprint.of(path)
    except (OSError, ValueError) as error:  # ValueError: no name that a file can have
        reason = getattr(error, "strerror", None) or error
        names = tuple(name for group in recorded.values() for name in group)
        listed = ", ".join(names)
        message = f"{path}: cannot be read ({reason}), needed by {listed}: {REMEDY}"
        yield Change(path, message, names)
        return
    for wanted, group in recorded.items():
        if difference := found.difference(wanted):
            message = (
                f"{path}: damaged, or changed since {', '.join(group)} was made "
                f"({difference}): {REMEDY}"
            )
            yield Change(path, message, tuple(group))
