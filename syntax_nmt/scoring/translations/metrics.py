"""Corpus metrics of translation: sacrebleu's BLEU, chrF and TER, character BLEU, RIBES, Otem and
Utem, and the means of sentence scores that are given.

All of them are functions of sums over sentences. So each sentence is processed once, and scores by
length, of resampled test sets or with a sentence replaced cost a few additions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric, Signature

from syntax_nmt.errors import UserError
from syntax_nmt.progress import Progress
from syntax_nmt.reporting.result import Result
from syntax_nmt.scoring.translations.coverage import CoverageMetric, Otem, Utem
from syntax_nmt.scoring.translations.evaluation_set import System, Text
from syntax_nmt.scoring.translations.ribes import RIBES
from syntax_nmt.scoring.translations.sentence_scores import SentenceScores

NAMES = ("bleu", "chrf", "ter", "ribes", "char-bleu", "otem", "utem")
CLOSEST, SHORTEST = BREVITIES = ("closest", "shortest")
DEFAULT_NAMES = ("bleu", "chrf", "ter", "ribes")
_LOWER_IS_BETTER = ("ter", "otem", "utem")
_COVERAGE = {"otem": Otem, "utem": Utem}
# References are kept for as many sentences at a time; their n-grams would fill the memory.
_BLOCK = 1000


@dataclass(frozen=True)
class MetricSettings:
    """The settings of the metrics.

    Attributes:
        tokenize: of BLEU, RIBES, Otem and Utem, sacrebleu's name; None = its default, 13a.
        lowercase: BLEU, Otem and Utem ignore case.
        brevity: the reference whose length their penalties read, of :data:`BREVITIES`.
        chrf_word_order: words in an n-gram of chrF.
        ter_normalized: TER splits punctuation from words.
        ter_asian_support: it then also splits Chinese and Japanese into characters.
    """

    tokenize: str | None = None
    lowercase: bool = False
    brevity: str = CLOSEST
    chrf_word_order: int = CHRF.WORD_ORDER
    ter_normalized: bool = False
    ter_asian_support: bool = False


@dataclass(frozen=True)
class MetricDescription(Result):
    """What is to be known of a metric.

    Attributes:
        signature: sacrebleu's.
        higher_is_better: whether a rise is good.
        more_digits: how many more than other metrics it needs in tables.
    """

    signature: str
    higher_is_better: bool
    more_digits: int


@dataclass(frozen=True)
class BLEUDetails(Result):
    """What BLEU is made of.

    Attributes:
        precisions: of n-grams, n from 1 to 4, in percent.
        brevity_penalty: at most 1.
        length_ratio: of the translation to the reference.
        hypothesis_length: in words.
        reference_length: in words, of the references that the brevity penalty reads.
    """

    precisions: list[float]
    brevity_penalty: float
    length_ratio: float
    hypothesis_length: int
    reference_length: int


class MetricSet:
    """Several metrics at once.

    Args:
        names: some of :data:`NAMES`.
        given: more, whose scores are known.

    Raises:
        UserError: the tokeniser needs something that is not installed, or the known scores have
            the name of a metric.
    """

    def __init__(
        self,
        names: Sequence[str] = DEFAULT_NAMES,
        settings: MetricSettings = MetricSettings(),
        given: SentenceScores | Sequence[SentenceScores] = (),
    ) -> None:
        self.given = (given,) if isinstance(given, SentenceScores) else tuple(given)
        self.keys = tuple(dict.fromkeys(names))
        self._metrics = [_build(key, settings) for key in self.keys]
        # What one empty sentence gives tells how many statistics a metric has.
        empty = [metric._extract_corpus_statistics([""], [[""]]) for metric in self._metrics]
        widths = [len(sentences[0]) for sentences in empty]
        self.keys += tuple(each.name for each in self.given)
        widths += [2] * len(self.given)
        ends = np.cumsum([0, *widths]).tolist()
        self._columns = [slice(low, high) for low, high in zip(ends, ends[1:])]
        self.names = tuple(
            "char-BLEU" if key == "char-bleu" else self._score(i, [0.0] * width).name
            for i, (key, width) in enumerate(zip(self.keys, widths))
        )
        for twice in (name for name in self.names if self.names.count(name) > 1):
            raise UserError(
                f"sentence scores: {twice} is computed here, too: give their metric another "
                f"name, such as 'mean {twice}'"
            )

    def signatures(self, **extra: object) -> dict[str, str]:
        """sacrebleu's signature of each metric; to call after :meth:`statistics`.

        Its number of references is that of the latest statistics; 1 before, whatever the test set.

        Args:
            **extra: what else the figures depend on: `bs`, `ar`, `seed`.
        """
        signatures = {}
        for name, metric in zip(self.names, self._metrics):
            signature = metric.get_signature()
            for key, value in extra.items():
                signature.update(key, value)
            signatures[name] = signature.format()
        for given in self.given:
            signatures[given.name] = "|".join(
                [given.about, *(f"{key}:{value}" for key, value in extra.items())]
            )
        return signatures

    def descriptions(self, **extra: object) -> dict[str, MetricDescription]:
        """A description of each metric; to call after :meth:`statistics`, too.

        Args:
            **extra: as of :meth:`signatures`.
        """
        small = {each.name for each in self.given if each.small}
        return {
            name: MetricDescription(
                signature, self.higher_is_better(name), more_digits=2 if name in small else 0
            )
            for name, signature in self.signatures(**extra).items()
        }

    def higher_is_better(self, name: str) -> bool:
        """Whether a rise is good.

        Args:
            name: one of `names`.
        """
        for given in self.given:
            if name == given.name:
                return given.higher_is_better
        return self.keys[self.names.index(name)] not in _LOWER_IS_BETTER

    def has_sign_test(self, name: str) -> bool:
        """Whether Collins' sign test may be made.

        Args:
            name: one of `names`.
        """
        return all(given.sign_test for given in self.given if given.name == name)

    def statistics(
        self, systems: Sequence[System], references: Sequence[Text]
    ) -> list[list[np.ndarray]]:
        """The statistics of each sentence; shows progress on a terminal.

        Args:
            systems: with translations of as many sentences as each reference has.

        Returns:
            For each system, for each of its runs: an array, sentences × statistics.
        """
        starts = range(0, len(references[0].sentences), _BLOCK)
        blocks: list[list[list[np.ndarray]]] = [[[] for _ in system.runs] for system in systems]
        for start in Progress(starts, "scoring", "blocks", leave=False):
            block = slice(start, start + _BLOCK)
            for metric in self._metrics:
                referred = [reference.sentences[block] for reference in references]
                metric._ref_cache = metric._cache_references(referred)
            for system, of_system in zip(systems, blocks):
                for run, of_run in zip(system.runs, of_system):
                    of_run.append(self._block_statistics(run.sentences[block]))
        found = [[np.concatenate(of_run) for of_run in of_system] for of_system in blocks]
        known = [given.statistics() for given in self.given]
        return [
            [np.concatenate(columns, axis=1) for columns in zip(*of_system)]
            for of_system in zip(found, *known)
        ]

    def _block_statistics(self, sentences: Sequence[str]) -> np.ndarray:
        """Of sentences whose references the metrics hold: sentences × statistics."""
        found = (metric._extract_corpus_statistics(sentences, None) for metric in self._metrics)
        return np.concatenate([np.array(rows, dtype=np.float64) for rows in found], axis=1)

    def run_scores(self, statistics: Sequence[np.ndarray]) -> dict[str, list[float]]:
        """The scores of each run of a system, by metric.

        Args:
            statistics: of each run, sentences × statistics.
        """
        scores = [self.scores(run.sum(axis=0).tolist()) for run in statistics]
        return {name: list(column) for name, column in zip(self.names, zip(*scores))}

    def scores(self, sums: Sequence[float]) -> list[float]:
        """The score of a corpus by each metric, on its own scale.

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
        of_given = self._columns[len(self._metrics) :]
        scores += [given.score_rows(sums[:, place]) for given, place in zip(self.given, of_given)]
        return np.stack(scores, axis=1)

    def details(self, sums: Sequence[float]) -> dict[str, BLEUDetails]:
        """Further figures by metric; only BLEU has any.

        Args:
            sums: of the statistics over the sentences of a corpus.
        """
        details = {}
        for i, columns in enumerate(self._columns):
            if i < len(self._metrics) and isinstance(self._metrics[i], BLEU):
                bleu = self._score(i, sums[columns])
                details[self.names[i]] = BLEUDetails(
                    list(bleu.precisions), bleu.bp, bleu.ratio, bleu.sys_len, bleu.ref_len
                )
        return details

    def columns(self, name: str) -> slice:
        """The columns of a metric's statistics.

        Args:
            name: one of `names`.
        """
        return self._columns[self.names.index(name)]

    def score(self, name: str, sums: Sequence[float]) -> float:
        """The score of a corpus by one metric, on its own scale.

        Args:
            name: one of `names`.
            sums: of that metric's statistics over the sentences.
        """
        return self._score(self.names.index(name), sums).score

    def _score(self, index: int, sums: Sequence[float]) -> Any:
        if index >= len(self._metrics):
            return self.given[index - len(self._metrics)].score(sums)
        return self._metrics[index]._compute_score_from_stats(list(sums))


def words_of_bleu(settings: MetricSettings) -> Callable[[str], list[str]]:
    """What splits a sentence into the words that BLEU counts, lowercased where it ignores case.

    Raises:
        UserError: the tokeniser needs something that is not installed.
    """
    bleu = _build("bleu", settings)
    return lambda sentence: bleu._preprocess_segment(sentence).split()


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


def score_rows(metric: Metric, sums: np.ndarray) -> np.ndarray:
    """The score of each row, in percent, for resampling, which scores very many corpora.

    The formulas are those of sacrebleu, over columns in place of one corpus. sacrebleu itself
    scores corpora in which a count is 0, because it smooths them.

    Args:
        metric: BLEU, chrF, Otem, Utem, or any whose score is 100 times the ratio of its two
            statistics.
        sums: corpora × statistics.
    """
    if isinstance(metric, CoverageMetric):
        return metric.score_rows(sums)
    plain = (sums > 0).all(axis=1)
    scores = np.empty(len(sums))
    if isinstance(metric, BLEU):
        scores[plain] = _bleu(sums[plain])
    elif isinstance(metric, CHRF):
        scores[plain] = _chrf(sums[plain], metric.beta)
    else:
        scores[plain] = 100 * sums[plain, 0] / sums[plain, 1]
    for row in np.flatnonzero(~plain):
        scores[row] = metric._compute_score_from_stats(sums[row].tolist()).score
    return scores


def _bleu(sums: np.ndarray) -> np.ndarray:
    lengths, references = sums[:, 0], sums[:, 1]
    correct, total = np.split(sums[:, 2:], 2, axis=1)
    log_precision = np.log(correct / total).mean(axis=1)
    return 100 * np.exp(np.minimum(0, 1 - references / lengths) + log_precision)


def _chrf(sums: np.ndarray, beta: float) -> np.ndarray:
    hypothesis, reference, match = np.moveaxis(sums.reshape(len(sums), sums.shape[1] // 3, 3), 2, 0)
    precision = (match / hypothesis).mean(axis=1)
    recall = (match / reference).mean(axis=1)
    factor = beta**2
    return 100 * (1 + factor) * precision * recall / (factor * precision + recall)


def _build(key: str, settings: MetricSettings) -> Metric:
    if key == "chrf":
        return CHRF(word_order=settings.chrf_word_order)
    if key == "ter":
        return TER(normalized=settings.ter_normalized, asian_support=settings.ter_asian_support)
    tokenize = "char" if key == "char-bleu" else settings.tokenize
    bleu = ShortestReferenceBLEU if settings.brevity == SHORTEST else BLEU
    try:
        # force: sacrebleu would warn of tokenised text for each block; the commands warn once.
        metric = bleu(force=True, tokenize=tokenize, lowercase=settings.lowercase)
    except (ImportError, RuntimeError, OSError) as error:
        raise UserError(f"tokeniser {tokenize}: {error}") from error
    if key in _COVERAGE:
        return _COVERAGE[key](metric.tokenizer, settings.lowercase, settings.brevity)
    return RIBES(metric.tokenizer) if key == "ribes" else metric
