"""Features of words, of either side: a column of CoNLL-U each, beside the trees; and chunk tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from syntax_nmt.arguments import flag, named_in
from syntax_nmt.data.annotation.formats import CHUNK_TAGS, CONLLU, AnnotationFormat
from syntax_nmt.data.annotation.kind import AnnotationKind, BatchedText, SegmentedSentence
from syntax_nmt.data.chunks import Chunk, iob2_tags
from syntax_nmt.data.collation import collate_labels
from syntax_nmt.data.dependency_tree import one_token
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.data.text_columns import labelled
from syntax_nmt.errors import UserError
from syntax_nmt.text.languages import SOURCE, TARGET

if TYPE_CHECKING:  # commands start without torch and fairseq
    from torch import Tensor

UNKNOWN = "<unk>"
FEATURE_THRESHOLD = 2  # rarer values are unknown, by default
EMPTY = "_"
# By side: the task's option that loads columns, and that of `prepare` and `binarize` with the list.
LOADING = {SOURCE: "load_features", TARGET: "load_target_features"}
LISTING = {SOURCE: "--features", TARGET: "--target-features"}


class Column(AnnotationKind):
    """The value that each subword's word has in one column of CoNLL-U, as the id of a label.

    Rare values are one label, `<unk>`, as are those that the training text does not have. A value
    with spaces, as a lemma may be, has underscores in their place.

    Args:
        column: its name, in lower case.
        values: of an attribute of :class:`~syntax_nmt.data.dependency_tree.DependencyTree`, one
            a word.
        description: a noun phrase for messages, without the side.
        side: source or target. Columns of the target have names, files and labels of their own.
    """

    format: AnnotationFormat = CONLLU
    label = "value"

    def __init__(self, column: str, values: str, description: str, side: str = SOURCE) -> None:
        prefix = "" if side == SOURCE else "target_"
        self.side, self.column = side, column
        self.name = f"{prefix}{column}"
        self.parsed_by = "dependencies" if side == SOURCE else None
        self.option = LOADING[side]
        self.listing = LISTING[side]
        self.making = f"{self.listing} {column}"
        self.keys = (f"{prefix}feature_{column}",)
        self.description = f"{description} of the {side}'s words"
        self.labels_file = f"dict.{self.name}.txt"
        self.title = f"{column}, in words"
        self._values = values

    @property
    def help(self) -> str:  # type: ignore[override]
        """The help of the option that loads it."""
        names = [each.column for each in (COLUMNS if self.side == SOURCE else TARGET_COLUMNS)]
        return (
            f"load features of the {self.side}'s words, columns of its CoNLL-U that were prepared "
            f"with `{self.listing}`: {', '.join(names)}; several with commas"
        )

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.name == getattr(other, "name", None)

    __hash__ = AnnotationKind.__hash__

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return f"{flag(self.option)} {self.column}"

    def is_loaded(self, options: Any) -> bool:
        """Whether the options load it."""
        return self.column in named_columns(getattr(options, self.option))

    def values(self, annotation: Any) -> tuple[str, ...]:
        """The values of its words; `_` = none.

        Args:
            annotation: as the format reads it.
        """
        values: tuple[str, ...] = getattr(annotation, self._values) or (EMPTY,) * len(annotation)
        return tuple(map(one_token, values))

    def labels(self, annotation: Any) -> Iterable[str]:
        """The values."""
        return self.values(annotation)

    def listed(self, counts: Counter[str], threshold: int) -> list[str]:
        """The labels of a training text: `<unk>`, then the values in order.

        Args:
            threshold: values that are rarer have no label.

        Raises:
            UserError: the column is empty, or all its values are rarer.
        """
        counts = Counter({value: n for value, n in counts.items() if value != EMPTY})
        if not counts:
            raise UserError(
                f"no word of the training text has a value in column {self.column.upper()}: leave "
                f"{self.column} out of {self.listing}, or annotate the text with a parser that "
                "gives it"
            )
        frequent = {value for value, count in counts.items() if count >= threshold}
        if not frequent:
            raise UserError(
                f"--feature-threshold {threshold}: every value of {self.column.upper()} is rarer "
                f"(the most frequent has {max(counts.values())}): give a lower one"
            )
        return self.ordered(frequent)

    def ordered(self, labels: Iterable[str]) -> list[str]:
        """`<unk>`, the values, and `_` for none."""
        return [UNKNOWN, *sorted({*labels} - {UNKNOWN, EMPTY}), EMPTY]

    def id_of_others(self, label_ids: Mapping[str, int]) -> int:
        """The id of `<unk>`."""
        return label_ids[UNKNOWN]

    def row(
        self, annotation: Any, counts: Sequence[int], label_ids: Mapping[str, int]
    ) -> np.ndarray:
        """The id of each word, repeated for its subwords."""
        unknown = label_ids[UNKNOWN]
        ids = [label_ids.get(value, unknown) for value in self.values(annotation)]
        return np.repeat(np.asarray(ids, dtype=np.int32), np.asarray(counts))

    def known_values(self, rows: np.ndarray, labels: int) -> int:
        """How many values training has: they are neither `<unk>` nor `_`."""
        return int(((rows > 1) & (rows < labels)).sum())

    def limits(self, sizes: np.ndarray, labels: int) -> tuple[int, np.ndarray]:
        """The id of a label."""
        return 1, np.asarray(labels)

    def collate(self, rows: RaggedArray, text: BatchedText, labels: int) -> Tensor:
        """B×S: the id of each token's label, from 1; −1 at pads, at EOS and without a parse."""
        return collate_labels(rows, text.ids, text.width, text.left_pad)

    def show(
        self, row: np.ndarray, sentence: SegmentedSentence, labels: Sequence[str]
    ) -> list[str]:
        """The label of each word."""
        starts = np.cumsum([0, *sentence.counts])[:-1]
        named = [labels[i - 1] if 0 < i <= len(labels) else f"?{i}" for i in row[starts].tolist()]
        return labelled(self.column, named)


class ChunkColumn(Column):
    """The tag of each subword's word in files of chunks, IOB2: a column beside CoNLL-U."""

    format = CHUNK_TAGS

    def values(self, annotation: Sequence[Chunk]) -> tuple[str, ...]:
        """`B-NP` begins a chunk, `I-NP` continues it, `O` is outside."""
        return tuple(iob2_tags(annotation))


_COLUMNS = (
    ("upos", "upos", "parts of speech"),
    ("xpos", "xpos", "language-specific parts of speech"),
    ("deprel", "relations", "dependency relations"),
    ("feats", "feats", "morphology"),
    ("lemma", "lemmas", "lemmas"),
)
COLUMNS: tuple[Column, ...] = tuple(Column(*each) for each in _COLUMNS)
CHUNK_TAG = ChunkColumn("chunk", "", "chunk tags", TARGET)
TARGET_COLUMNS: tuple[Column, ...] = (*(Column(*each, TARGET) for each in _COLUMNS), CHUNK_TAG)
UPOS, XPOS, DEPREL, FEATS, LEMMA = COLUMNS
TARGET_UPOS, TARGET_DEPREL = TARGET_COLUMNS[0], TARGET_COLUMNS[2]


def named_columns(text: str | None) -> tuple[str, ...]:
    """The names in a list with commas; none without a list."""
    return tuple(name.strip() for name in text.split(",")) if text else ()


def check_columns(
    text: str | None, option: str, columns: Sequence[Column] = COLUMNS
) -> tuple[Column, ...]:
    """The columns of a list with commas, in its order.

    Args:
        option: that has the list, for messages.
        columns: those of a side.

    Raises:
        UserError: an unknown name, or one twice.
    """
    known = {each.column: each for each in columns}
    names = named_in(option, text, known, "column") if text else ()
    return tuple(known[name] for name in names)


def loading_options(kinds: Iterable[AnnotationKind]) -> tuple[str, ...]:
    """The options of the task that load some kinds; columns of a side are one list."""
    found = list(dict.fromkeys(kinds))
    flags = [kind.flag for kind in found if not isinstance(kind, Column)]
    for side, option in LOADING.items():
        columns = _named_together(found, side)
        flags += [flag(option), columns] if columns else []
    return tuple(flags)


def making_options(kinds: Iterable[AnnotationKind]) -> list[str]:
    """The options of `syntax-nmt prepare` that make annotation of these kinds."""
    kinds = list(kinds)
    options = [kind.making for kind in kinds if kind.making and not isinstance(kind, Column)]
    lists = {option: _named_together(kinds, side) for side, option in LISTING.items()}
    return [*options, *(f"{option} {columns}" for option, columns in lists.items() if columns)]


def _named_together(kinds: Iterable[AnnotationKind], side: str) -> str:
    """The columns of a side among some kinds, with commas between."""
    return ",".join(kind.column for kind in kinds if isinstance(kind, Column) and kind.side == side)
