"""Steps of a long job, done once, with a record of their inputs."""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from syntax_nmt.data.text_files import (
    checksum,
    named_file,
    read_json,
    refuse_pipe,
    write_atomically,
)
from syntax_nmt.errors import UserError

Report = dict[str, Any]

# Keys of reports in more than one file. Of annotation: what made it, whether that is a program of
# the user, the sentences that have one, the file that it was taken from, those that it skipped.
PARSER, PROGRAM, ANNOTATED = "parser", "program", "annotated"
TAKEN_FROM, SKIPPED = "from", "skipped"
# Of words as tokens: those that fairseq takes for symbols. Of a data-bin: the percentage of unknown
# pieces by text. Of a corpus: its shards.
SYMBOLS, UNKNOWN, SHARDS = "symbols", "unknown", "shards"

# Increased when a step gives another result for the same input, so that old results are not reused.
FORMAT = 2


class Steps:
    """The record of a folder's finished steps, kept in a JSON file.

    A step is skipped if its inputs are the same and its files have not changed; a step that was
    interrupted has no record and runs again.

    Args:
        record: the JSON file; the files of steps are named relative to its folder.
        note: called with one line about each step.

    Attributes:
        reports: figures of each step that was run or skipped, by its name.
    """

    def __init__(self, record: Path, note: Callable[[str], None]) -> None:
        refuse_pipe(record)
        self._path = record
        self._note = note
        self._sums: dict[Path, tuple[tuple[int, int], str]] = {}
        found = recorded_steps(record)
        if found is None:
            note(f"{record}: damaged: its steps are done again")
        self._done: dict[str, Report] = found or {}
        self.reports: dict[str, Report] = {}

    def run(
        self,
        name: str,
        made_from: Mapping[str, Any],
        make: Callable[[], Report],
        outputs: Callable[[], Iterable[Path]],
    ) -> Report:
        """Runs a step unless it is done; returns what it reported, now or then.

        Args:
            made_from: options and checksums of inputs; anything JSON can hold.
            make: does the work, writes each file as a whole, and returns figures to report.
            outputs: the files it made, asked for after the work.
        """
        inputs = json.dumps({"format": FORMAT, **made_from}, sort_keys=True)
        key = hashlib.sha256(inputs.encode("utf-8")).hexdigest()
        done = self._done.get(name)
        if done is not None and done["key"] == key and self._unchanged(done["files"]):
            self._note(f"{name}: done before")
            self.reports[name] = done["report"]
            return self.reports[name]
        self._note(f"{name} …")
        began = time.monotonic()
        report = self.reports[name] = make()
        seconds = time.monotonic() - began
        rate = f", {report['lines'] / seconds:,.0f} lines/s" if report.get("lines") else ""
        self._note(f"{name}: {seconds:.1f} s{rate}")
        files = {self._relative(path): self.checksum(path) for path in outputs()}
        self._done[name] = {"key": key, "files": files, "report": report}
        with write_atomically(self._path) as out:
            json.dump(self._done, out, indent=1)
        return report

    def forget(self, name: str) -> None:
        """Has a step done again."""
        self._done.pop(name, None)

    def report(self, name: str) -> Report | None:
        """The report of a finished step; None if there was none or its files have changed."""
        done = self._done.get(name)
        return done["report"] if done is not None and self._unchanged(done["files"]) else None

    def checksum(self, path: Path) -> str:
        """SHA-256 of a file, read only once as long as it does not change."""
        status = path.stat()
        stamp = (status.st_mtime_ns, status.st_size)
        known = self._sums.get(path)
        if known is None or known[0] != stamp:
            known = (stamp, checksum(path))
            self._sums[path] = known
        return known[1]

    def _unchanged(self, files: Mapping[str, str]) -> bool:
        try:
            paths = {named_file(self._path.parent, name): digest for name, digest in files.items()}
        except UserError:
            return False
        return all(self.checksum(path) == digest for path, digest in paths.items())

    def _relative(self, path: Path) -> str:
        return path.relative_to(self._path.parent).as_posix()


def recorded_steps(record: Path) -> dict[str, Any] | None:
    """What a record holds, by the names of steps; None if it is there and cannot be read."""
    try:
        found = read_json(record)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError):
        return None
    if isinstance(found, dict) and all(map(_is_step, found.values())):
        return found
    return None


def _is_step(found: Any) -> bool:
    """Whether a value of the record has the form in which steps are written."""
    if not isinstance(found, dict) or not isinstance(found.get("key"), str):
        return False
    files, report = found.get("files"), found.get("report")
    names = isinstance(files, dict) and all(isinstance(each, str) for each in files.values())
    return names and isinstance(report, dict)
