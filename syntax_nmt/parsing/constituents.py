"""Constituency trees by Stanza, as bracketed text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from syntax_nmt.data.constituents import escape_word
from syntax_nmt.parsing.analyser import StanzaAnalyser


class ConstituencyParser(StanzaAnalyser[str]):
    """A tagger and a constituency parser; a tree is one line of bracketed text."""

    def _analysis(self, sentence: Any, words: Sequence[str]) -> str | None:
        """The tree over the corpus's words; None if it does not have one leaf a word."""
        tree = sentence.constituency
        if tree is None or len(list(tree.leaf_labels())) != len(words):
            return None
        return "".join(_brackets(tree, iter(words)))


def _brackets(tree: Any, words: Iterator[str]) -> Iterator[str]:
    """The text of a tree piece by piece, its words replaced in order; deep trees are no trouble."""
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        elif not node.children:
            yield escape_word(next(words))
        else:
            yield f"({node.label} "
            waiting.append(")")
            for position, child in enumerate(reversed(node.children)):
                if position:
                    waiting.append(" ")
                waiting.append(child)
