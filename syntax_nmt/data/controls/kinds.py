"""The operations of a control on each kind of annotation, its statistics, and its entries in any
order.
"""

import tempfile
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, ClassVar

import numpy as np

from syntax_nmt.data.annotation import CHUNKS, HEADS, PHRASES, AnnotationKind
from syntax_nmt.data.annotation.formats import Place
from syntax_nmt.data.chunks import OUTSIDE, Chunk, iob2_tags
from syntax_nmt.data.constituents import ConstituentTree
from syntax_nmt.data.controls.features import FEATURE_COLUMNS
from syntax_nmt.data.controls.structures import (
    TreeArcs,
    resized_arcs,
    resized_chunks,
    resized_tree,
    with_arcs,
)
from syntax_nmt.data.dependency_tree import DependencyTree, word_depths
from syntax_nmt.data.figures.text_figures import ratio
from syntax_nmt.data.figures.word_trees import WordTrees
from syntax_nmt.data.phrases import parsed_lengths
from syntax_nmt.data.word_annotation import WordAnnotation


class ControlledKind(ABC):
    """A kind of annotation whose structures can be exchanged, with statistics.

    Attributes:
        kind: of the annotation files.
        alike: what :meth:`same` counts words with.
        quotients: means and shares by their names: which of the :meth:`sums` by which.
    """

    kind: ClassVar[AnnotationKind]
    alike: ClassVar[str]
    quotients: ClassVar[Mapping[str, tuple[str, str]]]

    def size(self, annotation: Any) -> int:
        """The words of an annotation; a multiword token has several syntactic words."""
        return len(annotation)

    def structure(self, annotation: Any) -> Any:
        """What is exchanged of an annotation, by default all of it.

        Args:
            annotation: as the kind parses it.
        """
        return annotation

    @abstractmethod
    def resized(self, structure: Any, own: Any) -> Any:
        """A structure of another sentence, cut or continued to the length of its borrower.

        Args:
            own: annotation of the borrower.
        """

    @abstractmethod
    def text(self, entry: Any, structure: Any) -> str:
        """The entry of an annotation file with another structure."""

    @abstractmethod
    def same(self, structure: Any, other: Any) -> int:
        """The number of words whose annotation is the same in two structures of one length."""

    @abstractmethod
    def sums(self, structure: Any) -> dict[str, int]:
        """Sums over sentences."""

    def figures(self, sums: Mapping[str, int]) -> dict[str, float | None]:
        """The quotients; None if the divisor is 0."""
        return {name: ratio(sums[part], sums[of]) for name, (part, of) in self.quotients.items()}


class ControlledHeads(ControlledKind):
    """Dependency trees."""

    kind = HEADS
    alike = "the same head"
    quotients: ClassVar = {
        "mean distance of heads": ("distance", "arcs"),
        "share of left heads": ("left", "arcs"),
        "mean depth": ("depth", "sentences"),
        "projective share": ("projective", "sentences"),
    }

    def structure(self, annotation: DependencyTree) -> TreeArcs:
        """Heads, relations and features."""
        features = zip(annotation.lemmas, annotation.upos, annotation.xpos, annotation.feats)
        return TreeArcs(annotation.heads, annotation.relations, tuple(features))

    def resized(self, structure: TreeArcs, own: DependencyTree) -> TreeArcs:
        """See :func:`~syntax_nmt.data.controls.structures.resized_arcs`."""
        return resized_arcs(structure, len(own))

    def text(self, entry: Sequence[str], structure: TreeArcs) -> str:
        """See :func:`~syntax_nmt.data.controls.structures.with_arcs`."""
        return self.kind.format.entry_text(with_arcs(entry, structure))

    def same(self, structure: TreeArcs, other: TreeArcs) -> int:
        """Words with the same head."""
        return sum(head == another for head, another in zip(structure.heads, other.heads))

    def sums(self, structure: TreeArcs) -> dict[str, int]:
        """Distances, directions, depth, projectivity."""
        heads = np.array(structure.heads)
        arcs = heads - np.arange(len(heads))
        depths = word_depths(structure.heads)
        projective = WordTrees(heads, np.array([len(heads)])).projective(np.array(depths))
        return {
            "sentences": 1,
            "words": len(heads),
            "arcs": int(np.count_nonzero(arcs)),
            "distance": int(np.abs(arcs).sum()),
            "left": int((arcs < 0).sum()),
            "depth": max(depths),
            "projective": int(projective[0]),
        }


class ControlledFeatures(ControlledHeads):
    """The features of words, in dependency trees that stay as they are."""

    alike = "the same features"
    quotients: ClassVar = {f"share with {name}": (name, "words") for name in FEATURE_COLUMNS}

    def same(self, structure: TreeArcs, other: TreeArcs) -> int:
        """Words with the same values in all columns."""
        both = [zip(arcs.features, arcs.relations) for arcs in (structure, other)]
        return sum(values == others for values, others in zip(*both))

    def sums(self, structure: TreeArcs) -> dict[str, int]:
        """Words with a value, for each column."""
        sums = {"sentences": 1, "words": len(structure.heads)}
        columns = [*zip(*structure.features), structure.relations]
        for name, values in zip(FEATURE_COLUMNS, columns):
            sums[name] = sum(value != "_" for value in values)
        return sums


class ControlledTrees(ControlledKind):
    """Constituency trees."""

    kind = PHRASES
    alike = "the same phrase boundary"
    quotients: ClassVar = {
        "mean length of constituents": ("covered", "constituents"),
        "mean length of phrases": ("words", "phrases"),
        "mean depth": ("depth", "sentences"),
    }

    def resized(self, structure: ConstituentTree, own: ConstituentTree) -> ConstituentTree:
        """See :func:`~syntax_nmt.data.controls.structures.resized_tree`."""
        return resized_tree(structure, own.words)

    def text(self, entry: str, structure: ConstituentTree) -> str:
        """A bracketed line."""
        return self.kind.format.write(structure, structure.words)

    def same(self, structure: ConstituentTree, other: ConstituentTree) -> int:
        """Words that end phrases in both or in neither."""
        ends, others = (set(np.cumsum(_phrases(each)).tolist()) for each in (structure, other))
        return len(structure) - len(ends ^ others)

    def sums(self, structure: ConstituentTree) -> dict[str, int]:
        """Constituents above the words, depth, phrases."""
        inner = [node for node in structure.nodes if not node.leaf]
        return {
            "sentences": 1,
            "words": len(structure),
            "constituents": len(inner),
            "covered": sum(node.end - node.start for node in inner),
            "depth": max(node.depth for node in structure.nodes),
            "phrases": len(_phrases(structure)),
        }


class ControlledChunks(ControlledKind):
    """Chunks."""

    kind = CHUNKS
    alike = "the same tag"
    quotients: ClassVar = {
        "mean length of chunks": ("inside", "chunks"),
        "chunks a sentence": ("chunks", "sentences"),
        "share of words outside": ("outside", "words"),
    }

    def size(self, annotation: Sequence[Chunk]) -> int:
        """Tags."""
        return annotation[-1].end

    def resized(self, structure: Sequence[Chunk], own: Sequence[Chunk]) -> Sequence[Chunk]:
        """See :func:`~syntax_nmt.data.controls.structures.resized_chunks`."""
        return resized_chunks(structure, own[-1].end)

    def text(self, entry: str, structure: Sequence[Chunk]) -> str:
        """A line of IOB2 tags."""
        return self.kind.format.write(structure, ())

    def same(self, structure: Sequence[Chunk], other: Sequence[Chunk]) -> int:
        """Words with the same tag."""
        return sum(tag == another for tag, another in zip(iob2_tags(structure), iob2_tags(other)))

    def sums(self, structure: Sequence[Chunk]) -> dict[str, int]:
        """Chunks, and words in and outside of them."""
        lengths = [chunk.end - chunk.start for chunk in structure if chunk.tag != OUTSIDE]
        return {
            "sentences": 1,
            "words": structure[-1].end,
            "chunks": len(lengths),
            "inside": sum(lengths),
            "outside": structure[-1].end - sum(lengths),
        }


CONTROLLED = (ControlledHeads(), ControlledTrees(), ControlledChunks())

CHAIN, SHUFFLED, BORROWED, DUMMY, MAJORITY, BALANCED, RIGHT = (
    *("chain", "shuffled", "borrowed", "dummy", "majority", "balanced", "right"),
)
CONTROLS = {
    **dict.fromkeys((CHAIN, SHUFFLED), (HEADS,)),
    BORROWED: tuple(of.kind for of in CONTROLLED),
    **dict.fromkeys((DUMMY, MAJORITY), (HEADS,)),
    **dict.fromkeys((BALANCED, RIGHT), (PHRASES,)),
}
"""The controls of `syntax-nmt control`, and the kinds of annotation files that each is for."""


def _phrases(tree: ConstituentTree) -> list[int]:
    """Lengths in words of the phrases for phrase models."""
    return parsed_lengths(tree, [1] * len(tree))


class IndexedEntries:
    """An annotation file, checked and copied to a temporary one where each entry's place is known.

    Args:
        annotation: the file, of the same kind as `of`.
        copy: an empty file to read and write bytes.

    Attributes:
        sizes: words of each sentence; 0 = it has no annotation.

    Raises:
        UserError: an entry is malformed.
    """

    def __init__(self, annotation: WordAnnotation, of: ControlledKind, copy: IO[bytes]) -> None:
        self.file, self.kind, self._copy = annotation.file, of.kind, copy
        self.sizes = array("l")
        self._starts, self._lines = array("q", [0]), array("q")
        for place, entry in annotation.entries():
            found = self.kind.format.parse(entry, place)
            self.sizes.append(0 if found is None else of.size(found))
            self._lines.append(place.line)
            self._starts.append(
                self._starts[-1] + copy.write(self.kind.format.entry_text(entry).encode())
            )

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, number: int) -> tuple[Any, Any]:
        """An entry, and the annotation in it; None where it has none."""
        start, end = self._starts[number], self._starts[number + 1]
        self._copy.seek(start)
        lines = self._copy.read(end - start).decode().split("\n")[:-1]
        ((_, entry),) = self.kind.format.entries(iter(lines))
        return entry, self.kind.format.parse(entry, Place(self.file, self._lines[number]))


@contextmanager
def indexed_entries(annotation: WordAnnotation, of: ControlledKind) -> Iterator[IndexedEntries]:
    """The entries of an annotation file of the same kind, as long as the context lasts."""
    with tempfile.TemporaryFile() as copy:
        yield IndexedEntries(annotation, of, copy)
