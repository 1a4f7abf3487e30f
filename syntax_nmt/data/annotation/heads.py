"""Dependency trees of the source or the target: the head of each subword."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from syntax_nmt.data.annotation.formats import CONLLU
from syntax_nmt.data.annotation.kind import AnnotationKind, BatchedText, SegmentedSentence
from syntax_nmt.data.collation import collate_heads
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.draw_tree import draw_tree
from syntax_nmt.data.figures.annotation_figures import TreeFigures
from syntax_nmt.data.figures.word_trees import lift_heads
from syntax_nmt.data.projection import project_heads
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.text.languages import SOURCE, TARGET

if TYPE_CHECKING:  # commands start without torch and fairseq
    from torch import Tensor


class Heads(AnnotationKind):
    """Head index per subword, the root's being its own."""

    name = "heads"
    format = CONLLU
    side = SOURCE
    parsed_by: str | None = "dependencies"
    keys = ("heads",)
    description = "dependency trees of the source"
    option = "load_dependencies"
    making = "--parse"
    help = "load the dependency trees of the source: the head of each subword"
    title = "dependencies (heads), over words"

    def row(
        self, annotation: DependencyTree, counts: Sequence[int], label_ids: Mapping[str, int]
    ) -> np.ndarray:
        """See :func:`~syntax_nmt.data.projection.project_heads`."""
        return project_heads(annotation.heads, counts)

    def limits(self, sizes: np.ndarray, labels: int) -> tuple[int, np.ndarray]:
        """A place in the sentence."""
        return 0, sizes - 1

    def collate(self, rows: RaggedArray, text: BatchedText, labels: int) -> Tensor:
        """B×S: the column of each token's head, the root's its own; −1 = none."""
        return collate_heads(rows, text.ids, text.width, text.left_pad)

    def figures(self, labels: Sequence[str] = ()) -> TreeFigures:
        """Arcs, depth and projectivity."""
        return TreeFigures()

    def show(
        self, row: np.ndarray, sentence: SegmentedSentence, labels: Sequence[str]
    ) -> list[str]:
        """The tree, a line a word."""
        tree = _word_tree(row, sentence)
        drawn = ["not a tree"] if tree is None else draw_tree(tree).splitlines()
        return [f"    {line}" for line in drawn]


def _word_tree(heads: np.ndarray, sentence: SegmentedSentence) -> DependencyTree | None:
    """The tree over words; over subwords where heads do not follow the words; None = no tree."""
    if not ((heads >= 0) & (heads < len(heads))).all():
        return None
    words, counts = sentence.words, sentence.counts
    opens = np.zeros(len(heads), dtype=bool)
    opens[np.cumsum(counts) - counts] = True
    trees, follows = lift_heads(heads, np.array([len(heads)]), opens)
    if not follows[0]:
        words = sentence.pieces
        trees, _ = lift_heads(heads, np.array([len(heads)]), np.ones_like(opens))
    if not trees.depths()[1][0]:
        return None
    unnamed = ("_",) * len(words)
    return DependencyTree(tuple(words), tuple(trees.parents.tolist()), unnamed, unnamed)


class TargetHeads(Heads):
    """The heads of the target's words: losses read them, no model does.

    Its files are those of :class:`Heads` for the other language, text and binarised: one data
    folder serves both directions.
    """

    side = TARGET
    keys = ("target_heads",)
    description = "dependency trees of the target"
    option = "load_target_dependencies"
    making = "--target-parse"
    help = "load the dependency trees of the target, which supervised heads of the decoder learn"
    parsed_by = None

    def __repr__(self) -> str:
        return "TARGET_HEADS"


HEADS = Heads()
TARGET_HEADS = TargetHeads()
