"""A small test set with everything that a report can show."""

from pathlib import Path

from training_logs import LogWriter
from translations import generated, noisy, sentences, write

from syntax_nmt.data.conllu import format_conllu

COUNT = 24
REFERENCE = sentences(COUNT, seed=3)
SOURCE = [f"▁{line.replace(' ', ' ▁')}" for line in sentences(COUNT, seed=5)]
BASE, OURS = noisy(REFERENCE, 2, 0.4), noisy(REFERENCE, 4, 0.2)
EVIL = "<script>alert('x')</script> & <b>bold</b>"
QUICK = ("--resamples", 20, "--trials", 20)


def words(line: str) -> list[str]:
    return line.replace("▁", "").split()


def chain(line: str, reverse: bool = False) -> str:
    """A dependency tree in which each word hangs on the one before it, or behind it."""
    found = words(line)
    last = len(found) - 1
    heads = [min(i + 1, last) if reverse else max(i - 1, 0) for i in range(len(found))]
    return format_conllu(found, heads)


def branching(line: str) -> str:
    found = [f"(W {word})" for word in words(line)]
    while len(found) > 1:
        found[-2:] = [f"(X {found[-2]} {found[-1]})"]
    return found[0]


def links(line: str, target: str) -> str:
    shorter = min(len(words(line)), len(words(target)))
    return " ".join(f"{i}-{i}" for i in range(shorter))


def write_all(folder: Path) -> None:
    """Translations of two systems (the second has two seeds), and all that belongs to them."""
    write(folder / "ref", REFERENCE)
    write(folder / "src", SOURCE)
    write(folder / "base.gen", generated([EVIL, *BASE[1:]], REFERENCE, SOURCE))
    write(folder / "ours.1", OURS)
    write(folder / "ours.2", noisy(REFERENCE, 5, 0.2))
    for name in ("base", "ours"):
        with LogWriter(folder / f"{name}.log") as writer:
            writer.train(1, 5, shift=0.1, uas=80.5)
    for name, reverse in (("ref", False), ("ours", True)):
        blocks = "".join(chain(line, reverse) for line in SOURCE)
        (folder / f"{name}.conllu").write_text(blocks, encoding="utf-8")
    write(folder / "ours.trees", ["()", *(branching(line) for line in SOURCE[1:])])
    write(folder / "ours.links", [links(*pair) for pair in zip(SOURCE, OURS)])
    write(folder / "ours.chunks", [" ".join("B-NP" for _ in line.split()) for line in OURS])


def arguments(folder: Path) -> list:
    """Everything, for `syntax-nmt report`."""
    return [
        *("--system", "base", folder / "base.gen"),
        *("--system", "ours", folder / "ours.1", folder / "ours.2"),
        *("--reference", folder / "ref", "--source", folder / "src", "--bins", "8,16"),
        *("--log", "base", folder / "base.log", "--log", "ours", folder / "ours.log"),
        *("--dependencies", "reference", folder / "ref.conllu"),
        *("--dependencies", "ours", folder / "ours.conllu"),
        *("--constituents", "ours", folder / "ours.trees"),
        *("--alignments", "ours", folder / "ours.links"),
        *("--chunks", "ours", folder / "ours.chunks"),
        *("--output", folder / "report.html", *QUICK),
    ]
