"""Ways to damage a file, drawn from a seeded generator: by bytes, by lines, by JSON, as a whole.

A folder under test is a copy of hard links; only what is damaged is written.
"""

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

MAX_FLIPS = 40
TEXT_ENDINGS = (".json", ".txt", ".conllu", ".trees", ".chunks", ".src", ".tgt", ".p", ".part")

Bytes = Callable[[random.Random, bytes], bytes]


class Workspace:
    """A folder that can be damaged and mended again.

    Args:
        pristine: what it is a copy of.
        folder: where the copy is made.
    """

    def __init__(self, pristine: Path, folder: Path) -> None:
        self.pristine = pristine
        self.folder = folder
        self.touched: set[str] = set()
        shutil.copytree(pristine, folder, copy_function=os.link)

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def write(self, name: str, content: bytes | None) -> None:
        """Replaces a file, or removes it; the file that it was a link to stays as it is."""
        self.touched.add(name)
        (self.folder / name).unlink(missing_ok=True)
        if content is not None:
            (self.folder / name).write_bytes(content)

    def original(self, name: str) -> bytes:
        return (self.pristine / name).read_bytes()

    def mend(self) -> None:
        for name in self.touched:
            (self.folder / name).unlink(missing_ok=True)
            os.link(self.pristine / name, self.folder / name)
        self.touched.clear()


def damage(
    rng: random.Random, space: Workspace, name: str, same_kind: list[str], foreign: list[Path]
) -> str:
    """Damages a file of a workspace in one way or another, and says how.

    Args:
        rng: draws the way and the place.
        space: where the file lies.
        name: the file.
        same_kind: other files of the workspace that it may be exchanged with.
        foreign: files from elsewhere that may take its place.
    """
    while True:  # until something has changed
        way = rng.choice(_ways(name, same_kind, foreign))
        if way in ("swap", "replace", "remove", "foreign"):
            said = _whole_file(rng, way, space, name, same_kind, foreign)
        else:
            changed = BY_NAME[way](rng, space.original(name))
            space.write(name, changed)
            said = f"{way} {name}"
        if any(
            not (space / touched).exists()
            or (space / touched).read_bytes() != space.original(touched)
            for touched in space.touched
        ):
            return said
        space.mend()


def _ways(name: str, same_kind: list[str], foreign: list[Path]) -> list[str]:
    ways = list(BYTE_DAMAGE) * 2 + ["remove"]
    if name.endswith(TEXT_ENDINGS):
        ways += list(TEXT_DAMAGE) * 2
    if name.endswith(".json"):
        ways += list(JSON_DAMAGE) * 4
    ways += ["swap", "replace"] * bool(same_kind) + ["foreign"] * 2 * bool(foreign)
    return ways


def _whole_file(
    rng: random.Random,
    way: str,
    space: Workspace,
    name: str,
    same_kind: list[str],
    foreign: list[Path],
) -> str:
    if way == "remove":
        space.write(name, None)
        return f"remove {name}"
    if way == "foreign":
        other = rng.choice(foreign)
        space.write(name, other.read_bytes())
        return f"replace {name} by {other}"
    other_name = rng.choice(same_kind)
    space.write(name, space.original(other_name))
    if way == "swap":
        space.write(other_name, space.original(name))
    return f"{way} {name} {other_name}"


def flip_bit(rng: random.Random, content: bytes) -> bytes:
    return _flipped(rng, content, 1)


def flip_bits(rng: random.Random, content: bytes) -> bytes:
    return _flipped(rng, content, rng.randint(2, MAX_FLIPS))


def flip_head_bit(rng: random.Random, content: bytes) -> bytes:
    """A bit of the first 64 bytes, where formats keep magic numbers and sizes."""
    return _flipped(rng, content[:64], 1) + content[64:]


def set_bytes(rng: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.randint(1, 8)):
        if changed:
            changed[rng.randrange(len(changed))] = rng.choice((0, 9, 10, 13, 32, 127, 128, 255))
    return bytes(changed)


def truncate(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content))] if content else content


def cut_out(rng: random.Random, content: bytes) -> bytes:
    start, end = _range(rng, content)
    return content[:start] + content[end:]


def extend(rng: random.Random, content: bytes) -> bytes:
    return content + rng.randbytes(rng.choice((1, 2, 4, 8, 100)))


def zero(rng: random.Random, content: bytes) -> bytes:
    start, end = _range(rng, content)
    return content[:start] + bytes(end - start) + content[end:]


def empty(rng: random.Random, content: bytes) -> bytes:
    return b""


def swap_byte_order(rng: random.Random, content: bytes) -> bytes:
    """Numbers of 2, 4 or 8 bytes the other way round, as a machine of another kind writes them."""
    width = rng.choice((2, 4, 8))
    whole = len(content) // width * width
    turned = b"".join(content[at : at + width][::-1] for at in range(0, whole, width))
    return turned + content[whole:]


def _in_lines(change: Callable[[random.Random, list[bytes]], None]) -> Bytes:
    """A damage to the lines of a file."""

    def damaged(rng: random.Random, content: bytes) -> bytes:
        lines = content.splitlines(keepends=True)
        if lines:
            change(rng, lines)
        return b"".join(lines)

    return damaged


@_in_lines
def swap_lines(rng: random.Random, lines: list[bytes]) -> None:
    one, other = rng.choices(range(len(lines)), k=2)
    lines[one], lines[other] = lines[other], lines[one]


@_in_lines
def delete_line(rng: random.Random, lines: list[bytes]) -> None:
    del lines[rng.randrange(len(lines))]


@_in_lines
def duplicate_line(rng: random.Random, lines: list[bytes]) -> None:
    lines.insert(rng.randrange(len(lines)), rng.choice(lines))


def swap_blocks(rng: random.Random, content: bytes) -> bytes:
    """Two paragraphs change places: the sentences of CoNLL-U."""
    blocks = content.split(b"\n\n")
    if len(blocks) > 2:
        one, other = rng.sample(range(len(blocks) - 1), 2)
        blocks[one], blocks[other] = blocks[other], blocks[one]
    return b"\n\n".join(blocks)


def swap_alike(rng: random.Random, content: bytes) -> bytes:
    """Two sentences of one length change places, which no count of words can tell."""
    between = b"\n\n" if b"\n\n" in content else b"\n"
    entries = content.split(between)
    by_length: dict[int, list[int]] = {}
    for index, entry in enumerate(entries):
        lines = entry.splitlines() if between == b"\n\n" else entry.split()
        words = [part for part in lines if not part.startswith((b"#", b"("))]
        by_length.setdefault(len(words), []).append(index)
    alike = [indices for indices in by_length.values() if len(indices) > 1]
    if alike:
        one, other = rng.sample(rng.choice(alike), 2)
        entries[one], entries[other] = entries[other], entries[one]
    return between.join(entries)


def other_line_ends(rng: random.Random, content: bytes) -> bytes:
    return content.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\r", b"\x0b", b" \n")))


def other_encoding(rng: random.Random, content: bytes) -> bytes:
    encoding = rng.choice(("utf-16", "utf-16-be", "utf-32", "latin-1", "utf-8-sig"))
    return content.decode("utf-8").encode(encoding, errors="replace")


def invalid_utf8(rng: random.Random, content: bytes) -> bytes:
    wrong = rng.choice((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80"))
    return _inserted(rng, content, wrong)


def odd_character(rng: random.Random, content: bytes) -> bytes:
    odd = rng.choice(("\0", "\ufeff", "\u2028", "\u00a0", "\x1c", "\t", "(", ")", "#", "🙂"))
    return _inserted(rng, content, odd.encode())


def other_digit(rng: random.Random, content: bytes) -> bytes:
    """A digit of a number changes, or the number gets very long."""
    places = [at for at, byte in enumerate(content) if 48 <= byte <= 57]
    if not places:
        return content
    at = rng.choice(places)
    digits = b"9" * 5000 if rng.random() < 0.1 else str(rng.randint(0, 99)).encode()
    return content[:at] + digits + content[at + 1 :]


def _in_json(change: Callable[[random.Random, dict], None]) -> Bytes:
    """A damage to one of the mappings of a JSON file."""

    def damaged(rng: random.Random, content: bytes) -> bytes:
        data = json.loads(content)
        change(rng, rng.choice([place for place in _containers(data) if place]))
        return json.dumps(data).encode()

    return damaged


@_in_json
def json_other_number(rng: random.Random, parent: dict) -> None:
    odd = (0, -1, 1, 10**6, 10**30, 0.5, True, None, "1", "\ud800", "a\0b", [], {}, "x" * 300)
    parent[rng.choice(list(parent))] = rng.choice(odd)


@_in_json
def json_without_key(rng: random.Random, parent: dict) -> None:
    del parent[rng.choice(list(parent))]


@_in_json
def json_renamed_key(rng: random.Random, parent: dict) -> None:
    new = rng.choice(("", "x", "..", "\ud800", "a\0b", "train"))
    parent[new] = parent.pop(rng.choice(list(parent)))


@_in_json
def json_exchanged_values(rng: random.Random, parent: dict) -> None:
    one, other = rng.choices(list(parent), k=2)
    parent[one], parent[other] = parent[other], parent[one]


def json_reordered(rng: random.Random, content: bytes) -> bytes:
    """The same data in another order: no damage at all."""

    def reordered(data):
        if isinstance(data, dict):
            return {key: reordered(data[key]) for key in rng.sample(list(data), len(data))}
        return data

    return json.dumps(reordered(json.loads(content)), indent=rng.choice((None, 4))).encode()


def json_nested(rng: random.Random, content: bytes) -> bytes:
    return b"[" * 100_000 if rng.random() < 0.5 else b"[" + content + b"]"


BYTE_DAMAGE = (
    *("flip_bit", "flip_bits", "flip_head_bit", "set_bytes", "truncate", "cut_out", "extend"),
    *("zero", "empty", "swap_byte_order"),
)
TEXT_DAMAGE = (
    *("swap_lines", "delete_line", "duplicate_line", "swap_blocks", "swap_alike"),
    "other_line_ends",
    *("other_encoding", "invalid_utf8", "odd_character", "other_digit"),
)
JSON_DAMAGE = (
    *("json_other_number", "json_without_key", "json_renamed_key", "json_exchanged_values"),
    *("json_reordered", "json_nested"),
)
BY_NAME: dict[str, Bytes] = {
    name: globals()[name] for name in (*BYTE_DAMAGE, *TEXT_DAMAGE, *JSON_DAMAGE)
}


def _flipped(rng: random.Random, content: bytes, times: int) -> bytes:
    changed = bytearray(content)
    for _ in range(times if content else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _range(rng: random.Random, content: bytes) -> tuple[int, int]:
    start = rng.randrange(len(content) + 1)
    return start, min(len(content), start + rng.choice((1, 2, 4, 12, 100, 10_000)))


def _inserted(rng: random.Random, content: bytes, what: bytes) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + what + content[at:]


def _containers(data) -> list[dict]:
    if not isinstance(data, dict):
        return []
    return [data, *(inner for value in data.values() for inner in _containers(value))]
