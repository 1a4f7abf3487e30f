"""Constituency trees that a model with latent phrases has induced without having seen any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from syntax_nmt.data.constituents import ConstituentTree
from syntax_nmt.data.projection import first_pieces
from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.constituents.constituent_corpus import BracketedSentence
from syntax_nmt.evaluation.extraction.distance_trees import spans_of_gaps, tree_of_spans
from syntax_nmt.evaluation.extraction.model_distances import ModelDistances
from syntax_nmt.evaluation.trained_model.source_text import SourceSentence, SourceText

_WINDOW = 4096  # sentences that are sorted by length together; results come out window by window


def induced_trees(
    distances: ModelDistances,
    text: SourceText,
    max_tokens: int,
    batch_size: int | None = None,
    known_words: Sequence[tuple[str, ...] | None] | None = None,
) -> Iterator[BracketedSentence]:
    """The trees of a text, every sentence in its place.

    Args:
        max_tokens: of a batch, padding included; a longer sentence is a batch of its own.
        batch_size: sentences of a batch; None = as many as fit.
        known_words: for each sentence its words where the text does not tell them all.

    Raises:
        UserError: a distance is not a number.
    """
    for start in range(0, len(text), _WINDOW):
        window = range(start, min(start + _WINDOW, len(text)))
        sentences = {index: text[index] for index in window}
        trees: dict[int, ConstituentTree] = {}
        usable = [index for index in window if sentences[index].words and distances.fits(index)]
        for index, found in distances.of(usable, max_tokens, batch_size):
            sentence = sentences[index]
            known = None if known_words is None else known_words[index]
            spans = spans_of_gaps(word_gaps(found, sentence))
            trees[index] = tree_of_spans(known or sentence.words, spans)
        yield from (BracketedSentence(trees.get(index)) for index in window)


def word_gaps(distances: np.ndarray, sentence: SourceSentence) -> list[float]:
    """The distance before each word but the first: the one before its first piece.

    Args:
        distances: of the gap before each piece.
        sentence: tells the pieces of each word.

    Raises:
        UserError: a distance is not a number.
    """
    first = first_pieces(np.asarray(sentence.pieces, dtype=np.int32))
    gaps = distances[first][1:]
    if not np.isfinite(gaps).all():
        raise UserError(
            f"{sentence.name}: the model's syntactic distances are not numbers: its training has "
            f"diverged; give --path another checkpoint"
        )
    return gaps.tolist()
