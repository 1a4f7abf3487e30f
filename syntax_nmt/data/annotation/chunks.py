"""Chunks of the target: their first subwords and types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from syntax_nmt.data.annotation.formats import CHUNK_TAGS
from syntax_nmt.data.annotation.kind import AnnotationKind, BatchedText, SegmentedSentence
from syntax_nmt.data.chunks import OUTSIDE, Chunk
from syntax_nmt.data.collation import collate_chunk_tags
from syntax_nmt.data.figures.annotation_figures import ChunkFigures
from syntax_nmt.data.projection import project_chunks
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.data.text_columns import labelled
from syntax_nmt.text.languages import TARGET

if TYPE_CHECKING:  # commands start without torch and fairseq
    from torch import Tensor


class Chunks(AnnotationKind):
    """The id of its type where a chunk begins, 0 inside; from IOB tags."""

    name = "chunks"
    format = CHUNK_TAGS
    side = TARGET
    keys = ("chunk_tags", "all_annotated")
    description = "chunks of the target"
    option = "load_chunks"
    making = "--chunks tagger"
    help = "load the chunk boundaries and tags of the target"
    title = "chunks, in words"
    labels_file = "dict.chunks.txt"
    label = "chunk type"
    no_label = OUTSIDE

    def labels(self, annotation: Sequence[Chunk]) -> Iterable[str]:
        """The types; `O` is one."""
        return (chunk.tag for chunk in annotation)

    def row(
        self, annotation: Sequence[Chunk], counts: Sequence[int], label_ids: Mapping[str, int]
    ) -> np.ndarray:
        """See :func:`~syntax_nmt.data.projection.project_chunks`."""
        return project_chunks(annotation, counts, label_ids)

    def limits(self, sizes: np.ndarray, labels: int) -> tuple[int, np.ndarray]:
        """The id of a type, or 0."""
        return 0, np.asarray(labels)

    def collate(self, rows: RaggedArray, text: BatchedText, labels: int) -> Tensor:
        """B×T: the id where a chunk opens, 0 inside, one more than the last at EOS; −1 = none."""
        return collate_chunk_tags(rows, text.ids, text.width, text.left_pad, labels + 1)

    def batch_flags(self, tensor: Tensor) -> dict[str, bool]:
        """Whether every sentence of the batch has annotation."""
        return {"all_annotated": bool(tensor.amax(dim=1).ge(0).all())}

    def figures(self, labels: Sequence[str] = ()) -> ChunkFigures:
        """The number of chunks of each type."""
        return ChunkFigures(labels=tuple(labels))

    def show(
        self, row: np.ndarray, sentence: SegmentedSentence, labels: Sequence[str]
    ) -> list[str]:
        """`[NP the old man] [VP saw] .`"""
        starts = np.flatnonzero(row)
        parts = []
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(row)]):
            number = int(row[start])
            tag = labels[number - 1] if 0 < number <= len(labels) else f"?{number}"
            words = sentence.joined(start, end)
            parts.append(words if tag == OUTSIDE else f"[{tag} {words}]")
        return labelled(self.name, parts)


CHUNKS = Chunks()
