"""A text in parts whose annotation is saved on disk, so that an interrupted run can resume."""

import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

from syntax_nmt.data.folder_lock import folder_lock
from syntax_nmt.data.text_files import read_lines, write_atomically
from syntax_nmt.errors import UserError

_FOLDER_ENDING = ".parts"
_PART_ENDING = ".part"


@dataclass(frozen=True)
class TextPart:
    """Some lines of a text.

    Attributes:
        number: from 0.
        lines: the text.
    """

    number: int
    lines: list[str]

    @property
    def text_sum(self) -> str:
        """Checksum of the lines."""
        return _sum("\n".join(self.lines))


@dataclass(frozen=True)
class PartHead:
    """The first line of a finished part's file.

    Attributes:
        options: checksum of the annotator's settings.
        text: checksum of the lines.
        entries: checksum of all following lines.
        lines: number of lines.
        counts: of lines, by result.
    """

    options: str
    text: str
    entries: str
    lines: int
    counts: dict[str, int]


def parts_of(text: Path, part_size: int) -> Iterator[TextPart]:
    """The parts of a text, in order, one in memory at a time.

    Args:
        text: words separated by spaces, a sentence a line; may be `.gz`.
    """
    lines = read_lines(text)
    number = 0
    while chunk := list(islice(lines, part_size)):
        yield TextPart(number, chunk)
        number += 1


class PartFolder:
    """Finished parts, one file each, next to their output file.

    Args:
        output: that file, or a link to it; the folder is `OUTPUT.parts`.

    Raises:
        UserError: it is a device or a pipe.
    """

    def __init__(self, output: Path) -> None:
        if output.exists() and not output.is_file():
            raise UserError(
                f"{output}: finished parts are kept beside it: give a file, not a device or a pipe"
            )
        if output.is_symlink():
            output = output.resolve()
        self.path = output.with_name(output.name + _FOLDER_ENDING)

    @contextmanager
    def held(self, shared: bool = False) -> Iterator[None]:
        """Locks the folder against other runs; creates it, and removes it if it stays empty.

        Args:
            shared: with other shards.

        Raises:
            UserError: another run works on the same output.
        """
        busy = f"{self.path}: another run is at work on this output: wait for it"
        with folder_lock(self.path, busy, shared):
            try:
                yield
            finally:
                with suppress(OSError):  # it is not empty, or removed
                    self.path.rmdir()

    def refuse_other_options(self, options: str) -> None:
        """Checks that no finished work is lost by mistake.

        Args:
            options: checksum of the annotator's settings.

        Raises:
            UserError: there are parts made with other models or options.
        """
        others = sum(head.options != options for head in self.heads())
        if others:
            raise UserError(
                f"{self.path}: {others:,} finished parts were made with other models or options "
                "(--parser, --max-words, --batch-size, --part-size, --device, version of the "
                "parser): give those again, or remove the folder to begin anew"
            )

    def file(self, number: int) -> Path:
        """The path of a part."""
        return self.path / f"{number:06d}{_PART_ENDING}"

    def write(self, part: TextPart, options: str, entries: str, counts: Counter[str]) -> None:
        """Writes a finished part atomically.

        Args:
            options: checksum of the annotator's settings.
            entries: one entry per line of the text, concatenated.
            counts: of lines, by result.

        Raises:
            UserError: it cannot be written.
        """
        head = PartHead(options, part.text_sum, _sum(entries), len(part.lines), dict(counts))
        with write_atomically(self.file(part.number)) as out:
            out.write(json.dumps(asdict(head)) + "\n")
            out.write(entries)

    def finished(self, part: TextPart, options: str) -> Counter[str] | None:
        """The counts of a complete part; None if it is not done.

        Args:
            options: checksum of the annotator's settings.
        """
        head = self.head(part.number)
        if head is None or (head.options, head.text) != (options, part.text_sum):
            return None
        try:
            self.entries(part.number, head)
        except UserError:
            return None
        return Counter(head.counts)

    def heads(self) -> list[PartHead]:
        """The headers of finished parts, unordered."""
        numbers = (int(path.stem) for path in self.path.glob(f"[0-9]*{_PART_ENDING}"))
        return [head for head in map(self.head, numbers) if head is not None]

    def head(self, number: int) -> PartHead | None:
        """The header of a part's file; None if it is missing or has no header."""
        try:
            with open(self.file(number), encoding="utf-8", newline="\n") as stream:
                return PartHead(**json.loads(next(stream)))
        except (OSError, ValueError, TypeError, RecursionError, StopIteration):
            return None

    def entries(self, number: int, head: PartHead) -> str:
        """The entries of a part.

        Raises:
            UserError: their checksum differs.
        """
        path = self.file(number)
        with open(path, encoding="utf-8", errors="replace", newline="\n") as stream:
            next(stream)
            entries = stream.read()
        if _sum(entries) != head.entries:
            raise UserError(
                f"{path}: damaged (checksum {_sum(entries)[:8]}, {head.entries[:8]} recorded): "
                "run the command that made it again, which will do this part again"
            )
        return entries

    def remove(self) -> None:
        """Removes parts that have been merged."""
        shutil.rmtree(self.path)


def merge_parts(text: Path, output: Path, parts: PartFolder) -> Counter[str]:
    """Writes the parts into one file, each checked against its lines of the text.

    Nothing is removed: a merge that fails can be made again.

    Args:
        output: replaced only when all is well, or what it points to if it is a link.

    Returns:
        Counts of lines, by what became of them.

    Raises:
        UserError: parts are missing, damaged, of another text, or were made with different options.
    """
    merged = parts.path / f"merged{_PART_ENDING}"  # so that a killed merge leaves nothing elsewhere
    with write_atomically(merged) as out:
        counts = _merge(text, out, parts)
    os.replace(merged, output.resolve())
    return counts


def _merge(text: Path, out: TextIO, parts: PartFolder) -> Counter[str]:
    lines = read_lines(text)
    counts: Counter[str] = Counter(lines=0, annotated=0)
    first = head = parts.head(0)
    number = 0
    while head is not None and first is not None:
        part = TextPart(number, list(islice(lines, head.lines)))
        if not part.lines:
            break  # left from a longer text
        where = f"{parts.file(number)}: lines {counts['lines'] + 1:,} to "
        where += f"{counts['lines'] + head.lines:,} of {text}"
        if head.options != first.options:
            raise UserError(
                f"{where}: made with other models or options than the first part; run the command "
                "that made it again"
            )
        if head.text != part.text_sum:
            raise UserError(f"{where}: made from another text; run the command that made it again")
        out.write(parts.entries(number, head))
        counts.update(head.counts)
        number += 1
        head = parts.head(number)
    missing = sum(1 for _ in lines)
    if missing:
        raise UserError(
            f"{parts.file(number)}: not there or damaged: the parts before it cover "
            f"{counts['lines']:,} of {counts['lines'] + missing:,} lines of {text}: run the "
            "command that makes them again, with every shard"
        )
    return counts


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def options_sum(fingerprint: str, part_size: int) -> str:
    """The checksum of what decides the annotation of a part.

    Args:
        part_size: sentences are sorted by length within a part, and batches are taken from that.
    """
    return _sum(json.dumps([fingerprint, part_size]))
