"""Chunks by a Stanza sequence tagger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from syntax_nmt.data.chunk_tags import chunks_of_tags
from syntax_nmt.data.chunks import OUTSIDE, Chunk
from syntax_nmt.parsing.analyser import StanzaAnalyser


class ChunkTagger(StanzaAnalyser[tuple[Chunk, ...]]):
    """A sequence tagger that was trained on chunks (`syntax-nmt chunk --train`)."""

    def _analysis(self, sentence: Any, words: Sequence[str]) -> tuple[Chunk, ...] | None:
        """The chunks that the tags spell; None if there is not one tag a word."""
        if len(sentence.tokens) != len(words):
            return None
        return chunks_of_tags(token.ner or OUTSIDE for token in sentence.tokens)
