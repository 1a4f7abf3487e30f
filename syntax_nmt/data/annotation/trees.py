"""Binary trees over the subwords of the source or the target, from its constituency trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from syntax_nmt.data.annotation.formats import BRACKETED
from syntax_nmt.data.annotation.kind import AnnotationKind, BatchedText, SegmentedSentence
from syntax_nmt.data.batch import Batch
from syntax_nmt.data.collation import collate_merges
from syntax_nmt.data.constituents import ConstituentTree
from syntax_nmt.data.merges import Merge, binary_merges
from syntax_nmt.data.ragged import RaggedArray, RowBlock
from syntax_nmt.data.text_columns import labelled
from syntax_nmt.text.languages import SOURCE, TARGET

if TYPE_CHECKING:  # commands start without torch and fairseq
    from torch import Tensor

_SINGLE = (0,)  # an empty row would count as without annotation


class Trees(AnnotationKind):
    """Two children of each merge, from the bottom up: 2 (n − 1) numbers for n subwords.

    The numbers of nodes are those of :mod:`syntax_nmt.data.merges`. A single subword, its own tree,
    has the row 0.
    """

    name = "trees"
    format = BRACKETED
    side = SOURCE
    parsed_by: str | None = "constituents"
    keys: tuple[str, ...] = ("trees", "tree_levels")
    description = "binary trees of the source's constituents"
    option = "load_trees"
    making = "--constituents"
    help = "load the binary trees of the source, from its constituents"
    title = "binary trees, in subwords"

    def row(
        self, annotation: ConstituentTree, counts: Sequence[int], label_ids: Mapping[str, int]
    ) -> np.ndarray:
        """See :func:`~syntax_nmt.data.merges.binary_merges`."""
        return merge_row(binary_merges(annotation, counts))

    def no_row(self, size: int) -> np.ndarray:
        """One −1 for any length."""
        return super().no_row(1)

    def covered(self, rows: RowBlock, sizes: np.ndarray) -> np.ndarray:
        """One more than it has merges; a sentence without a tree fits any length."""
        return np.where(rows.annotated, rows.sizes // 2 + 1, sizes)

    def limits(self, sizes: np.ndarray, labels: int) -> tuple[int, np.ndarray]:
        """A node below the root."""
        return 0, (2 * sizes - 3).clip(min=0)

    def collate(self, rows: RaggedArray, text: BatchedText, labels: int) -> Tensor:
        """B×P×3: left child, right child and height of each merge, −1 = none.

        Children are columns of the batch, or S + k for merge k of the sentence.
        """
        return collate_merges(rows, text.ids, text.sizes.take(text.ids), text.width, text.left_pad)

    def batch_flags(self, tensor: Tensor) -> Batch:
        """The number of merges of each height in the batch, from 1."""
        heights = tensor[..., 2].numpy()
        return {"tree_levels": tuple(np.bincount(heights[heights > 0])[1:].tolist())}

    def show(
        self, row: np.ndarray, sentence: SegmentedSentence, labels: Sequence[str]
    ) -> list[str]:
        """`[[the [old man]] sleeps]`."""
        nodes = list(sentence.pieces)
        for left, right in row.reshape(-1, 2).tolist() if len(nodes) > 1 else ():
            nodes.append(f"[{nodes[left]} {nodes[right]}]")
        return labelled(self.name, nodes[-1:])


class TargetTrees(Trees):
    """The binary trees of the target: losses read them, no model does.

    Its files are those of :class:`Trees` for the other language, text and binarised.
    """

    side = TARGET
    keys = ("target_trees",)
    description = "binary trees of the target's constituents"
    option = "load_target_trees"
    making = "--target-constituents"
    help = "load the binary trees of the target, from its constituents, which a loss reads"
    parsed_by = None

    def batch_flags(self, tensor: Tensor) -> Batch:
        """None."""
        return {}

    def __repr__(self) -> str:
        return "TARGET_TREES"


def merge_row(merges: Sequence[Merge]) -> np.ndarray:
    """The numbers of a sentence's merges, from the bottom up, int32."""
    return np.asarray(merges or _SINGLE, dtype=np.int32).reshape(-1)


TREES = Trees()
TARGET_TREES = TargetTrees()
