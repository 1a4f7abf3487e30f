"""An annotator that answers at once: what is tested is all that lies around the parser."""

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from syntax_nmt.preparation.annotators.annotate import Resources, annotate_file
from syntax_nmt.preparation.annotators.annotator import Annotator


@dataclass(frozen=True)
class StandIn(Annotator):
    """Gives each sentence its words back in brackets; what holds `boom` fails.

    Attributes:
        max_words: longer sentences are not given to it.
        seconds: how long it sleeps over each call.
        dies_at: a sentence with this word kills the process.
    """

    max_words: int = 50
    seconds: float = 0.0
    dies_at: str = ""

    def fingerprint(self) -> str:
        return f"stand-in {self.max_words}"

    @property
    def made_by(self) -> str:
        return "stand-in 1"

    def load(self) -> None:
        pass

    def annotate(self, sentences: Sequence[Sequence[str]]) -> list[str | None]:
        time.sleep(self.seconds)
        assert [len(words) for words in sentences] == sorted(map(len, sentences))
        if self.dies_at and any(self.dies_at in words for words in sentences):
            os._exit(9)
        return [
            None if "boom" in words else "(X " + " ".join(f"(W {word})" for word in words) + ")\n"
            for words in sentences
        ]

    def no_annotation(self, words: Sequence[str]) -> str:
        return "()\n"


def main() -> None:
    """`stand_in.py TEXT OUTPUT WORKERS PART_SIZE SECONDS`, for tests that kill it."""
    text, output, workers, part_size, seconds = sys.argv[1:]
    annotate_file(
        Path(text),
        Path(output),
        StandIn(seconds=float(seconds)),
        Resources(int(workers), part_size=int(part_size)),
    )


if __name__ == "__main__":
    main()
