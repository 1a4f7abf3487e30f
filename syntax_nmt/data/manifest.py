"""`syntax.json`: the annotation of a data-bin folder and its sources.

fairseq never checks that annotation belongs to its text; this file makes the check possible. It is
written last, so that files that it does not describe, or describes differently, count as missing.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from textwrap import shorten

from syntax_nmt.data.prepared_text import again
from syntax_nmt.data.text_files import check_regular, write_atomically
from syntax_nmt.errors import UserError

NAME = "syntax.json"
VERSION = 2  # since 0.4.0: numbers of 8 and 16 bits
_READ = (1, VERSION)
_BLOCK = 1 << 20
_CRC32 = re.compile("[0-9a-f]{8}")


@dataclass(frozen=True)
class Fingerprint:
    """Size in bytes and CRC-32 of a file: detects accidents (not attacks).

    CRC-32 because zlib computes it at several GB/s, two to five times as fast as SHA-256 or
    BLAKE2: every training run and every worker of it checks its files when it starts.
    """

    bytes: int
    crc32: str

    @classmethod
    def of(cls, path: str | Path) -> Fingerprint:
        """Reads a file in blocks.

        Raises:
            OSError: it cannot be read, or is endless: a device, a pipe.
        """
        check_regular(path)
        checksum = size = 0
        block = memoryview(bytearray(_BLOCK))
        with open(path, "rb", buffering=0) as stream:
            while count := stream.readinto(block):
                checksum = zlib.crc32(block[:count], checksum)
                size += count
        return cls(size, f"{checksum:08x}")

    def difference(self, recorded: Fingerprint) -> str:
        """The difference of a file from its record, for a message; empty = none."""
        if self.bytes != recorded.bytes:
            return f"{self.bytes} bytes, {recorded.bytes} recorded in {NAME}"
        if self.crc32 != recorded.crc32:
            return f"checksum {self.crc32}, {recorded.crc32} recorded in {NAME}"
        return ""


@dataclass(frozen=True)
class AnnotationFile:
    """One binarised file.

    Attributes:
        sentences: rows, those without annotation included.
        annotated: rows with annotation.
        source: the text file it was made from.
        source_text: fingerprint of that text file.
        files: fingerprints of the files that loading depends on, by name in the folder: the file's
            own `.bin` and `.idx`, those of the tokens it belongs to, their dictionary, the tag
            list.
        parser: what made the annotation, and its version; empty = not known.
    """

    sentences: int
    annotated: int
    source: str
    source_text: Fingerprint
    files: dict[str, Fingerprint] = field(default_factory=dict)
    parser: str = ""


def remedy(file: Path) -> str:
    """What to do about a file of annotation that a data-bin folder lacks, or has damaged."""
    return again(file.parent, "run `syntax-nmt binarize` (see its --help) after fairseq-preprocess")


def read_manifest(folder: str | Path) -> dict[str, AnnotationFile]:
    """The annotation files of a folder by name (`train.de-en.de.heads`); empty without a manifest.

    Args:
        folder: the data-bin folder.

    Raises:
        UserError: the manifest is damaged or of another version, or names a file elsewhere.
    """
    path = Path(folder) / NAME
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["version"] not in _READ:
            raise UserError(
                f"{path}: format version {str(content['version'])[:20]}, this program reads up to "
                f"{VERSION}: use a newer one, or {remedy(path)}"
            )
        return {_plain(name): _annotation_file(entry) for name, entry in content["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = shorten(f"{type(error).__name__}: {error}", 120)
        raise UserError(f"{path}: damaged ({reason}): remove it and {remedy(path)}") from error


def write_manifest(folder: str | Path, files: dict[str, AnnotationFile]) -> None:
    """Writes the manifest atomically: readers see the old one or the new one.

    Args:
        folder: the data-bin folder.
        files: every annotation file by name.
    """
    path = Path(folder) / NAME
    content = {"version": VERSION, "files": {name: _entry(files[name]) for name in sorted(files)}}
    with write_atomically(path) as stream:
        stream.write(json.dumps(content, indent=1) + "\n")


def _entry(file: AnnotationFile) -> dict:
    """An entry in JSON, without what is not known."""
    return {name: value for name, value in asdict(file).items() if value != ""}


def _annotation_file(entry: dict) -> AnnotationFile:
    files = {_plain(name): Fingerprint(**value) for name, value in entry["files"].items()}
    source_text = Fingerprint(**entry["source_text"])
    annotation_file = AnnotationFile(**{**entry, "files": files, "source_text": source_text})
    for value in (
        annotation_file.sentences,
        annotation_file.annotated,
        *(f.bytes for f in files.values()),
    ):
        if type(value) is not int:
            raise TypeError(f"{value!r} where a whole number belongs")
    for fingerprint in (source_text, *files.values()):
        if type(fingerprint.crc32) is not str or not _CRC32.fullmatch(fingerprint.crc32):
            raise TypeError(f"{fingerprint.crc32!r} where a checksum belongs")
    if not 0 <= annotation_file.annotated <= annotation_file.sentences:
        raise ValueError(
            f"{annotation_file.annotated} of {annotation_file.sentences} sentences annotated"
        )
    _plain(annotation_file.source)
    if type(annotation_file.parser) is not str:
        raise TypeError(f"{annotation_file.parser!r} where the name of a parser belongs")
    return annotation_file


def _plain(name: str) -> str:
    """A plain file name in the folder."""
    if not isinstance(name, str):
        raise TypeError(f"{name!r} where the name of a file belongs")
    if name in ("", ".", "..") or os.path.basename(name) != name or "\0" in name:
        raise ValueError(f"{name!r} is no plain name of a file")
    return name
