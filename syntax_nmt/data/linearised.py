"""Trees as text: `(S (NP the cat )NP sleeps )S`, for models that read or write text alone.

Tokens stand between single spaces. Those that begin with a bracket are symbols: `(` opens a
constituent and names it, `)` closes one and may name it again. Tags of words are brackets that
nothing closes: `(DET the (NOUN cat (VERB sleeps`. All others are words, escaped as in
files of bracketed trees: `(` is `-LRB-`, `)` is `-RRB-`. Unlike there, a word that looks like an
escape is marked by a backslash, so that every word is read again as it was. So are relations, but
spaces in them are underscores.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from syntax_nmt.data.constituents import Constituent, ConstituentTree, escape_word
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.relation_brackets import bracketed_by_relation, dependencies_of_brackets

TRANSLATE, PARSE = TASKS = ("<TR>", "<PA>")
"""The first token of a source says what a multi-task model is to write."""

FULL, SHORT, NO_LABELS = LABELS = ("full", "short", "none")
KEPT, NO_WORDS = WORDS = ("kept", "none")

_MARKED = re.compile(r"\\|-(?=[LR]RB)|^<(?=(?:TR|PA)>)")
_ESCAPED = re.compile(r"\\(.)|-([LR])RB-")
# NP of NP-SBJ-2, nsubj of nsubj:pass; the first character is never a mark: -LRB-, `:`.
_SHORT = re.compile(r".[^-=|:@]*")


@dataclass(frozen=True)
class Form:
    """What of a tree becomes text.

    Attributes:
        words: one of :data:`WORDS`.
        labels: one of :data:`LABELS`. `full` is all of a tree, parts of speech included; `short` is
            constituents by their category alone, without functions and parts of speech, and
            relations without subtypes.
        closing: closing brackets have labels, too.
    """

    words: str = KEPT
    labels: str = SHORT
    closing: bool = False

    def symbols(self, label: str, of_relation: bool) -> tuple[str, str]:
        """The brackets of a constituent, or of a word and its dependents.

        Args:
            of_relation: a relation may have brackets itself, a constituent's label has none.
        """
        if self.labels == SHORT and label:
            label = _SHORT.match(label)[0]  # type: ignore[index]
        elif self.labels == NO_LABELS:
            label = ""
        label = escape(label) if of_relation else label
        return f"({label}", f"){label if self.closing else ''}"


def linearised(tree: ConstituentTree | DependencyTree, form: Form) -> str:
    """The text of a tree; a dependency tree is bracketed by relation."""
    # A word has a bracket of its own for its part of speech or its relation.
    of_relations = isinstance(tree, DependencyTree)
    of_words = form.labels == FULL or of_relations
    if isinstance(tree, DependencyTree):
        tree = bracketed_by_relation(tree)
    tokens: list[str] = []
    closing: list[str] = []  # of the open brackets
    for place, node in enumerate(tree.nodes):
        while len(closing) > node.depth:
            tokens.append(closing.pop())
        alone = node.leaf and _is_only_child(tree, place)
        if not node.leaf or not place or (of_words and (node.label or alone)):
            opens, closes = form.symbols(node.label, of_relations)
            tokens.append(opens)
            closing.append(closes)
        if node.leaf and form.words == KEPT:
            tokens.append(escape(tree.words[node.start]))
    return " ".join([*tokens, *reversed(closing)])


def interleaved(words: Sequence[str], tags: Sequence[str]) -> str:
    """A text with the tag of each word before it (Nadejde et al., 2017)."""
    return " ".join(f"({escape(tag)} {escape(word)}" for tag, word in zip(tags, words, strict=True))


def _is_only_child(tree: ConstituentTree, place: int) -> bool:
    """Whether a leaf has no siblings: its parent, just before it, has its span."""
    node, parent = tree.nodes[place], tree.nodes[max(0, place - 1)]
    return parent.depth == node.depth - 1 and parent.end == node.end


def is_symbol(token: str) -> bool:
    """Whether a token of a linearised text is no word: a bracket, or the name of a task."""
    return token[0] in "()" or token in TASKS


def escape(word: str) -> str:
    """A word or relation without brackets, and no symbol; the inverse of :func:`unescape`."""
    return escape_word(_MARKED.sub(r"\\\g<0>", word))


def unescape(token: str) -> str:
    """The word of a token.

    Args:
        token: of :func:`escape`.
    """
    return _ESCAPED.sub(lambda found: found[1] or "()"[found[2] == "R"], token)


def words_of(text: str) -> list[str]:
    """The words of a linearised text, in their own spelling.

    Args:
        text: balanced or not, as a model wrote it.
    """
    return [unescape(token) for token in text.split() if not is_symbol(token)]


def is_balanced(text: str) -> bool:
    """Whether a linearised text is one tree: every bracket has its counterpart, of the same label
    where both have one, and one of them is around all.
    """
    labels: list[str] = []
    roots = 0
    for token in text.split():
        if token[0] == "(":
            roots += not labels
            labels.append(token[1:])
        elif token[0] == ")":
            if not labels or token[1:] not in ("", labels.pop()):
                return False
        elif not labels:
            return False
    return roots == 1 and not labels


def balanced_share(texts: Sequence[str]) -> float:
    """The percentage of linearised texts that are one tree each.

    Args:
        texts: one or more.
    """
    return 100 * sum(map(is_balanced, texts)) / len(texts)


def read_linearised(text: str) -> ConstituentTree:
    """The tree of a linearised text with its words.

    A bracket around one word alone is that word's; other words are leaves without a label.

    Raises:
        ValueError: it is not balanced, or a bracket has no word.
    """
    if not is_balanced(text):
        raise ValueError("its brackets are not balanced")
    words: list[str] = []
    nodes: list[Constituent] = []
    opened: list[int] = []  # places of the open brackets among the nodes
    last = ""
    for token in text.split():
        start, depth = len(words), len(opened)
        if token[0] == "(":
            opened.append(len(nodes))
            nodes.append(Constituent(token[1:], start, start, depth, False))
        elif token[0] != ")":
            words.append(unescape(token))
            nodes.append(Constituent("", start, start + 1, depth, True))
        else:
            place = opened.pop()
            if nodes[place].start == start:
                raise ValueError(f"a bracket without a word, ({nodes[place].label} )")
            of_word = len(nodes) == place + 2 and last[0] not in "()"
            nodes[place] = nodes[place]._replace(end=start, leaf=of_word)
            if of_word:
                nodes.pop()
        last = token
    return ConstituentTree(tuple(words), tuple(nodes))


def read_dependencies(text: str) -> DependencyTree:
    """The dependency tree of a linearised text with its words and full relations.

    Raises:
        ValueError: it is not balanced, or no dependency tree.
    """
    tree = dependencies_of_brackets(read_linearised(text))
    return replace(tree, relations=tuple(map(unescape, tree.relations)))
