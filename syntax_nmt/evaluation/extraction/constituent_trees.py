"""Constituency trees that a model with latent phrases has induced without having seen any."""

from __future__ import annotations

import numpy as np

from syntax_nmt.data.projection import first_pieces
from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.constituents.constituent_corpus import BracketedSentence
from syntax_nmt.evaluation.extraction.distance_trees import spans_of_gaps, tree_of_spans
from syntax_nmt.evaluation.trained_model.source_text import SourceSentence


def bracketed(sentence: SourceSentence, distances: np.ndarray | None) -> BracketedSentence:
    """The tree of a sentence.

    Args:
        distances: of the gap before each piece; None = there is no tree.

    Raises:
        UserError: a distance is not a number.
    """
    if distances is None:
        return BracketedSentence(None)
    spans = spans_of_gaps(word_gaps(distances, sentence))
    return BracketedSentence(tree_of_spans(sentence.words, spans))


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
