"""One sentence of a file, by its number."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from syntax_nmt.arguments import add_numbers, positive_int
from syntax_nmt.errors import UserError, note
from syntax_nmt.scoring.parallel_text import check_parallel

T = TypeVar("T")


def add_sentence_argument(parser: argparse.ArgumentParser) -> None:
    """Adds which sentence is drawn."""
    add_numbers(parser, positive_int, sentence=(1, "which sentence, counted from 1"))


def chosen(items: Iterable[T], number: int, name: str) -> T:
    """The item of a sentence; those behind it are not read.

    Args:
        items: one a sentence, in order.
        number: of the sentence, from 1.
        name: of their file, for messages.

    Raises:
        UserError: there are fewer items.
    """
    count = 0
    for count, item in enumerate(items, start=1):
        if count == number:
            return item
    raise UserError(f"--sentence {number}: {name} has {count} sentences")


def chosen_parallel(columns: Sequence[tuple[str, Sequence[T]]], number: int) -> list[T]:
    """The items of a sentence in several files, which must have as many sentences.

    Args:
        columns: file names with one item a sentence.
        number: of the sentence, from 1.

    Raises:
        UserError: the files have different numbers of sentences, or too few.
    """
    first, items = columns[0]
    for name, others in columns[1:]:
        check_parallel(name, len(others), first, len(items), "sentences")
    return [chosen(items, number, name) for name, items in columns]


def chosen_trees(
    args: argparse.Namespace, read: Callable[[str], Iterable[T | None]]
) -> tuple[T, T | None]:
    """The tree of a sentence in `args.trees`, and that of `args.gold`, if there is one.

    Args:
        read: the trees of a file; None = the sentence has none.

    Raises:
        UserError: the sentence has no tree, or a file has other sentences.
    """
    paths = [path for path in (args.trees, args.gold) if path]
    tree, *golds = chosen_parallel([(path, list(read(path))) for path in paths], args.sentence)
    if tree is None:
        raise UserError(
            f"{args.trees}: sentence {args.sentence} has no tree: choose another --sentence"
        )
    gold = golds[0] if golds else None
    if golds and gold is None:
        note(f"{args.gold}: sentence {args.sentence} has no tree; nothing is compared")
    return tree, gold
