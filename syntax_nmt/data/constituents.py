"""Constituency trees in bracketed form, one a line; `()` stands for a sentence without a tree.

This reader replaces nltk's: it stores only spans, which segmentation and scoring need, is several
times faster, and can report the line of an error.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError

_TOKEN = re.compile(r"\([^\s()]+\)|[()]|[^\s()]+")
_TRACE = "-NONE-"
_TRACE_WORD = re.compile(r"\*[^()]*|-NONE-")
_NO_TREE = ["(", ")"], ["(", "(", ")", ")"]
_DEPTH = 20_000  # a chain of one bracket a word, in a sentence longer than any model takes
UNNAMED_CONSTITUENT, UNNAMED_WORD = "X", "W"
PENN_BRACKETS = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}


class Constituent(NamedTuple):
    """A node of a tree: words `start` to `end` (exclusive), `depth` edges below the root.

    `leaf` is True for a word, which is one node with its part-of-speech bracket: `(DT the)`
    is a leaf labelled DT.
    """

    label: str
    start: int
    end: int
    depth: int
    leaf: bool


@dataclass(frozen=True)
class ConstituentTree:
    """A constituency tree of one sentence.

    Attributes:
        words: its words, Penn bracket escapes undone, without traces.
        nodes: every node in preorder, the root first; each covers at least one word.
        line: 1-based number of its line, for messages.
    """

    words: tuple[str, ...]
    nodes: tuple[Constituent, ...]
    line: int = 0

    def __len__(self) -> int:
        return len(self.words)


def read_trees(path: str | Path) -> Iterator[ConstituentTree | None]:
    """The trees of a file, one a line; None for `()` and `(())`.

    Args:
        path: the file, plain or `.gz`.

    Raises:
        UserError: a line is not one bracketed tree; the message names the file and line.
    """
    for number, line in enumerate(read_lines(path), start=1):
        yield parse_tree(line, str(path), number)


def parse_tree(text: str, name: str, line: int) -> ConstituentTree | None:
    """The tree of one line; None for `()` and `(())`, or if it has only traces.

    An outer bracket without a label around one tree (as in Penn's files) is removed, and so are
    traces (`-NONE-`) and brackets that contain only traces. A word may stand in a bracket of its
    own (`(NN (cat))`), as a trace may (`(NP (*))`).

    Args:
        name: the file, for messages.
        line: 1-based number of the line.

    Raises:
        UserError: unbalanced brackets, words outside them, more than one tree, an empty line, a
            bracket without a word.
    """
    tokens = _TOKEN.findall(text)
    if tokens in _NO_TREE:
        return None
    try:
        words, nodes = _Builder().build(tokens)
    except ValueError as error:
        raise UserError(f"{name}:{line}: {error}") from None
    if not words:
        return None
    return ConstituentTree(tuple(words), tuple(_without_outer_bracket(nodes)), line)


class _OpenBracket:
    """A bracket that has not been closed yet."""

    def __init__(self, start: int, position: int) -> None:
        self.label: str | None = None
        self.start = start
        self.position = position
        self.atoms: list[str] = []
        self.has_brackets = False
        self.own_bracket = ""  # that of its word or trace, which has nothing beside it


class _Builder:
    """Turns tokens into words and nodes; a node's preorder position is reserved until it ends."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.nodes: list[Constituent | None] = []
        self.stack: list[_OpenBracket] = []

    def build(self, tokens: list[str]) -> tuple[list[str], list[Constituent]]:
        if not tokens:
            raise ValueError("an empty line: write () for a sentence without a tree")
        for index, token in enumerate(tokens):
            if index and not self.stack:
                raise ValueError(f"{token!r} after the end of the tree: write one tree a line")
            if token == "(":
                self._open()
            elif token == ")":
                self._close()
            elif token[0] == "(":
                self._own_bracket(token)
            else:
                self._atom(token)
        if self.stack:
            raise ValueError(
                f"the line ends before {len(self.stack)} of its brackets are closed: write each "
                f"tree on one line"
            )
        return self.words, [node for node in self.nodes if node is not None]

    def _open(self) -> None:
        if len(self.stack) == _DEPTH:
            raise ValueError(
                f"more than {_DEPTH} brackets in each other: correct or recreate the line"
            )
        if self.stack:
            self._refuse_more(self.stack[-1])
            self._flush_atoms(self.stack[-1])
            self.stack[-1].has_brackets = True
            if self.stack[-1].label is None:
                self.stack[-1].label = ""
        self.stack.append(_OpenBracket(len(self.words), len(self.nodes)))
        self.nodes.append(None)

    def _atom(self, token: str) -> None:
        if not self.stack:
            raise ValueError(f"{token!r} before the first bracket: write one bracketed tree a line")
        top = self.stack[-1]
        self._refuse_more(top)
        if top.label is None:
            top.label = token
        else:
            top.atoms.append(token)

    def _own_bracket(self, token: str) -> None:
        """`(cat)` is the word of the bracket around it if this has nothing else."""
        top = self.stack[-1] if self.stack else None
        if top is None or not top.label or top.atoms or top.has_brackets:
            raise _no_word(token)
        word = token[1:-1]
        top.own_bracket = token
        if _TRACE_WORD.fullmatch(word):
            top.has_brackets = True
        else:
            top.atoms.append(word)

    def _refuse_more(self, top: _OpenBracket) -> None:
        if top.own_bracket:
            raise _no_word(top.own_bracket)

    def _close(self) -> None:
        if not self.stack:
            raise ValueError("')' without '(': correct or recreate the line")
        top = self.stack[-1]
        label = top.label or ""
        if not top.atoms and not top.has_brackets and label != _TRACE:
            raise _no_word(f"({label} )" if label else "()")
        leaf = len(top.atoms) == 1 and not top.has_brackets
        if leaf:
            if label != _TRACE:
                self.words.append(unescape_word(top.atoms[0]))
        else:
            self._flush_atoms(top)
        self.stack.pop()
        if len(self.words) > top.start:
            self.nodes[top.position] = Constituent(
                label, top.start, len(self.words), len(self.stack), leaf
            )

    def _flush_atoms(self, top: _OpenBracket) -> None:
        """Words that share their bracket with others become leaves without a label."""
        for atom in top.atoms:
            start = len(self.words)
            self.words.append(unescape_word(atom))
            self.nodes.append(Constituent("", start, start + 1, len(self.stack), True))
            top.has_brackets = True
        top.atoms.clear()


def _no_word(bracket: str) -> ValueError:
    return ValueError(
        f"a bracket without a word, {bracket!r}: write its word into it, ( as -LRB- and ) as "
        f"-RRB-; a sentence without a tree is ()"
    )


def _without_outer_bracket(nodes: list[Constituent]) -> list[Constituent]:
    """Removes a root without a label that has a single child."""
    root = nodes[0]
    if root.label or root.leaf or sum(node.depth == 1 for node in nodes) != 1:
        return nodes
    return [node._replace(depth=node.depth - 1) for node in nodes[1:]]


def format_tree(tree: ConstituentTree | None) -> str:
    """A tree as one bracketed line, for :func:`parse_tree`; no tree is `()`.

    Constituents without a label become X, words without a part of speech W.
    """
    if tree is None:
        return "()"
    parts: list[str] = []
    depth = -1
    for node in tree.nodes:
        closed = ")" * (depth - node.depth + 1)
        depth = node.depth
        label = node.label or (UNNAMED_WORD if node.leaf else UNNAMED_CONSTITUENT)
        parts.append(f"{closed} ({escape_word(label)}")
        if node.leaf:
            parts.append(f" {escape_word(tree.words[node.start])}")
    return "".join(parts).lstrip() + ")" * (depth + 1)


def escape_word(word: str) -> str:
    """A word of text in the form of a bracketed tree: `(` is `-LRB-`.

    Treebanks have no escape for what they escape with: a text's own `-LRB-` is read back as `(`,
    and `\\/` as `/`.

    Args:
        word: the word; brackets inside it are replaced, too.
    """
    for escaped, bracket in PENN_BRACKETS.items():
        if bracket in "()":
            word = word.replace(bracket, escaped)
    return word


def unescape_word(word: str) -> str:
    """A word of a bracketed tree in the form of text: `-LRB-` is `(`, `\\/` is `/`."""
    if "-" in word:
        for escaped, bracket in PENN_BRACKETS.items():
            word = word.replace(escaped, bracket)
    return word.replace("\\/", "/").replace("\\*", "*")
