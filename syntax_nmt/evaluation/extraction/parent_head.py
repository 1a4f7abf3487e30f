"""Dependency trees out of the parent head of a trained encoder (Wang et al., 2019)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from fairseq.data import data_utils
from fairseq.models import BaseFairseqModel

from syntax_nmt.data.projection import first_pieces
from syntax_nmt.data.sides import PHRASES
from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.extraction.arborescence import maximum_arborescence
from syntax_nmt.evaluation.trained_model.length_batches import length_batches
from syntax_nmt.evaluation.trained_model.source_text import SourceSentence, SourceText
from syntax_nmt.modules.supervised_heads import NO_SUPERVISED_HEADS, PARENT_HEAD
from syntax_nmt.tasks.side_inputs import declared

_WINDOW = 4096  # sentences that are sorted by length together; results come out window by window


@dataclass(frozen=True)
class Parse:
    """What the parent head says about one sentence.

    Attributes:
        words: its words.
        heads: 0-based head of each word in the best tree, the root's its own index; None = no
            parse, as the sentence has no word or is too long for the model.
        strongest: for each word the one that it attends to most, before these become a tree.
    """

    words: tuple[str, ...]
    heads: tuple[int, ...] | None = None
    strongest: tuple[int, ...] | None = None


class ParentHead:
    """Asks the encoder alone for the log-probabilities of its parent head.

    Args:
        model: in evaluation mode.
        padding: id of the padding token.

    Raises:
        UserError: the model has no supervised heads, or it needs phrases besides tokens.
    """

    def __init__(self, model: BaseFairseqModel, padding: int) -> None:
        encoder = getattr(model, "encoder", None)
        if encoder is None or getattr(encoder, "supervised_layer", None) is None:
            raise UserError(NO_SUPERVISED_HEADS)
        if PHRASES in declared([model]):
            raise UserError(
                "the model reads the phrases of parsed sources (--phrase-segmentation parsed), "
                "which this command does not have; train one with --phrase-segmentation ngram"
            )
        self.encoder: Any = encoder
        self.padding = padding
        self.max_positions = int(encoder.max_positions())

    @torch.no_grad()
    def word_scores(self, sentences: Sequence[SourceSentence]) -> list[np.ndarray]:
        """For each sentence n×n log-probabilities between its words, `[dependent, head]`.

        The diagonal is that of being the root. A word stands where its first piece stands.

        Args:
            sentences: a batch; each has a word.
        """
        tokens = [sentence.tokens.long() for sentence in sentences]
        lengths = torch.tensor([len(ids) for ids in tokens])
        # Padding goes to the right, so that positions are indices; the encoder's are the same.
        source = data_utils.collate_tokens(tokens, self.padding, left_pad=False)
        device = next(self.encoder.parameters()).device
        out = self.encoder(
            source.to(device), src_lengths=lengths.to(device), return_all_hiddens=True
        )
        heads = self.encoder.supervised_head_log_probabilities(out)  # B×2×S×S
        scores = heads[:, PARENT_HEAD].cpu().numpy()
        return [
            merge_to_words(matrix[: sum(sentence.pieces), : sum(sentence.pieces)], sentence.pieces)
            for matrix, sentence in zip(scores, sentences)
        ]


def merge_to_words(scores: np.ndarray, pieces_per_word: Sequence[int]) -> np.ndarray:
    """Scores between words out of scores between pieces: a word is its first piece.

    Args:
        scores: m×m over the pieces of a sentence, without EOS.
        pieces_per_word: n numbers that add up to m.

    Returns:
        n×n.
    """
    first = first_pieces(np.asarray(pieces_per_word, dtype=np.int32))
    return scores[np.ix_(first, first)]


def predict_trees(
    head: ParentHead, text: SourceText, max_tokens: int, batch_size: int | None = None
) -> Iterator[Parse]:
    """The trees of a text, every sentence in its place.

    Args:
        max_tokens: of a batch, padding included; a longer sentence is a batch of its own.
        batch_size: sentences of a batch; None = as many as fit.
    """
    for start in range(0, len(text), _WINDOW):
        sentences = [text[index] for index in range(start, min(start + _WINDOW, len(text)))]
        lengths = [len(sentence.tokens) for sentence in sentences]
        parses = [Parse(sentence.words) for sentence in sentences]
        usable = [
            index
            for index, sentence in enumerate(sentences)
            if sentence.words and lengths[index] <= head.max_positions
        ]
        for batch in length_batches(usable, lengths, max_tokens, batch_size):
            scores = head.word_scores([sentences[index] for index in batch])
            for index, matrix in zip(batch, scores):
                parses[index] = parse_of_scores(sentences[index].words, matrix)
        yield from parses


def parse_of_scores(words: Sequence[str], scores: np.ndarray) -> Parse:
    """The best tree, and the strongest weights, under scores between words.

    Args:
        scores: n×n, `[dependent, head]`, the diagonal that of being the root.
    """
    strongest = tuple(scores.argmax(axis=1).tolist())
    return Parse(tuple(words), tuple(maximum_arborescence(scores)), strongest)
