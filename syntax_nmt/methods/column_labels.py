"""The labels of columns of CoNLL-U that a model was built for, which checkpoints keep.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from collections.abc import Iterable, Sequence
from dataclasses import make_dataclass
from typing import TYPE_CHECKING, Any, Optional

from fairseq.dataclass import FairseqDataclass
from fairseq.tasks import FairseqTask

from syntax_nmt.arguments import decoder_option, encoder_option
from syntax_nmt.checkpoints.label_text import join_labels, split_labels
from syntax_nmt.data.annotation import COLUMNS, TARGET_COLUMNS
from syntax_nmt.data.annotation.columns import Column
from syntax_nmt.errors import UserError
from syntax_nmt.text.languages import SOURCE

FULL, UNIVERSAL = "full", "universal"  # relations with their subtypes, or without


def _option(column: Column) -> tuple[str, Any, Any]:
    text = (
        f"the {column.column.upper()} values of the {column.side}'s words in the order of their "
        f"ids, separated by spaces; checkpoints store them (default: those of {column.labels_file} "
        "in the data folder)"
    )
    of_stack = encoder_option if column.side == SOURCE else decoder_option
    return column.key, Optional[str], of_stack(None, text)


if TYPE_CHECKING:  # the options of methods that read columns extend it

    class ColumnLabelOptions(FairseqDataclass):
        """An option a column of either side, under the key of its annotation."""

else:
    ColumnLabelOptions = make_dataclass(
        "ColumnLabelOptions",
        list(map(_option, (*COLUMNS, *TARGET_COLUMNS))),
        bases=(FairseqDataclass,),
        namespace={"__module__": __name__},  # as Python 3.12 sets it
    )


def take_labels(options: Any, task: FairseqTask, columns: Iterable[Column]) -> None:
    """Gives a model the labels of columns in the data, unless they are given.

    Args:
        options: of the model, a namespace; changed in place.
        columns: that the model reads.
    """
    for column in columns:
        if getattr(options, column.key, None) is None:
            setattr(options, column.key, join_labels(task.labels(column)))


def labels_of(options: Any, column: Column, reader: str) -> tuple[str, ...]:
    """The labels of a column.

    Args:
        reader: the option that reads them, for the message.

    Raises:
        UserError: there are none.
    """
    labels = split_labels(getattr(options, column.key))
    if not labels:
        raise UserError(
            f"{reader}: the data folder has no {column.labels_file}: make it with `prepare "
            f"{column.making}` or `binarize {column.making}`"
        )
    return labels


def numbered_relations(relations: Sequence[str], which: str) -> tuple[tuple[str, ...], list[int]]:
    """The relations of a model, each once, and the number among them of each of the annotation.

    Args:
        relations: of the annotation, in the order of their ids.
        which: `full`, or `universal`: equal up to a colon.
    """
    names = [each.partition(":")[0] if which == UNIVERSAL else each for each in relations]
    known = tuple(dict.fromkeys(names))
    return known, [known.index(name) for name in names]
