"""A sentence in both languages with everything known about it; contrastive pairs of translations.

Of a contrastive pair, one translation has a verb that disagrees with its subject. A model that
finds the verb's subject prefers the other. The distance is the number of words between the
subject's noun and the verb in the target, in whichever order they stand; it grows with what
intervenes, nouns of the other number among it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from syntax_nmt.builtin_corpus.draw import Draw
from syntax_nmt.builtin_corpus.source import source_tree
from syntax_nmt.builtin_corpus.syntax import GeneratedSentence, Phrase, Word
from syntax_nmt.builtin_corpus.target import TargetWord, target_words

SHORTEST, LONGEST = 4, 40


@dataclass
class SentencePair:
    """A source tree and its translation."""

    tree: Phrase
    source: list[Word]
    target: list[TargetWord]

    @classmethod
    def of(cls, sentence: GeneratedSentence) -> SentencePair:
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


BANDS = (0, 1, 2, 3, 4, 6, 8, 11, 15)
"""The least distance of each band; the bands get equally many pairs, and `contrast` has figures of
each."""


@dataclass
class AgreementPair:
    """A sentence with a correct and an incorrect translation.

    Args:
        incorrect: the same, save one verb that is of the other number than its subject.
        distance: words between the subject's noun and that verb in the translation.
    """

    source: str
    correct: str
    incorrect: str
    distance: int


def contrastive_pairs(
    pairs: Iterator[SentencePair], draw: Draw, size: int
) -> Iterator[AgreementPair]:
    """Contrastive pairs, spread evenly over bands of distance.

    Args:
        pairs: a stream of sentences that does not end; as many are read as it takes.
        draw: the stream that decides which verb of a sentence to break.
        size: how many to make.
    """
    room = [(size + len(BANDS) - 1 - band) // len(BANDS) for band in range(len(BANDS))]
    while any(room):
        pair = next(pairs)
        verbs = [place for place, word in enumerate(pair.target) if word.disagreeing]
        verbs = [verb for verb in verbs if room[_band(_distance(pair.target, verb))]]
        if verbs:
            verb = draw.one_of(verbs)
            room[_band(_distance(pair.target, verb))] -= 1
            yield _broken(pair, verb)


def _distance(words: list[TargetWord], verb: int) -> int:
    """The number of words between a verb and the noun it agrees with."""
    (subject,) = (place for place, word in enumerate(words) if words[verb].subject in word.concepts)
    return abs(verb - subject) - 1


def _band(distance: int) -> int:
    """Which band a distance falls into."""
    return sum(least <= distance for least in BANDS) - 1


def _broken(pair: SentencePair, verb: int) -> AgreementPair:
    """The pair that breaks the agreement of one verb."""
    forms = [word.form for word in pair.target]
    forms[verb] = pair.target[verb].disagreeing
    distance = _distance(pair.target, verb)
    return AgreementPair(pair.source_text, pair.target_text, " ".join(forms), distance)
