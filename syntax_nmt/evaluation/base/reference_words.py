"""Words of a hypothesis that are not those of the reference: it may be of another text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from syntax_nmt.data.character_alignment import same_spelling


@dataclass
class OtherWords:
    """Counts them over a corpus; spelling habits of tokenisers and treebanks do not count.

    Attributes:
        words: that differ.
        sentences: that have such words.
        first: where the first one stands, and both words.
    """

    words: int = 0
    sentences: int = 0
    first: str = ""

    def add(self, words: Sequence[str], reference: Sequence[str], where: str) -> None:
        """Compares a sentence.

        Args:
            where: file and line of the hypothesis.
        """
        if words == reference:
            return
        differing = [pair for pair in zip(words, reference) if not same_spelling(*pair)]
        self.words += len(differing)
        self.sentences += bool(differing)
        if differing and not self.first:
            ours, theirs = differing[0]
            self.first = f"{where}: {ours!r} for {theirs!r}"

    def note(self) -> Iterator[str]:
        """What to say of them, if there are any."""
        if self.words:
            yield (
                f"{self.words} words in {self.sentences} sentences are not those of the reference, "
                f"the first in {self.first}: are both of the same text?"
            )
