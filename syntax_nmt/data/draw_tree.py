"""Draws a dependency tree for a terminal, with marks at words that differ from a reference."""

from collections.abc import Sequence
from typing import NamedTuple

from wcwidth import wcswidth

from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.errors import UserError, printable

# Symbols of a head, by whether it has dependents above and below; with a plain end where other
# lines pass.
_HEADS = {(True, True): "┾", (True, False): "┶", (False, True): "┮"}
_PASSED_HEADS = {(True, True): "┼", (True, False): "┴", (False, True): "┬"}
_RED, _DIM, _PLAIN = "\033[31m", "\033[2m", "\033[0m"


def draw_tree(
    tree: DependencyTree,
    reference: DependencyTree | None = None,
    colour: bool = False,
    relations: bool = False,
) -> str:
    """One line per word: its number, its arcs, the word, its head in the reference.

    Args:
        tree: what to draw.
        reference: over the same words; None = nothing is marked.
        colour: mark in red as well.
        relations: write that of each word behind it.

    Returns:
        lines with line ends.

    Raises:
        UserError: it is no tree, but a list of them, for example.
    """
    if not isinstance(tree, DependencyTree):
        raise UserError(
            f"draw_tree draws one dependency tree, and this is a {type(tree).__name__}: give one "
            "sentence to `trees`, or draw each tree of its list"
        )
    arcs = _arcs(tree)
    if relations:
        arcs = [f"{line} ({relation})" for line, relation in zip(arcs, tree.relations)]
    digits = len(str(len(tree)))
    left = [f"{number:>{digits}} {line}" for number, line in enumerate(arcs, start=1)]
    width = max(map(wcswidth, left)) + 2
    lines = []
    for word, text in enumerate(left):
        if reference is None or reference.heads[word] == tree.heads[word]:
            lines.append(_styled(text, _DIM, digits, colour))
            continue
        text = _styled(text, _RED, len(text), colour) + " " * (width - wcswidth(text))
        lines.append(text + _styled(_note(reference, word), _RED, 1, colour))
    return "\n".join(lines) + "\n"


def _arcs(tree: DependencyTree) -> list[str]:
    """The arcs and the words, one line each.

    A vertical line joins a head and its dependents. It is to the right of the line that the head
    depends on, and shares its column with no other on the same lines. A word is to the right of all
    vertical lines that pass it.
    """
    uprights = _uprights(tree.heads)
    lines = []
    for row, (head, word) in enumerate(zip(tree.heads, map(printable, tree.words))):
        passing = {x.column for x in uprights.values() if x.first <= row <= x.last}
        begin = -1 if head == row else uprights[head].column
        own = uprights.get(row)
        rightmost = max(passing, default=-1)
        end = rightmost if own is not None and own.column == rightmost else rightmost + 2
        arcs = ""
        for column in range(end + 1):
            if own is not None and column == own.column:
                shapes = _HEADS if column == end else _PASSED_HEADS
                arcs += shapes[own.first < row, own.last > row]
            elif column == begin:
                arcs += _corner(uprights[head], row)
            elif column in passing:
                arcs += "│" if column < begin else "┼"
            elif column > begin:
                arcs += "╼" if column == end else "─"
            else:
                arcs += " "
        lines.append(f"{arcs} {word}")
    return lines


class _Upright(NamedTuple):
    """The line that joins a head and its dependents: its column, its first and its last row."""

    column: int
    first: int
    last: int


def _uprights(heads: Sequence[int]) -> dict[int, _Upright]:
    """The vertical line of each word that has dependents."""
    dependents: dict[int, list[int]] = {}
    for word, head in enumerate(heads):
        if word != head:
            dependents.setdefault(head, []).append(word)
    uprights: dict[int, _Upright] = {}
    waiting = [word for word, head in enumerate(heads) if word == head]
    for head in waiting:  # grows, so that heads precede their dependents
        if head not in dependents:
            continue
        column = 1 if heads[head] == head else uprights[heads[head]].column + 2
        first, last = min(head, *dependents[head]), max(head, *dependents[head])
        while any(
            x.column == column and x.first <= last and first <= x.last for x in uprights.values()
        ):
            column += 2
        uprights[head] = _Upright(column, first, last)
        waiting += dependents[head]
    return uprights


def _corner(upright: _Upright, row: int) -> str:
    """Where a dependent leaves the line of its head."""
    return {upright.first: "╭", upright.last: "╰"}.get(row, "├")


def _note(reference: DependencyTree, word: int) -> str:
    head = reference.heads[word]
    if head == word:
        return "✗ reference: the root"
    return f"✗ reference: {head + 1} {printable(reference.words[head])}"


def _styled(text: str, style: str, characters: int, colour: bool) -> str:
    """The text, its first characters in a style."""
    return f"{style}{text[:characters]}{_PLAIN}{text[characters:]}" if colour else text
