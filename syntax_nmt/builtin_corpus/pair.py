"""A sentence in both languages, with everything known about it."""

from __future__ import annotations

from dataclasses import dataclass

from syntax_nmt.builtin_corpus.constituents import Phrase, Word
from syntax_nmt.builtin_corpus.source import source_tree
from syntax_nmt.builtin_corpus.syntax import Sentence
from syntax_nmt.builtin_corpus.target import TargetWord, target_words

SHORTEST, LONGEST = 4, 40


@dataclass
class SentencePair:
    """A source tree and its translation."""

    tree: Phrase
    source: list[Word]
    target: list[TargetWord]

    @classmethod
    def of(cls, sentence: Sentence) -> SentencePair:
        """Puts a sentence into both languages.

        Args:
            sentence: what to say.
        """
        tree = source_tree(sentence)
        return cls(tree, list(tree.words()), target_words(sentence))

    @property
    def of_fair_length(self) -> bool:
        """Whether neither side is too long or short for the corpus."""
        lengths = len(self.source), len(self.target)
        return min(lengths) >= SHORTEST and max(lengths) <= LONGEST

    @property
    def source_text(self) -> str:
        """The source, its words separated by one space."""
        return " ".join(word.form for word in self.source)

    @property
    def target_text(self) -> str:
        """The target, its words separated by one space."""
        return " ".join(word.form for word in self.target)

    def alignment(self) -> list[tuple[int, int]]:
        """Positions, from 0, of the words that express a concept in common."""
        return [
            (i, j)
            for i, source in enumerate(self.source)
            for j, target in enumerate(self.target)
            if not set(source.concepts).isdisjoint(target.concepts)
        ]
