"""Bits of the words of a reference: −log₂ p by a model that is forced to it, in a file.

`syntax-nmt likelihood` writes such a file: a line for each word, the word and its bits with a tab
between them, the end of the sentence `</s>` last, and an empty line after each sentence. The bits
of a word are the sum of those of its pieces. A sentence without words but with the line `# too
long` has no bits, as the model has no positions for it.

A corpus costs B = Σ_w bits(w) / words of a bucket. compare-mt's `compare-ll` prints −B ln 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from syntax_nmt.data.character_alignment import align_by_characters
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.findings import Findings, Table
from syntax_nmt.reporting.result import CommandResult
from syntax_nmt.scoring.parallel_text import SegmentedText, check_parallel
from syntax_nmt.scoring.words.buckets import Labels
from syntax_nmt.scoring.words.labelled_text import Words
from syntax_nmt.scoring.words.matches import FOUND, REFERENCE, WIDTH

END = "</s>"
TOO_LONG = "# too long"

SentenceBits = Sequence[tuple[str, float]]
"""The words of a sentence and their bits, :data:`END` last."""


@dataclass
class Likelihood(CommandResult):
    """How many bits a text costs a model.

    Attributes:
        sentences: of the text.
        sentences_too_long: those left out, for which the model has no positions.
        words: of the others.
        bits: of a word, the mean.
        bits_of_ends: of the end of a sentence, the mean.
        perplexity: of a word, the end of a sentence counted as one.
    """

    sentences: int
    sentences_too_long: int
    words: int
    bits: float
    bits_of_ends: float
    perplexity: float

    @classmethod
    def of(cls, text: Sequence[SentenceBits | None]) -> Likelihood:
        """The figures of a text, in which a sentence is not too long.

        Args:
            text: of each sentence; None = too long for the model.
        """
        known = [sentence for sentence in text if sentence is not None]
        of_words = [bits for sentence in known for _, bits in sentence[:-1]]
        of_ends = [sentence[-1][1] for sentence in known]
        mean = (sum(of_words) + sum(of_ends)) / (len(of_words) + len(of_ends))
        return cls(
            len(text),
            len(text) - len(known),
            len(of_words),
            sum(of_words) / max(1, len(of_words)),
            sum(of_ends) / len(of_ends),
            2**mean,
        )

    def findings(self, digits: int = 3) -> Findings:
        """One row."""
        head = ["sentences", "words", "bits of a word", "bits of an end", "perplexity"]
        row = [str(self.sentences), str(self.words)]
        row += [f"{each:.{digits}f}" for each in (self.bits, self.bits_of_ends, self.perplexity)]
        notes = [f"{self.sentences_too_long} sentences left out, too long for the model"]
        return Findings([Table(head, [row], names=0)], notes=notes * bool(self.sentences_too_long))


def bits_of_text(
    text: SegmentedText, scores: Sequence[Sequence[float] | None]
) -> list[SentenceBits | None]:
    """The words of each sentence and its end, with their bits; None = too long for the model.

    Args:
        scores: of each sentence the natural logs of the probabilities of all pieces and of the
            end; None = too long.
    """
    return [
        None if of_pieces is None else _bits_of_words(words, counts, of_pieces)
        for words, counts, of_pieces in zip(text.words, text.counts, scores, strict=True)
    ]


def _bits_of_words(
    words: Sequence[str], counts: Sequence[int], scores: Sequence[float]
) -> SentenceBits:
    bits = [-score / math.log(2) for score in scores]
    found, start = [], 0
    for word, count in zip(words, counts):
        found.append((word, sum(bits[start : start + count])))
        start += count
    return [*found, (END, bits[start])]


def bits_lines(text: Iterable[SentenceBits | None]) -> Iterator[str]:
    """The lines of a file."""
    for sentence in text:
        if sentence is None:
            yield f"{TOO_LONG}\n"
        for word, bits in sentence or ():
            yield f"{word}\t{bits:.6f}\n"
        yield "\n"


def read_bits(path: str) -> list[SentenceBits | None]:
    """The sentences of a file; None = too long for the model.

    Raises:
        UserError: a line is no word with its bits, or a sentence has no end.
    """
    found: list[SentenceBits | None] = []
    sentence: list[tuple[str, float]] = []
    too_long = False
    number = 0
    for number, line in enumerate(read_lines(path), start=1):
        if line == TOO_LONG:
            too_long = True
        elif line:
            sentence.append(_word(line, f"{path}:{number}"))
        elif too_long or (sentence and sentence[-1][0] == END):
            found.append(None if too_long else sentence)
            sentence, too_long = [], False
        else:
            raise UserError(f"{path}:{number}: the sentence does not end in {END}: {_REMEDY}")
    if sentence or too_long:
        raise UserError(f"{path}:{number}: the last sentence is not whole: {_REMEDY}")
    return found


_REMEDY = "give a file of syntax-nmt likelihood"
_ROUNDING = 1e-6  # bits of p = 1 may be as much below 0


def _word(line: str, where: str) -> tuple[str, float]:
    word, _, text = line.rpartition("\t")
    try:
        bits = float(text)
    except ValueError:
        bits = math.nan
    if not word or not math.isfinite(bits) or bits < -_ROUNDING:
        raise UserError(f"{where}: {line[:40]!r} is no word with its bits: {_REMEDY}")
    return word, bits


@dataclass(frozen=True)
class ReferenceBits:
    """The bits of the words of a reference by all runs of all systems.

    Attributes:
        runs: by system, run and sentence the bits of each word; NaN = none: the model's word
            reaches from the word before into this one, or the sentence was too long for a model.
    """

    runs: Sequence[Sequence[Sequence[np.ndarray]]]

    @classmethod
    def read(cls, files: Sequence[Sequence[str]], reference: Words) -> ReferenceBits:
        """The bits of each run's file, carried over to the words of the reference.

        A word of the reference has the bits of all of the model's words that begin in it. Sentences
        without bits in one file have none in any.

        Args:
            files: by system and run.

        Raises:
            UserError: a file is damaged, or of another text.
        """
        runs = [[_over(path, reference) for path in paths] for paths in files]
        for place, _ in enumerate(reference.sentences):
            of_all = [run[place] for of_system in runs for run in of_system]
            missing = np.isnan(np.stack(of_all)).any(axis=0)
            for bits in of_all:
                bits[missing] = np.nan
        return cls(runs)

    def known(self, labels: Sequence[Sequence[Labels]]) -> list[list[Labels]]:
        """The buckets of all words; none of words without bits."""
        first = self.runs[0][0]
        return [
            [() if math.isnan(value) else of_word for value, of_word in zip(bits, of_sentence)]
            for bits, of_sentence in zip(first, labels)
        ]

    def statistics(
        self, labels: Sequence[Sequence[Labels]], buckets: Sequence[str]
    ) -> list[list[np.ndarray]]:
        """By system and run sentences × (buckets · `WIDTH`): sums of bits, 0, and words.

        Args:
            labels: of :meth:`known`.
            buckets: their names; others do not count.
        """
        index = {name: place for place, name in enumerate(buckets)}
        return [
            [np.stack([_counts(*each, index) for each in zip(run, labels)]) for run in runs]
            for runs in self.runs
        ]


def _counts(bits: np.ndarray, labels: Sequence[Labels], index: dict[str, int]) -> np.ndarray:
    counts = np.zeros((len(index), WIDTH))
    for value, of_word in zip(bits, labels):
        for name in of_word:
            if name in index:
                counts[index[name], FOUND] += value
                counts[index[name], REFERENCE] += 1
    return counts.reshape(-1)


def _over(path: str, reference: Words) -> list[np.ndarray]:
    """By sentence the bits of the words of a reference; NaN = none."""
    text = read_bits(path)
    check_parallel(path, len(text), reference.name, len(reference.sentences), "sentences")
    found = []
    for number, (sentence, words) in enumerate(zip(text, reference.sentences), start=1):
        bits = np.full(len(words), np.nan)
        if sentence is not None:
            own = [word for word, _ in sentence[:-1]]
            home = align_by_characters(own, words)
            if home is None and (own or words):
                raise UserError(
                    f"{path}: sentence {number} has the words {' '.join(own)[:40]!r}, "
                    f"{reference.name}:{number} {' '.join(words)[:40]!r}: give the bits of this "
                    "very reference"
                )
            for token, (_, value) in zip(home or (), sentence):
                bits[token] = value + (0.0 if math.isnan(bits[token]) else bits[token])
        found.append(bits)
    return found
