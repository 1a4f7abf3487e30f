"""Corpus metrics of translation: sacrebleu's BLEU, chrF and TER, character BLEU, and RIBES.

All of them are functions of sums over sentences. So each sentence is looked at once, and scores by
length, of resampled test sets or with a sentence replaced cost a few additions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric, Signature

from syntax_nmt.errors import UserError
from syntax_nmt.scoring.translations.ribes import RIBES
from syntax_nmt.scoring.translations.score_rows import score_rows
from syntax_nmt.scoring.translations.sentence_scores import SentenceScores

NAMES = ("bleu", "chrf", "ter", "ribes", "char-bleu")
CLOSEST, SHORTEST = BREVITIES = ("closest", "shortest")
DEFAULT_NAMES = ("bleu", "chrf", "ter", "ribes")
_LOWER_IS_BETTER = ("ter",)
# References are kept for as many sentences at a time; their n-grams would fill the memory.
_BLOCK = 1000


@dataclass(frozen=True)
class MetricSettings:
    """Arguments of the metrics' constructors.

    Attributes:
        tokenize: of BLEU and RIBES; None = sacrebleu's default, 13a.
        lowercase: BLEU ignores case.
        bleu: further arguments of :func:`bleu_metric`, for the one over characters, too.
        chrf: of sacrebleu's CHRF.
        ter: of sacrebleu's TER.
    """

    tokenize: str | None = None
    lowercase: bool = False
    bleu: Mapping[str, Any] = field(default_factory=dict)
    chrf: Mapping[str, Any] = field(default_factory=dict)
    ter: Mapping[str, Any] = field(default_factory=dict)


class MetricSet:
    """Several metrics at once.

    Args:
        names: some of :data:`NAMES`.
        given: one more, whose scores are known.

    Raises:
        UserError: the tokeniser needs something that is not installed.
    """

    def __init__(
        self,
        names: Sequence[str],
        settings: MetricSettings,
        given: SentenceScores | None = None,
    ) -> None:
        self.given = given
        self.keys = tuple(dict.fromkeys(names))
        self._metrics = [_build(key, settings) for key in self.keys]
        # What one empty sentence gives tells how many statistics a metric has.
        empty = [metric._extract_corpus_statistics([""], [[""]]) for metric in self._metrics]
        widths = [len(sentences[0]) for sentences in empty]
        if given is not None:
            self.keys += (given.name,)
            widths.append(2)
        ends = np.cumsum([0, *widths]).tolist()
        self._columns = [slice(low, high) for low, high in zip(ends, ends[1:])]
        self.names = tuple(
            "char-BLEU" if key == "char-bleu" else self._score(i, [0.0] * width).name
            for i, (key, width) in enumerate(zip(self.keys, widths))
        )

    def signatures(self, **extra: object) -> dict[str, str]:
        """sacrebleu's signature of each metric; known once there are statistics.

        Args:
            **extra: what else the figures depend on: `bs`, `ar`, `seed`.
        """
        signatures = {}
        for name, metric in zip(self.names, self._metrics):
            signature = metric.get_signature()
            for key, value in extra.items():
                signature.update(key, value)
            signatures[name] = signature.format()
        if self.given is not None:
            signatures[self.given.name] = "|".join(
                ["mean over sentences", *(f"{key}:{value}" for key, value in extra.items())]
            )
        return signatures

    def figures(self, **extra: object) -> dict[str, dict[str, Any]]:
        """What there is to know of each metric, for JSON.

        Args:
            **extra: as of :meth:`signatures`.
        """
        small = self.given.name if self.given is not None and self.given.small else None
        return {
            name: {
                "signature": signature,
                "higher_is_better": self.higher_is_better(name),
                "more_digits": 2 if name == small else 0,
            }
            for name, signature in self.signatures(**extra).items()
        }

    def higher_is_better(self, name: str) -> bool:
        """Whether a rise is good.

        Args:
            name: one of `names`.
        """
        if self.given is not None and name == self.given.name:
            return self.given.higher_is_better
        return self.keys[self.names.index(name)] not in _LOWER_IS_BETTER

    def statistics(
        self,
        outputs: Sequence[Sequence[str]],
        references: Sequence[Sequence[str]],
        progress: Iterable[int] | None = None,
    ) -> list[np.ndarray]:
        """What the scores of a corpus are made of, for each sentence.

        Args:
            outputs: the sentences of each system.
            references: the sentences of each reference; there must be as many.
            progress: the starts of blocks, as :meth:`blocks` gives them, wrapped in a progress bar.

        Returns:
            For each system an array, sentences × statistics.
        """
        starts = self.blocks(len(references[0])) if progress is None else progress
        rows: list[list[np.ndarray]] = [[] for _ in outputs]
        for start in starts:
            block = slice(start, start + _BLOCK)
            tables: list[list[np.ndarray]] = [[] for _ in outputs]
            for metric in self._metrics:
                metric._ref_cache = metric._cache_references([ref[block] for ref in references])
                for table, output in zip(tables, outputs):
                    found = metric._extract_corpus_statistics(output[block], None)
                    table.append(np.array(found, dtype=np.float64))
            for row, table in zip(rows, tables):
                row.append(np.concatenate(table, axis=1))
        found = [np.concatenate(row) for row in rows]
        if self.given is None:
            return found
        given = self.given.statistics()
        return [np.concatenate(pair, axis=1) for pair in zip(found, given)]

    @staticmethod
    def blocks(sentences: int) -> range:
        """Where the blocks begin that are looked at together."""
        return range(0, sentences, _BLOCK)

    def scores(self, sums: Sequence[float]) -> list[float]:
        """The score of a corpus by each metric, in percent.

        Args:
            sums: of the statistics over its sentences.
        """
        return [self._score(i, sums[columns]).score for i, columns in enumerate(self._columns)]

    def score_rows(self, sums: np.ndarray) -> np.ndarray:
        """The scores of many corpora: corpora × metrics.

        Args:
            sums: of each corpus, over its sentences (corpora × statistics).
        """
        scores = [
            score_rows(metric, sums[:, columns])
            for metric, columns in zip(self._metrics, self._columns)
        ]
        if self.given is not None:
            total, sentences = sums[:, self._columns[-1]].T
            scores.append(total / sentences)
        return np.stack(scores, axis=1)

    def details(self, sums: Sequence[float]) -> dict[str, dict[str, Any]]:
        """What else there is to know, by metric: of BLEU the brevity penalty and its reasons.

        Args:
            sums: of the statistics over the sentences of a corpus.
        """
        details = {}
        for i, columns in enumerate(self._columns):
            if i < len(self._metrics) and isinstance(self._metrics[i], BLEU):
                bleu = self._score(i, sums[columns])
                details[self.names[i]] = {
                    "precisions": list(bleu.precisions),
                    "brevity_penalty": bleu.bp,
                    "length_ratio": bleu.ratio,
                    "hypothesis_length": bleu.sys_len,
                    "reference_length": bleu.ref_len,
                }
        return details

    def columns(self, name: str) -> slice:
        """Where the statistics of a metric stand.

        Args:
            name: one of `names`.
        """
        return self._columns[self.names.index(name)]

    def score(self, name: str, sums: Sequence[float]) -> float:
        """The score of a corpus by one metric, in percent.

        Args:
            name: one of `names`.
            sums: of that metric's statistics over the sentences.
        """
        return self._score(self.names.index(name), sums).score

    def _score(self, index: int, sums: Sequence[float]) -> Any:
        if index == len(self._metrics) and self.given is not None:
            return self.given.score(sums)
        # BLEU with add-k smoothing adds to what it is given: a list of its own.
        return self._metrics[index]._compute_score_from_stats(list(sums))


class ShortestReferenceBLEU(BLEU):
    """BLEU whose brevity penalty reads the shortest reference of a sentence, as NIST's mteval does.

    sacrebleu's own reads the reference whose length is closest to the translation's.
    """

    def _get_closest_ref_len(self, hyp_len: int, ref_lens: list[int]) -> int:
        return min(ref_lens)

    def get_signature(self) -> Signature:
        """sacrebleu's signature, with `bp:shortest`."""
        signature = super().get_signature()
        signature.update("bp", SHORTEST)
        return signature


def bleu_metric(tokenize: str | None, brevity: str = CLOSEST, **options: Any) -> BLEU:
    """sacrebleu's BLEU.

    Args:
        tokenize: its name of a tokeniser; None = its default.
        brevity: the reference that the brevity penalty reads, of :data:`BREVITIES`.

    Raises:
        UserError: the tokeniser needs something that is not installed.
    """
    try:
        # force: sacrebleu warns of tokenised text for each block anew; the commands do it once.
        metric = ShortestReferenceBLEU if brevity == SHORTEST else BLEU
        return metric(force=True, tokenize=tokenize, **options)
    except (ImportError, RuntimeError, OSError) as error:
        raise UserError(f"--tokenize {tokenize}: {error}") from error


def _build(key: str, settings: MetricSettings) -> Metric:
    if key == "chrf":
        return CHRF(**settings.chrf)
    if key == "ter":
        return TER(**settings.ter)
    tokenize = "char" if key == "char-bleu" else settings.tokenize
    bleu = bleu_metric(tokenize, lowercase=settings.lowercase, **settings.bleu)
    return RIBES(bleu.tokenizer) if key == "ribes" else bleu
