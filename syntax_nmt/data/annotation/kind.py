"""The interface of a kind of annotation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from syntax_nmt.arguments import flag
from syntax_nmt.data.annotation.formats import AnnotationFormat
from syntax_nmt.data.batch import Batch
from syntax_nmt.data.figures.annotation_figures import AnnotationFigures
from syntax_nmt.data.projection import NO_ANNOTATION
from syntax_nmt.data.ragged import RaggedArray, RowBlock
from syntax_nmt.data.subwords import join_pieces, pieces_per_word
from syntax_nmt.data.text_columns import labelled
from syntax_nmt.errors import UserError

if TYPE_CHECKING:  # commands start without torch and fairseq
    from torch import Tensor


@dataclass(frozen=True)
class BatchedText:
    """The side of a batch that annotation belongs to.

    Attributes:
        ids: the sentences of the batch in order, (B,).
        sizes: the length with EOS of every sentence of the dataset, (sentences,).
        width: S or T, the padded width of the batch.
        left_pad: whether the tokens are at the right edge.
    """

    ids: np.ndarray
    sizes: np.ndarray
    width: int
    left_pad: bool


@dataclass(frozen=True)
class SegmentedSentence:
    """A sentence to display.

    Attributes:
        pieces: its subwords.
        words: its words; the pieces if words are not known.
        counts: the number of pieces of each word.
        scheme: one of `subwords.SCHEMES`.
    """

    pieces: Sequence[str]
    words: Sequence[str]
    counts: Sequence[int]
    scheme: str

    def joined(self, start: int, end: int) -> str:
        """The words of the pieces from `start` to `end`."""
        pieces = self.pieces[start:end]
        try:
            counts = pieces_per_word(pieces, self.scheme, "")
        except UserError:
            return " ".join(pieces)
        return " ".join(join_pieces(pieces, counts, self.scheme))


class AnnotationKind(ABC):
    """One kind of annotation.

    Its :attr:`format` is the text form. A kind knows the binarised form, a row of int32 a sentence
    without EOS (:meth:`row`), and the tensor of a batch (:meth:`collate`). Models and objectives
    declare the kinds that they read as `reads_annotation`; a model gets the batch's tensors as the
    arguments :attr:`keys` of its forward pass.

    Attributes:
        name: of the binarised files, `train.de-en.de.NAME.bin`.
        format: of the files that hold it; one file may hold several kinds.
        side: `source` or `target`. Annotation of the target is not known in a search.
        keys: names of the batch entries that this kind adds; the first is the tensor.
        description: a noun phrase for messages, such as "chunks of the target".
        option: of the task, which loads it.
        help: of that option.
        title: of its figures.
        parsed_by: the task of a parser whose analyses its format takes; None = no
            parser annotates text during translation.
        labels_file: the file in the data folder that lists the labels; None = it has no labels.
        label: the name of a label in messages.
        no_label: the label to list if the training text has none.
        making: the option of `syntax-nmt prepare` that makes it, for messages.
    """

    name: str
    format: AnnotationFormat
    side: str
    keys: tuple[str, ...]
    description: str
    option: str
    help: str
    title: str
    parsed_by: str | None = None
    labels_file: str | None = None
    label: str = "label"
    no_label: str = "_"
    making: str = ""

    def __eq__(self, other: object) -> bool:
        """Unpickling in a worker process returns the same object."""
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name.upper()

    @property
    def key(self) -> str:
        """The key of the tensor in the batch."""
        return self.keys[0]

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return flag(self.option)

    def is_loaded(self, options: Any) -> bool:
        """Whether the options of a task load it."""
        return bool(getattr(options, self.option))

    def tensor_in(self, annotation: Mapping[str, Tensor]) -> Tensor:
        """Its tensor among the inputs of a model that requires it.

        Args:
            annotation: by the keys of their kinds.

        Raises:
            UserError: it is missing.
        """
        if self.key not in annotation:
            raise missing_annotation([self], [self.flag])
        return annotation[self.key]

    @property
    def ending(self) -> str:
        """The ending of its files, `train.de.ENDING`."""
        return self.format.ending

    def labels(self, annotation: Any) -> Iterable[str]:
        """The labels in an annotation, for a kind that has :attr:`labels_file`."""
        return ()

    def listed(self, counts: Counter[str], threshold: int) -> list[str]:
        """The labels of a training text, in the order of their ids.

        Args:
            threshold: of a kind that has rare labels in common, how often others occur at least.

        Raises:
            UserError: no annotation has a label, and the kind needs some.
        """
        return self.ordered(counts)

    def ordered(self, labels: Iterable[str]) -> list[str]:
        """Labels in the order of their ids, each once."""
        return sorted({*labels}) or [self.no_label]

    def id_of_others(self, label_ids: Mapping[str, int]) -> int | None:
        """The id that a label without one has; None = its sentence counts as not annotated."""
        return None

    @abstractmethod
    def row(
        self, annotation: Any, counts: Sequence[int], label_ids: Mapping[str, int]
    ) -> np.ndarray:
        """An annotation projected to subwords, int32.

        Args:
            annotation: of the words, as the format reads it.
            counts: the number of pieces of each word.
            label_ids: id of each label, from 1.
        """

    def no_row(self, size: int) -> np.ndarray:
        """The row of a sentence of `size` subwords without annotation; it begins with −1."""
        return np.full(size, NO_ANNOTATION, dtype=np.int32)

    def covered(self, rows: RowBlock, sizes: np.ndarray) -> np.ndarray:
        """The number of subwords that each row covers, for comparison with the sentences' `sizes`.

        Args:
            sizes: lengths of these sentences without EOS, (sentences,).
        """
        return rows.sizes

    @abstractmethod
    def limits(self, sizes: np.ndarray, labels: int) -> tuple[int, np.ndarray]:
        """The least and the greatest number that a row with annotation may contain.

        Args:
            sizes: lengths of the sentences without EOS, (sentences,).

        Returns:
            The least; the greatest of each sentence, of any shape that broadcasts to (sentences,).
        """

    @abstractmethod
    def collate(self, rows: RaggedArray, text: BatchedText, labels: int) -> Tensor:
        """The tensor of a batch, int32, whose first dimension is B.

        Args:
            rows: of all sentences of the dataset.
        """

    def known_values(self, rows: np.ndarray, labels: int) -> int:
        """How many numbers of some rows say more than that a value is unknown or missing.

        Args:
            labels: how many the kind has.
        """
        return len(rows)

    def batch_flags(self, tensor: Tensor) -> Batch:
        """Facts about a tensor from the data loader, so that no model synchronises its GPU."""
        return {}

    def figures(self, labels: Sequence[str] = ()) -> AnnotationFigures:
        """The statistics of a file, still empty.

        Args:
            labels: in the order of their ids.
        """
        return AnnotationFigures()

    def show(
        self, row: np.ndarray, sentence: SegmentedSentence, labels: Sequence[str]
    ) -> list[str]:
        """A row as lines for people.

        Args:
            labels: in the order of their ids.
        """
        return labelled(self.name, [str(number) for number in row.tolist()])


def missing_annotation(kinds: Sequence[AnnotationKind], options: Sequence[str]) -> UserError:
    """The message if a model requires annotation that no option loads."""
    described = " and ".join(kind.description for kind in kinds)
    message = (
        f"the model reads {described}, but the batch has none: add {' '.join(options)} to read "
        "them from the data folder (fairseq-train, -validate, -generate)"
    )
    if all(kind.parsed_by is not None for kind in kinds):
        message += ", or --parser-config FILE to parse (fairseq-generate, -interactive)"
    return UserError(message)
