"""A dependency tree drawn for a terminal, words that differ from a reference marked."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

from udapi.block.write.textmodetrees import TextModeTrees
from udapi.core.root import Root

from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.text_columns import display_width

_PLAIN_FORKS = str.maketrans("┡┢", "├├")
_RED, _DIM, _PLAIN = "\033[31m", "\033[2m", "\033[0m"


def draw_tree(
    tree: DependencyTree, reference: DependencyTree | None = None, colour: bool = False
) -> str:
    """One line a word: its number, its arcs (by udapi), the word, its head in the reference.

    Args:
        tree: what to draw.
        reference: over the same words; None = nothing is marked.
        colour: mark in red as well.

    Returns:
        lines that end in a line end each.
    """
    arcs = _arcs(tree)
    digits = len(str(len(tree)))
    left = [f"{number:>{digits}} {line}" for number, line in enumerate(arcs, start=1)]
    width = max(map(display_width, left)) + 2
    lines = []
    for word, text in enumerate(left):
        if reference is None or reference.heads[word] == tree.heads[word]:
            lines.append(_styled(text, _DIM, digits, colour))
            continue
        text = _styled(text, _RED, len(text), colour) + " " * (width - display_width(text))
        lines.append(text + _styled(_note(reference, word), _RED, 1, colour))
    return "\n".join(lines) + "\n"


def _arcs(tree: DependencyTree) -> list[str]:
    """The arcs and the words, a line each."""
    top = Root()
    nodes = [top.create_child(form=word) for word in tree.words]
    root = 0
    for word, head in enumerate(tree.heads):
        if head == word:
            root = word
        else:
            nodes[word].parent = nodes[head]
    writer = TextModeTrees(
        print_sent_id=False,
        print_text=False,
        add_empty_line=False,
        color=False,
        attributes="form",
        layout="compact",  # no arc runs on the right of a word
        mark="",
        hints=True,  # without, arcs that cross have gaps (udapi 0.5)
    )
    with redirect_stdout(io.StringIO()):  # it prints; the lines are kept as well
        writer.process_tree(nodes[root], force_print=True)
    return [
        line.removesuffix(word).translate(_PLAIN_FORKS) + word
        for line, word in zip(writer.lines, tree.words)
    ]


def _note(reference: DependencyTree, word: int) -> str:
    head = reference.heads[word]
    if head == word:
        return "✗ reference: the root"
    return f"✗ reference: {head + 1} {reference.words[head]}"


def _styled(text: str, style: str, characters: int, colour: bool) -> str:
    """The text, its first characters in a style."""
    return f"{style}{text[:characters]}{_PLAIN}{text[characters:]}" if colour else text
