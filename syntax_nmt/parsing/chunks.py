"""Chunks by a Stanza sequence tagger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from syntax_nmt.data.chunk_tags import chunks_of_tags
from syntax_nmt.data.chunks import OUTSIDE, Chunk
from syntax_nmt.parsing.analyser import StanzaAnalyser
from syntax_nmt.parsing.words import OPENING_QUOTE, penn_words

_WORDS = {"word", "delta"}


class ChunkTagger(StanzaAnalyser[tuple[Chunk, ...]]):
    """A sequence tagger that was trained on chunks (`syntax-nmt chunk --train`).

    Trained on CoNLL-2000 it knows quotes and brackets by their names in the Penn Treebank; it gets
    them so then, whatever the corpus writes.
    """

    def _spelled(self, words: Sequence[str]) -> list[str]:
        spelled = super()._spelled(words)
        vocabulary = self._processors["ner"].vocab  # of pretrained words, or of those trained on
        known = any(OPENING_QUOTE in vocabulary[name] for name in _WORDS & vocabulary.keys())
        return penn_words(spelled) if known else spelled

    def _analysis(self, sentence: Any, words: Sequence[str]) -> tuple[Chunk, ...] | None:
        """The chunks that the tags spell; None if there is not one tag a word."""
        if len(sentence.tokens) != len(words):
            return None
        return chunks_of_tags(token.ner or OUTSIDE for token in sentence.tokens)
