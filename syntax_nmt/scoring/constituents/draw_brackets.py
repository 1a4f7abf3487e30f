"""A constituency tree as indented brackets, some of them marked."""

from collections.abc import Callable

from syntax_nmt.data.constituents import UNNAMED_CONSTITUENT, Constituent, ConstituentTree
from syntax_nmt.errors import printable

_RED, _PLAIN = "\033[31m", "\033[0m"


def draw_brackets(
    tree: ConstituentTree,
    wrong: Callable[[Constituent], bool] = lambda node: False,
    colour: bool = False,
) -> str:
    """A line for each bracket and each word; a bracket that holds nothing but words is one line.

    Args:
        tree: what to draw.
        wrong: which constituents are marked, with ✗ at the beginning of their line.
        colour: mark in red as well.

    Returns:
        lines that end in a line end each.
    """
    lines: list[str] = []
    position = 0
    while position < len(tree.nodes):
        node = tree.nodes[position]
        marked = not node.leaf and wrong(node)
        end = position + 1 if node.leaf else _end_of_words(tree, position)
        text = _words(tree, node) if end else "("
        text = printable(text if node.leaf else _with_label(node, text))
        position = end or position + 1
        below = tree.nodes[position].depth if position < len(tree.nodes) else 0
        closed = ")" * (node.depth - below if end else 0)
        line = f"{'✗' if marked else ' '} {'  ' * node.depth}{text}{closed}"
        lines.append(f"{_RED}{line}{_PLAIN}" if marked and colour else line)
    return "".join(f"{line}\n" for line in lines)


def _end_of_words(tree: ConstituentTree, position: int) -> int | None:
    """Where in preorder a bracket of nothing but words ends; None = it holds brackets."""
    node = tree.nodes[position]
    end = position + 1 + node.end - node.start
    inside = tree.nodes[position + 1 : end]
    return end if all(each.leaf and each.depth == node.depth + 1 for each in inside) else None


def _words(tree: ConstituentTree, node: Constituent) -> str:
    words = " ".join(tree.words[node.start : node.end])
    return words if node.leaf else f"({words})"


def _with_label(node: Constituent, bracket: str) -> str:
    if node.label in ("", UNNAMED_CONSTITUENT):
        return bracket
    return f"({node.label}{' ' if len(bracket) > 1 else ''}{bracket[1:]}"
