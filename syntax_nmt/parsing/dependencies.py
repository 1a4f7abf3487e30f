"""Dependency trees by Stanza."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from syntax_nmt.data.dependency_tree import DependencyTree, MultiwordRange
from syntax_nmt.parsing.analyser import StanzaAnalyser


class DependencyParser(StanzaAnalyser[DependencyTree]):
    """A tagger and a dependency parser.

    Where there is a model of multiword tokens, words that it has seen as such are parsed as the
    words they stand for (`zum` as `zu dem`, which is what the parser was trained on) and count as
    one again in the tree (:meth:`~syntax_nmt.data.dependency_tree.DependencyTree.collapse`).
    """

    def _input(self, sentences: list[list[str]]) -> Any:
        expander = self._processors.get("mwt")
        if expander is None:
            return sentences
        from stanza.models.common.doc import Document

        def token(word: str) -> dict[str, str]:
            # Known are the multiword tokens of the treebank that the expander was trained on.
            known = expander.trainer.dict_expansion(word) is not None
            return {"text": word, "misc": "MWT=Yes"} if known else {"text": word}

        return Document([[token(word) for word in words] for words in sentences])

    def _analysis(self, sentence: Any, words: Sequence[str]) -> DependencyTree | None:
        """The tree over the corpus's words; None if it has not one node a word and one root."""
        found = sentence.words
        if len(sentence.tokens) != len(words) or sum(word.head == 0 for word in found) != 1:
            return None
        tree = DependencyTree(
            words=tuple(word.text for word in found),
            heads=tuple(i if word.head == 0 else word.head - 1 for i, word in enumerate(found)),
            relations=tuple(word.deprel or "dep" for word in found),
            upos=tuple(word.upos or "X" for word in found),
            multiword=tuple(_ranges(sentence.tokens)),
        )
        return tree.collapse(len(words), "Stanza") if tree.multiword else tree


def _ranges(tokens: Sequence[Any]) -> list[MultiwordRange]:
    """The tokens that stand for several words. Stanza counts words from 1."""
    spans = [(token.words[0].id - 1, token.words[-1].id, token.text) for token in tokens]
    return [MultiwordRange(*span) for span in spans if span[1] - span[0] > 1]
