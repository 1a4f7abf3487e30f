"""RIBES: a score of the order of words shared by translation and reference.

Isozaki et al. (2010), "Automatic Evaluation of Translation Quality for Distant Language Pairs", in
the form of the authors' own scorer (version 1.03): words that occur several times are distinguished
by their neighbours, and the score of a sentence is

    RIBES = NKT · P^alpha · BP^beta

NKT is Kendall's tau over the positions of the matched words, scaled to 0..1; P the share of the
hypothesis' words that are matched; BP the brevity penalty of the one sentence. nltk's function
differs: it looks at the right neighbours first and at fewer of them, and gives 0 to a right
translation of one word.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from sacrebleu.metrics.base import Metric, Score, Signature

from syntax_nmt.scoring.translations.unique_runs import shortest_unique_runs

ALPHA = 0.25  # exponent of the precision
BETA = 0.10  # exponent of the brevity penalty


def sentence_ribes(hypothesis: Sequence[str], reference: Sequence[str]) -> float | None:
    """The score of one sentence against one reference, from 0 to 1; None without a reference.

    Args:
        hypothesis: words of the translation.
        reference: words of the reference; may be empty.
    """
    if not reference:
        return None
    if not hypothesis:
        return 0.0
    order = matched_positions(hypothesis, reference)
    precision = len(order) / len(hypothesis)
    brevity = min(1.0, math.exp(1 - len(reference) / len(hypothesis)))
    if len(order) == 1 and len(reference) == 1:
        agreement = 1.0
    elif len(order) < 2:
        agreement = 0.0
    else:
        agreement = _ascending_pairs(order) / math.comb(len(order), 2)
    return agreement * precision**ALPHA * brevity**BETA


def matched_positions(hypothesis: Sequence[str], reference: Sequence[str]) -> list[int]:
    """The reference positions of the hypothesis' words, in the order of the hypothesis.

    A word that occurs once on both sides is matched. Any other is matched by the shortest run of
    words, ending or else beginning with it, that occurs once on both sides; without such a run, the
    word is omitted.
    """
    ending = shortest_unique_runs(hypothesis, reference)
    beginning = shortest_unique_runs(hypothesis[::-1], reference[::-1])[::-1]
    positions = []
    for left, right in zip(ending, beginning):
        if left is not None and (right is None or left.length <= right.length):
            positions.append(left.end)
        elif right is not None:
            positions.append(len(reference) - 1 - right.end)
    return positions


def _ascending_pairs(order: Sequence[int]) -> int:
    """The number of pairs in which the later position is the greater one, by a Fenwick tree."""
    pairs = 0
    tree = [0] * (max(order) + 2)
    for position in order:
        node = position
        while node:  # those before it
            pairs += tree[node]
            node &= node - 1
        node = position + 1
        while node < len(tree):
            tree[node] += 1
            node += node & -node
    return pairs


class RIBESSignature(Signature):
    """The settings of a RIBES score.

    Args:
        args: attributes of the metric.
    """

    def __init__(self, args: dict[str, Any]) -> None:
        super().__init__(args)
        self._abbr.update(case="c", tok="tok", alpha="alpha", beta="beta")
        self.info.update(case="lc", tok=args["tokenizer_signature"], alpha=ALPHA, beta=BETA)


class RIBES(Metric):
    """RIBES of a corpus, in percent, in the frame of sacrebleu's metrics.

    It is the mean over sentences of the best score over references. Empty references do not count,
    nor do sentences with empty references only. Case is ignored, as the authors' scorer does unless
    told otherwise. The statistics of a sentence are its score and 1.

    Args:
        tokenizer: splits a line into words separated by spaces, and has a `signature()`.
    """

    _SIGNATURE_TYPE = RIBESSignature

    def __init__(self, tokenizer: Callable[[str], str]) -> None:
        super().__init__()
        self.tokenizer = tokenizer
        self.tokenizer_signature = tokenizer.signature()  # type: ignore[attr-defined]

    def _preprocess_segment(self, sent: str) -> str:
        return self.tokenizer(sent.lower().rstrip())

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        return {"references": [reference.split() for reference in refs]}

    def _compute_segment_statistics(
        self, hypothesis: str, ref_kwargs: dict[str, Any]
    ) -> list[float]:
        words = hypothesis.split()
        scores = [
            score
            for reference in ref_kwargs["references"]
            if (score := sentence_ribes(words, reference)) is not None
        ]
        return [max(scores), 1.0] if scores else [0.0, 0.0]

    def _compute_score_from_stats(self, stats: Sequence[float]) -> Score:
        total, sentences = stats
        return Score("RIBES", 100 * total / sentences if sentences else 0.0)

    def _aggregate_and_compute(self, stats: Sequence[Sequence[float]]) -> Score:
        return self._compute_score_from_stats([sum(column) for column in zip(*stats)])
