"""Otem and Utem: n-grams that a translation has too often, and those that it lacks.

Yang et al. (2018), "Otem&Utem: Over- and Under-Translation Evaluation Metric for NMT", as their
program computes them. Of an n-gram, a translation has too many if the reference has fewer, and if
the reference has none, all but one; it lacks those that the reference has more of. With the sums of
orders n over the corpus, c words of translations and r of references,

    Otem = exp(max(0, 1 − r/c)) · ∏ₙ (too many n-grams / n-grams of translations)^(1/2),  n ≤ 2
    Utem = exp(max(0, 1 − c/r)) · ∏ₙ (lacking n-grams / n-grams of references)^(1/4),     n ≤ 4

Both are 0 where an order has none. Lower is better. Of several references an n-gram is too many by
the smallest number that is not 0; the fewest lacking n-grams count, and the most n-grams.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from sacrebleu.metrics.base import Metric, Score, Signature

NGrams = Sequence[Counter[tuple[str, ...]]]
"""The n-grams of a sentence, for each order from 1."""


def ngrams(words: Sequence[str], orders: int) -> NGrams:
    """The n-grams of a sentence.

    Args:
        orders: up to this one.
    """
    return [
        Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
        for n in range(1, orders + 1)
    ]


class CoverageSignature(Signature):
    """The settings of a score: orders of n-grams, and those of BLEU's words.

    Args:
        args: attributes of the metric.
    """

    def __init__(self, args: dict[str, Any]) -> None:
        super().__init__(args)
        self._abbr.update(case="c", tok="tok", n="n", bp="bp")
        case = "lc" if args["lowercase"] else "mixed"
        self.info.update(case=case, tok=args["tokenizer_signature"], n=args["n"])
        self.info.update(bp=args["brevity"])


class CoverageMetric(Metric):
    """Otem or Utem of a corpus, in percent, in the frame of sacrebleu's metrics.

    The statistics of a sentence are words of the translation and of the reference closest in
    length, then for each order the counted n-grams, then for each order all n-grams.

    Args:
        tokenizer: splits a line into words separated by spaces, and has a `signature()`.
        lowercase: case is ignored.
        brevity: the reference whose length counts, `closest` or `shortest`.
    """

    _SIGNATURE_TYPE = CoverageSignature
    name: ClassVar[str]
    orders: ClassVar[int]

    def __init__(self, tokenizer: Callable[[str], str], lowercase: bool, brevity: str) -> None:
        super().__init__()
        self.tokenizer, self.lowercase, self.brevity = tokenizer, lowercase, brevity
        self.n = self.orders  # for the signature, which reads attributes of the instance
        self.tokenizer_signature = tokenizer.signature()  # type: ignore[attr-defined]

    @abstractmethod
    def counts(self, hypothesis: NGrams, references: Sequence[NGrams]) -> np.ndarray:
        """The n-grams that count, and all of them: 2 × orders."""

    @abstractmethod
    def penalty(self, words: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """The factor for translations that are too long, or too short, of each corpus."""

    def score_rows(self, sums: np.ndarray) -> np.ndarray:
        """The scores of many corpora, in percent.

        Args:
            sums: corpora × statistics.
        """
        words, reference = np.maximum(sums[:, :2].T, 1e-9)
        counted, every = sums[:, 2 : 2 + self.orders], sums[:, 2 + self.orders :]
        shares = counted / np.maximum(every, 1)
        return 100 * self.penalty(words, reference) * shares.prod(axis=1) ** (1 / self.orders)

    def _preprocess_segment(self, sent: str) -> str:
        return self.tokenizer((sent.lower() if self.lowercase else sent).rstrip())

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        words = [reference.split() for reference in refs]
        return {
            "lengths": [len(each) for each in words],
            "references": [ngrams(each, self.orders) for each in words],
        }

    def _compute_segment_statistics(
        self, hypothesis: str, ref_kwargs: dict[str, Any]
    ) -> list[float]:
        words = hypothesis.split()
        lengths = ref_kwargs["lengths"]
        length = min(lengths)
        if self.brevity == "closest":
            length = min(lengths, key=lambda each: (abs(each - len(words)), each))
        counts = self.counts(ngrams(words, self.orders), ref_kwargs["references"])
        return [float(len(words)), float(length), *counts.reshape(-1).tolist()]

    def _compute_score_from_stats(self, stats: Sequence[float]) -> Score:
        return Score(self.name, float(self.score_rows(np.array(stats, dtype=float)[None])[0]))

    def _aggregate_and_compute(self, stats: Sequence[Sequence[float]]) -> Score:
        return self._compute_score_from_stats([sum(column) for column in zip(*stats)])


class Otem(CoverageMetric):
    """Over-translation: n-grams that a translation has too often."""

    name, orders = "Otem", 2

    def counts(self, hypothesis: NGrams, references: Sequence[NGrams]) -> np.ndarray:
        """Those that are too many, and those of the translation."""
        found = np.zeros((2, self.orders))
        for n, own in enumerate(hypothesis):
            for ngram, count in own.items():
                too_many = [count - max(1, reference[n][ngram]) for reference in references]
                found[0, n] += min((each for each in too_many if each > 0), default=0)
                found[1, n] += count
        return found

    def penalty(self, words: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """More than 1 of translations longer than their references."""
        return np.exp(np.maximum(0, 1 - reference / words))


class Utem(CoverageMetric):
    """Under-translation: n-grams of the reference that a translation lacks."""

    name, orders = "Utem", 4

    def counts(self, hypothesis: NGrams, references: Sequence[NGrams]) -> np.ndarray:
        """Those that are lacking, and those of the reference."""
        found = np.zeros((2, self.orders))
        for n, own in enumerate(hypothesis):
            of_order = [reference[n] for reference in references if reference[n]]
            lacking = [(reference - own).total() for reference in of_order]
            found[0, n] = min(lacking, default=0)
            found[1, n] = max((reference.total() for reference in of_order), default=0)
        return found

    def penalty(self, words: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """More than 1 of translations shorter than their references."""
        return np.exp(np.maximum(0, 1 - words / reference))
