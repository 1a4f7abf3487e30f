"""Compares the words of a reference and a hypothesis."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from syntax_nmt.data.annotation_transfer import check_same_text
from syntax_nmt.data.character_alignment import same_spelling
from syntax_nmt.errors import UserError


@dataclass
class OtherWords:
    """Counts differing words over a corpus; spelling conventions of tokenisers and treebanks do not
    count.

    Attributes:
        words: that differ.
        sentences: that have such words.
        first: position of the first one, and both words.
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
        """A warning about them, if there are any."""
        if self.words:
            yield (
                f"{self.words} words in {self.sentences} sentences are not those of the reference, "
                f"the first in {self.first}: are both of the same text?"
            )


def over_reference_words(
    words: Sequence[str],
    reference: Sequence[str],
    where: str,
    name: str,
    unknown: str | None,
) -> tuple[str, ...]:
    """The words of a corpus line, completed by those of a reference.

    Args:
        where: file and line of the reference, for messages.
        name: file and line of the words, for messages.
        unknown: the symbol for unknown pieces in words; such words are taken from the reference.
            None = words are complete.

    Raises:
        UserError: other numbers of words, or other words.
    """
    if len(words) != len(reference):
        cure = "give the parses of this very text, made of the words that it was segmented from"
        if unknown is not None and any(unknown in word for word in words):
            cure = (
                "give --segmented the text fairseq-preprocess was given, as unknown subwords do "
                "not tell where a word ends"
            )
        raise UserError(
            f"{where}: the reference has {len(reference)} words, {name} has {len(words)}: {cure}"
        )
    completed = tuple(
        word if unknown is None or unknown not in word else known
        for word, known in zip(words, reference)
    )
    check_same_text(completed, reference, where, name)
    return completed
