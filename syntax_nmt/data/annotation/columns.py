"""Features of the source's words: a column of CoNLL-U each, beside the trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from syntax_nmt.data.annotation.formats import CONLLU
from syntax_nmt.data.annotation.kind import AnnotationKind, BatchedText, SegmentedSentence
from syntax_nmt.data.collation import collate_labels
from syntax_nmt.data.dependency_tree import DependencyTree, one_token
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.data.text_columns import labelled
from syntax_nmt.errors import UserError
from syntax_nmt.text.languages import SOURCE

if TYPE_CHECKING:  # commands start without torch and fairseq
    from torch import Tensor

UNKNOWN = "<unk>"
FEATURE_THRESHOLD = 2  # rarer values are unknown, by default
EMPTY = "_"


class Column(AnnotationKind):
    """The value that each subword's word has in one column of CoNLL-U, as the id of a label.

    Rare values are one label, `<unk>`, as are those that the training text does not have. A value
    with spaces, as a lemma may be, has underscores in their place.

    Args:
        name: of the column, in lower case.
        values: of an attribute of :class:`DependencyTree`, one a word.
        description: a noun phrase for messages.
    """

    format = CONLLU
    side = SOURCE
    parsed_by = "dependencies"
    option = "load_features"
    help = (
        "load features of the source's words, columns of its CoNLL-U that were prepared with "
        "`--features`: upos, xpos, deprel, feats or lemma, several with commas"
    )
    label = "value"

    def __init__(self, name: str, values: str, description: str) -> None:
        self.name = name
        self.making = f"--features {name}"
        self.keys = (f"feature_{name}",)
        self.description = description
        self.labels_file = f"dict.{name}.txt"
        self.title = f"{name}, in words"
        self._values = values

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.name == getattr(other, "name", None)

    __hash__ = AnnotationKind.__hash__

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return f"--load-features {self.name}"

    def is_loaded(self, options: Any) -> bool:
        """Whether the options load it."""
        return self.name in named_columns(options.load_features)

    def values(self, tree: DependencyTree) -> tuple[str, ...]:
        """The values of its words; `_` = none."""
        values: tuple[str, ...] = getattr(tree, self._values) or (EMPTY,) * len(tree)
        return tuple(map(one_token, values))

    def labels(self, annotation: DependencyTree) -> Iterable[str]:
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
                f"no word of the training text has a value in column {self.name.upper()}: leave "
                f"{self.name} out of --features, or annotate the text with a parser that gives it"
            )
        frequent = {value for value, count in counts.items() if count >= threshold}
        if not frequent:
            raise UserError(
                f"--feature-threshold {threshold}: every value of {self.name.upper()} is rarer "
                f"(the most frequent has {max(counts.values())}): give a lower one"
            )
        return self.ordered(frequent)

    def ordered(self, labels: Iterable[str]) -> list[str]:
        """`<unk>`, the values, and `_` for none."""
        return [UNKNOWN, *sorted({*labels} - {UNKNOWN, EMPTY}), EMPTY]

    def id_of_others(self, label_ids: Mapping[str, int]) -> int:
        """That of `<unk>`."""
        return label_ids[UNKNOWN]

    def unseen(self, annotation: DependencyTree, label_ids: Mapping[str, int]) -> set[str]:
        """None: they are `<unk>`."""
        return set()

    def row(
        self, annotation: DependencyTree, counts: Sequence[int], label_ids: Mapping[str, int]
    ) -> np.ndarray:
        """The id of each word, repeated for its subwords."""
        unknown = label_ids[UNKNOWN]
        ids = [label_ids.get(value, unknown) for value in self.values(annotation)]
        return np.repeat(np.asarray(ids, dtype=np.int32), np.asarray(counts))

    def known_values(self, rows: np.ndarray, labels: int) -> int:
        """Those that training has: neither `<unk>` nor `_`."""
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
        return labelled(self.name, named)


UPOS = Column("upos", "upos", "parts of speech of the source's words")
XPOS = Column("xpos", "xpos", "language-specific parts of speech of the source's words")
DEPREL = Column("deprel", "relations", "dependency relations of the source's words")
FEATS = Column("feats", "feats", "morphology of the source's words")
LEMMA = Column("lemma", "lemmas", "lemmas of the source's words")
COLUMNS: tuple[Column, ...] = (UPOS, XPOS, DEPREL, FEATS, LEMMA)


def named_columns(text: str | None) -> tuple[str, ...]:
    """The names in a list with commas; none without a list."""
    return tuple(name.strip() for name in text.split(",")) if text else ()


def check_columns(text: str | None, option: str) -> tuple[Column, ...]:
    """The columns of a list with commas, in its order.

    Args:
        option: that has the list, for messages.

    Raises:
        UserError: an unknown name, or one twice.
    """
    names, known = named_columns(text), {column.name: column for column in COLUMNS}
    for name in names:
        if name not in known:
            raise UserError(f"{option} {text}: {name!r} is no column: give {', '.join(known)}")
        if names.count(name) > 1:
            raise UserError(f"{option} {text}: {name} twice: give each column once")
    return tuple(known[name] for name in names)


def loading_options(kinds: Iterable[AnnotationKind]) -> tuple[str, ...]:
    """The options of the task that load some kinds; columns are one list."""
    found = list(dict.fromkeys(kinds))
    columns = ",".join(kind.name for kind in found if isinstance(kind, Column))
    flags = [kind.flag for kind in found if not isinstance(kind, Column)]
    return (*flags, *(("--load-features", columns) if columns else ()))


def making_options(kinds: Iterable[AnnotationKind]) -> list[str]:
    """The options of `syntax-nmt prepare` that make annotation of these kinds."""
    kinds = list(kinds)
    columns = [kind.name for kind in kinds if isinstance(kind, Column)]
    options = [kind.making for kind in kinds if kind.making and kind.name not in columns]
    return [*options, *([f"--features {','.join(columns)}"] if columns else [])]
