"""Logs as fairseq itself writes them, of trainings that never were."""

from __future__ import annotations

import logging
from pathlib import Path

from fairseq.logging.progress_bar import SimpleProgressBar, logger

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
