"""Dependency trees, constituency trees and chunks by Stanza; the analyser of each task."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from syntax_nmt.data.chunks import OUTSIDE, Chunk, chunks_of_tags
from syntax_nmt.data.constituents import escape_word
from syntax_nmt.data.dependency_tree import DependencyTree, MultiwordRange
from syntax_nmt.parsing.analyser import OPENING_QUOTE, WORDS, StanzaAnalyser, penn_words
from syntax_nmt.parsing.models import StanzaModels


class DependencyParser(StanzaAnalyser[DependencyTree]):
    """A tagger and a dependency parser.

    If there is a model of multiword tokens, known multiword tokens are parsed as their words (`zum`
    as `zu dem`, as in the parser's training data) and joined again in the tree
    (:meth:`~syntax_nmt.data.dependency_tree.DependencyTree.collapse`).
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
            lemmas=tuple(word.lemma or "_" for word in found),
            xpos=tuple(word.xpos or "_" for word in found),
            feats=tuple(word.feats or "_" for word in found),
            multiword=tuple(_ranges(sentence.tokens)),
        )
        return tree.collapse(len(words)) if tree.multiword else tree


def _ranges(tokens: Sequence[Any]) -> list[MultiwordRange]:
    """The tokens that stand for several words. Stanza counts words from 1."""
    spans = [(token.words[0].id - 1, token.words[-1].id, token.text) for token in tokens]
    return [MultiwordRange(*span) for span in spans if span[1] - span[0] > 1]


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


class ChunkTagger(StanzaAnalyser[tuple[Chunk, ...]]):
    """A sequence tagger that was trained on chunks (`syntax-nmt chunk --train`).

    Trained on CoNLL-2000 it knows quotes and brackets by their names in the Penn Treebank; it gets
    them in this form, for any form in the corpus.
    """

    def _spelled(self, words: Sequence[str]) -> list[str]:
        spelled = super()._spelled(words)
        vocabulary = self._processors["ner"].vocab  # of pretrained words, or of those trained on
        known = any(OPENING_QUOTE in vocabulary[name] for name in WORDS & vocabulary.keys())
        return penn_words(spelled) if known else spelled

    def _analysis(self, sentence: Any, words: Sequence[str]) -> tuple[Chunk, ...] | None:
        """The chunks that the tags spell; None if there is not one tag a word."""
        if len(sentence.tokens) != len(words):
            return None
        return chunks_of_tags(token.ner or OUTSIDE for token in sentence.tokens)


ANALYSERS: dict[str, type[StanzaAnalyser]] = {
    "dependencies": DependencyParser,
    "constituents": ConstituencyParser,
    "chunks": ChunkTagger,
}


@lru_cache(maxsize=len(ANALYSERS))
def loaded_analyser(models: StanzaModels, device: str, batch_size: int) -> StanzaAnalyser:
    """The analyser of some models, which stays loaded in this process.

    Args:
        models: what to load; their task says which analyser.
        device: `cpu`, `cuda` or `cuda:N`.

    Raises:
        UserError: when the models do not load or are of another language.
    """
    return ANALYSERS[models.task](models, device, batch_size)
