"""Columns and labels that the annotation of the training text will not have: refused at once."""

from collections.abc import Callable, Container, Mapping, Sequence
from itertools import islice
from pathlib import Path

from syntax_nmt.data.annotation import CHUNKS, HEADS, TARGET_HEADS
from syntax_nmt.data.annotation.columns import EMPTY, LEMMA, Column
from syntax_nmt.data.annotation.formats import CONLLU
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.data.data_bin_names import is_training
from syntax_nmt.data.text_files import find_text
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.parser import ParserModels
from syntax_nmt.preparation.annotators.annotator import Annotator
from syntax_nmt.text.languages import TARGET

_TREES = 1000  # of a file that are looked at, the first ones


def refuse_empty_columns(
    kind: AnnotationKind,
    columns: Sequence[Column],
    annotators: Mapping[AnnotationKind, Callable[[], Annotator]],
    given: Mapping[tuple[str, AnnotationKind], Path],
    option: str | None = None,
) -> None:
    """Refuses columns that the training text will not have.

    Args:
        kind: of the trees whose columns they are.
        option: that names them; None = that of the features of their side.

    Raises:
        UserError: names the column, and the file or the models.
    """
    file = given.get(("train", kind))
    if kind == CHUNKS and (file is not None or kind in annotators):
        return  # every word has a tag
    if file is not None:
        refuse_empty_in(file, columns, option)
    elif kind in annotators:
        models = annotators[kind]().models
        if models is not None:
            refuse_not_made(models, columns, option)
    elif not any(each == kind for _, each in given):
        way = "leave --no-parse out" if kind == HEADS else f"add {kind.making}"
        file_kind = TARGET_HEADS if kind == HEADS and columns[0].side == TARGET else kind
        raise UserError(
            f"{option or columns[0].listing} {columns[0].column}: there are no "
            f"{file_kind.description} to take the columns from: {way}, or give "
            f"PREF.LANG.{kind.ending}"
        )


def refuse_without_training(
    labelled: Sequence[AnnotationKind],
    annotators: Container[AnnotationKind],
    given: Mapping[tuple[str, AnnotationKind], Path],
    words: Path,
) -> None:
    """Refuses labels of validation or test text alone: the lists are those of the training text.

    Args:
        labelled: the kinds whose files have labels.
        words: the folder in which annotation of the training text may be, too.

    Raises:
        UserError: names the file.
    """
    trained = {kind for split, kind in given if is_training(split)}
    for (split, kind), file in given.items():
        if kind not in labelled or kind in annotators or kind in trained:
            continue
        lang, ending = file.name.removesuffix(".gz").split(".")[-2:]
        if find_text(words / f"train.{lang}.{ending}") is None:
            raise UserError(
                f"{file}: the labels of {split} are those of the training text, which has no "
                f".{ending} file: give one beside it, or {kind.making.split()[0]}, or move this "
                "file away"
            )


def refuse_empty_in(file: Path, columns: Sequence[Column], option: str | None = None) -> None:
    """Refuses columns in which the first trees of a training text have no value.

    Args:
        file: CoNLL-U, if a column is of that format; otherwise it is not read.
        option: that names them; None = that of the features of their side.

    Raises:
        UserError: names the column.
    """
    missing = [column for column in columns if column.format == CONLLU]
    if not missing:
        return
    for tree in islice(filter(None, read_conllu(file, one_root=False)), _TREES):
        missing = [column for column in missing if set(column.values(tree)) == {EMPTY}]
        if not missing:
            return
    for column in missing:
        raise UserError(
            f"{file}: no word has a value in column {column.column.upper()}: leave "
            f"{column.column} out of {option or column.listing}, or annotate the text with a "
            "parser that gives it"
        )


def refuse_not_made(
    models: ParserModels, columns: Sequence[Column], option: str | None = None
) -> None:
    """Refuses lemmas of models without a lemmatiser.

    Args:
        option: as of :func:`refuse_empty_in`.

    Raises:
        UserError: names the models.
    """
    for column in columns:
        if column.column == LEMMA.column and not models.has_lemmas:
            raise UserError(
                f"{option or column.listing} {column.column}: there is no lemmatiser beside "
                f"{models}: leave {LEMMA.column} out, or give --stanza-dir a folder in Stanza's "
                "own layout that has one, or PREF.LANG.conllu with lemmas"
            )
