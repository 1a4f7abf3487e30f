"""The words of all translations of a test set, counted by bucket and sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from syntax_nmt.errors import UserError
from syntax_nmt.scoring.translations.evaluation_set import System, TestSet
from syntax_nmt.scoring.translations.metrics import MetricSettings, words_of_bleu
from syntax_nmt.scoring.words.bits import ReferenceBits
from syntax_nmt.scoring.words.buckets import TREE_KINDS, Labels, in_order, sizes_of
from syntax_nmt.scoring.words.labelled_text import (
    SourceLinks,
    TrainingCounts,
    Trees,
    Words,
    labels_of_trees,
    trees_over,
)
from syntax_nmt.scoring.words.matches import BITS, F1, RECALL, WIDTH, count_sentence
from syntax_nmt.scoring.words.settings import WordSettings

SOURCE_SIDE, REFERENCE_SIDE = "source", "reference"
OWN, OF_REFERENCE = "own", "reference"
"""Whose buckets the words have that only a translation has."""


@dataclass(frozen=True)
class BucketCounts:
    """The counts of one kind of buckets.

    Attributes:
        by: the kind.
        side: whose words have the buckets, SOURCE_SIDE or REFERENCE_SIDE.
        measure: what is compared: F1, RECALL where precision says nothing, or BITS.
        buckets: their names, in the order of tables.
        sizes: words of the reference in each.
        outside: words of the reference that are in no bucket.
        output_labels: OWN or OF_REFERENCE; None = translations have none (source side).
        statistics: by system and run, sentences × (buckets · `WIDTH`).
    """

    by: str
    side: str
    measure: str
    buckets: list[str]
    sizes: dict[str, int]
    outside: int
    output_labels: str | None
    statistics: list[list[np.ndarray]]


def count_words(test_set: TestSet, settings: WordSettings) -> list[BucketCounts]:
    """Counts the words of all systems, once for each kind of buckets; then their bits, if any.

    Raises:
        UserError: several references, a file that is damaged or of another text, no word in any
            bucket.
    """
    if len(test_set.references) > 1:
        raise UserError(
            f"--words-by compares with one reference: --reference has {len(test_set.references)}"
        )
    split = words_of_bleu(MetricSettings(settings.tokenize, settings.lowercase))
    reference = Words.of(test_set.references[0], split)
    outputs = [[Words.of(run, split) for run in system.runs] for system in test_set.systems]
    training = None
    if settings.training_text:
        training = TrainingCounts(settings.training_text, split, test_set.references[0])
    labeller = _Labeller(test_set.systems, reference, outputs, settings, training)
    kinds = list(dict.fromkeys(settings.by))
    counts = [labeller.count(kind) for kind in kinds]
    if settings.bits:
        files = [system.own_files("--bits", settings.bits) for system in test_set.systems]
        bits = ReferenceBits.read(files, reference)
        counts += [labeller.count_bits(kind, bits) for kind in kinds]
    return counts


class _Labeller:
    """Reads each file once, for all kinds of buckets."""

    def __init__(
        self,
        systems: Sequence[System],
        reference: Words,
        outputs: Sequence[Sequence[Words]],
        settings: WordSettings,
        training: TrainingCounts | None,
    ) -> None:
        self.reference, self.outputs, self.training = reference, outputs, training
        self.source = None
        self.trees: Trees = ()
        if settings.source_conllu and settings.links:
            links = settings.links
            self.source = SourceLinks(settings.source_conllu, links, settings.links_base, reference)
        if settings.reference_conllu:
            self.trees = trees_over(settings.reference_conllu, reference)
        self.parsed = _output_trees(systems, outputs, settings)

    def count(self, kind: str) -> BucketCounts:
        """The counts of a kind of buckets."""
        labels, of_outputs = self._labels(kind), self._output_labels(kind)
        sizes = self._sizes(kind, labels)
        buckets = in_order(kind, sizes)
        index = {name: place for place, name in enumerate(buckets)}
        statistics = [
            [
                np.array(
                    [
                        count_sentence(*sentence, index).reshape(len(index) * WIDTH)
                        for sentence in zip(self.reference.sentences, labels, run.sentences, of_run)
                    ]
                )
                for run, of_run in zip(of_system, labels_of_system)
            ]
            for of_system, labels_of_system in zip(self.outputs, of_outputs)
        ]
        from_source = self._is_of_source(kind)
        own = kind not in TREE_KINDS or bool(self.parsed)
        return BucketCounts(
            kind,
            SOURCE_SIDE if from_source else REFERENCE_SIDE,
            F1 if own and not from_source else RECALL,
            buckets,
            sizes,
            sum(not of_word for of_sentence in labels for of_word in of_sentence),
            None if from_source else OWN if own else OF_REFERENCE,
            statistics,
        )

    def count_bits(self, kind: str, bits: ReferenceBits) -> BucketCounts:
        """The bits of a kind of buckets."""
        labels = bits.known(self._labels(kind))
        sizes = self._sizes(kind, labels)
        buckets = in_order(kind, sizes)
        return BucketCounts(
            kind,
            SOURCE_SIDE if self._is_of_source(kind) else REFERENCE_SIDE,
            BITS,
            buckets,
            sizes,
            sum(not of_word for of_sentence in labels for of_word in of_sentence),
            None,
            bits.statistics(labels, buckets),
        )

    def _sizes(self, kind: str, labels: Sequence[Sequence[Labels]]) -> dict[str, int]:
        sizes = sizes_of(labels)
        if not sizes:
            raise UserError(f"--words-by {kind}: no word of {self.reference.name} has a label")
        return sizes

    def _is_of_source(self, kind: str) -> bool:
        """Whether the buckets are those of linked words of the source."""
        return kind in TREE_KINDS and self.source is not None

    def _labels(self, kind: str) -> list[list[Labels]]:
        """The buckets of each word of the reference."""
        if kind not in TREE_KINDS:
            assert self.training is not None
            return list(self.training.labels(kind, self.reference.sentences))
        if self.source is not None:
            return self.source.labels(kind)
        return labels_of_trees(kind, self.trees, self.reference)

    def _output_labels(self, kind: str) -> list[list[Sequence[list[Labels] | None]]]:
        """By system, run and sentence: the buckets of the words; None = they have none."""
        nothing = [None] * len(self.reference.sentences)
        if kind not in TREE_KINDS:
            training = self.training
            assert training is not None
            return [
                [list(training.labels(kind, run.sentences)) for run in runs]
                for runs in self.outputs
            ]
        if self.source is not None or not self.parsed:
            return [[nothing] * len(runs) for runs in self.outputs]
        return [
            [labels_of_trees(kind, *pair) for pair in zip(trees, runs)]
            for trees, runs in zip(self.parsed, self.outputs)
        ]


def _output_trees(
    systems: Sequence[System], outputs: Sequence[Sequence[Words]], settings: WordSettings
) -> list[list[Trees]]:
    """The trees of all runs; none if no system has any.

    Raises:
        UserError: a system has others than its runs.
    """
    given = settings.hypothesis_conllu
    if not given:
        return []
    found = []
    for system, runs in zip(systems, outputs):
        paths = system.own_files("--hypothesis-conllu", given)
        found.append([trees_over(*pair) for pair in zip(paths, runs)])
    return found
