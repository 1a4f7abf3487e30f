"""What a report is made of: a small test set, and logs as fairseq writes them."""

from __future__ import annotations

import logging
from pathlib import Path

from fairseq.logging.progress_bar import SimpleProgressBar, logger
from translations import generated, noisy, sentences, write

from syntax_nmt.data.conllu import format_conllu

EPOCH, INTERVAL = 100, 50


class LogWriter:
    """Writes what fairseq-train would."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> LogWriter:
        self.handler = logging.FileHandler(self.path, encoding="utf-8")
        self.handler.setFormatter(logging.Formatter("%(asctime)s | INFO | %(name)s | %(message)s"))
        self.before = logger.level, logger.propagate
        logger.addHandler(self.handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        return self

    def __exit__(self, *error: object) -> None:
        logger.removeHandler(self.handler)
        self.handler.close()
        logger.setLevel(self.before[0])
        logger.propagate = self.before[1]

    def say(self, text: str) -> None:
        logger.info(text)

    def train(self, first: int, last: int, shift: float = 0.0, **more) -> None:
        """Epochs from `first` to `last`; losses fall with the updates, and `shift` moves them."""
        for epoch in range(first, last + 1):
            bar = SimpleProgressBar(range(EPOCH), epoch=epoch, log_interval=INTERVAL)
            for step, _ in enumerate(bar, start=1):
                updates = (epoch - 1) * EPOCH + step
                bar.log(self.values(updates, shift, **more), tag="train_inner", step=updates)
            self.valid(epoch, shift, **more)
            bar.print(self.values(epoch * EPOCH, shift, **more), tag="train", step=epoch * EPOCH)

    def valid(self, epoch: int, shift: float = 0.0, **more) -> None:
        prefix = "valid on 'valid' subset"
        bar = SimpleProgressBar(range(3), epoch=epoch, prefix=prefix)
        values = self.values(epoch * EPOCH, shift + 1, **more)
        bar.print({**values, "best_loss": 1.0}, tag="valid", step=epoch * EPOCH)

    @staticmethod
    def values(updates: int, shift: float, **more) -> dict[str, object]:
        loss = loss_after(updates) + shift
        return {
            "loss": loss, "nll_loss": loss - 0.5, **more, "ppl": 2 ** (loss - 0.5), "wps": 900.5,
            "num_updates": updates, "lr": 1e-3, "wall": updates / 2,
        }  # fmt: skip


def loss_after(updates: int) -> float:
    return round(2 + 400 / (updates + 100), 3)


COUNT = 24
REFERENCE = sentences(COUNT, seed=3)
SOURCE = [f"▁{line.replace(' ', ' ▁')}" for line in sentences(COUNT, seed=5)]
BASE, OURS = noisy(REFERENCE, 2, 0.4), noisy(REFERENCE, 4, 0.2)
EVIL = "<script>alert('x')</script> & <b>bold</b>"
QUICK = ("--resamples", 40, "--trials", 20)


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
