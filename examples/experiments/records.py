"""Records of runs: a file each while a table grows, all in one file once the table is whole."""

import gzip
import json
import lzma
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from syntax_nmt.data.folder_lock import folder_lock
from syntax_nmt.data.text_files import parse_json, write_bytes_atomically

_PACKED = "records.jsonl.xz"


@dataclass(frozen=True)
class _Packed:
    """A line of the packed file.

    Attributes:
        name: of the run, with its key.
        in_table: whether a row or a choice of the table stands on it.
        record: as the run wrote it.
        texts: translations by test set, and the log, as the run wrote them.
    """

    name: str
    in_table: bool
    record: Mapping[str, Any]
    texts: Mapping[str, str] = field(default_factory=dict)


class Records:
    """What the runs of a table left in its folder of results, each known by its key.

    A run writes `NAME.KEY.json`, and beside it its translations and its log, compressed. While one
    is looked for, another process may pack it: what is not in a file of its own is looked for in
    the packed one, and not the other way round.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read_packed: dict[str, _Packed] = {}
        self._version: tuple[int, int] | None = None  # of the packed file that has been read

    def file(self, name: str, key: str) -> Path:
        """Where a record that is not packed is or will be; one of another name is it as well."""
        found = sorted(self.folder.glob(f"*.{key}.json"))
        return found[0] if found else self.folder / f"{name}.{key}.json"

    def keys(self) -> set[str]:
        """The keys of all records."""
        return {_key(file.stem) for file in self._files()} | self._packed.keys()

    def find(self, key: str) -> Any | None:
        """A record, unchecked; None = there is none.

        Raises:
            UserError: it is no JSON.
        """
        file = self.file("", key)
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            packed = self._packed.get(key)
            return None if packed is None else packed.record
        return parse_json(text, file, "the whole record, or remove it")

    def named(self, prefix: str) -> Iterator[Any]:
        """The records of runs whose names begin so."""
        alone = [_key(file.stem) for file in self._files() if file.name.startswith(prefix)]
        yield from map(self.find, alone)
        for key, each in self._packed.items():
            if each.name.startswith(prefix) and key not in alone:
                yield each.record

    def lines(self, key: str, kind: str) -> list[str]:
        """The lines of what a run wrote beside its record.

        Args:
            kind: a test set, or `log`.
        """
        file = self.file("", key).with_suffix(f".{kind}.gz")
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            return _lines(self._packed[key].texts[kind])
        return _lines(gzip.decompress(content).decode())

    def pack(self, in_table: Collection[str]) -> None:
        """Puts all records into one file, and removes those that stood alone.

        Args:
            in_table: keys of those that the table stands on; the others are marked.
        """
        if any(self._files()):
            with folder_lock(self.folder):  # another process may pack as well
                self._pack(in_table)

    def _pack(self, in_table: Collection[str]) -> None:
        files = list(self._files())
        packed = [*self._packed.values(), *map(self._read, files)]
        marked = [
            asdict(each) | {"in_table": _key(each.name) in in_table}
            for each in sorted(packed, key=lambda each: each.name)
        ]
        lines = "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in marked)
        content = lzma.compress(lines.encode(), preset=9)
        write_bytes_atomically(self.folder / _PACKED, content)
        for file in files:
            for beside in (file, *self.folder.glob(f"{file.stem}.*.gz")):
                beside.unlink()

    def _files(self) -> Iterator[Path]:
        return iter(sorted(self.folder.glob("*.*.*.*.json")))

    def _read(self, file: Path) -> _Packed:
        texts = {
            each.name.removeprefix(f"{file.stem}.").removesuffix(".gz"): gzip.decompress(
                each.read_bytes()
            ).decode()
            for each in sorted(self.folder.glob(f"{file.stem}.*.gz"))
        }
        return _Packed(file.stem, True, json.loads(file.read_text(encoding="utf-8")), texts)

    @property
    def _packed(self) -> Mapping[str, _Packed]:
        """The packed file as it is now: while runs go on for days, another process may pack."""
        file = self.folder / _PACKED
        version = (file.stat().st_ino, file.stat().st_mtime_ns) if file.is_file() else None
        if version != self._version:
            text = lzma.decompress(file.read_bytes()).decode() if version else ""
            entries = [_Packed(**json.loads(line)) for line in _lines(text)]
            self._read_packed = {_key(each.name): each for each in entries}
            self._version = version
        return self._read_packed


def _lines(text: str) -> list[str]:
    """Those that a newline ends: a translation may hold other separators, such as U+2028."""
    return text.split("\n")[:-1]


def _key(name: str) -> str:
    return name.rpartition(".")[2]
