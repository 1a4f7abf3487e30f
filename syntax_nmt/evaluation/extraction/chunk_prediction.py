"""The chunks that a bi-scale decoder sees in given translations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from syntax_nmt.data.chunks import Chunk
from syntax_nmt.data.projection import first_pieces
from syntax_nmt.data.sides import CHUNKS
from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.base.accuracy import Accuracy
from syntax_nmt.evaluation.base.segmented_text import TokenPair
from syntax_nmt.evaluation.extraction.attention_alignment import word_attention
from syntax_nmt.evaluation.trained_model.forced_decoding import ForcedBatch, ForcedDecoder
from syntax_nmt.modules.precision import at_least_float32
from syntax_nmt.tasks.side_inputs import declared


@dataclass(frozen=True)
class PieceChunks:
    """The chunks of one translation, by piece; EOS is left out.

    Attributes:
        tags: the id of the likeliest type where a chunk opens, 0 inside; T.
        weights: of the chunks' attention, T×S.
        nll: negative log-likelihood of each piece in nats, without the scores of chunks; T.
    """

    tags: np.ndarray
    weights: np.ndarray
    nll: np.ndarray

    def of_words(self, pieces_per_word: Sequence[int], names: Sequence[str]) -> tuple[Chunk, ...]:
        """The chunks over words: what opens within a word opens nothing.

        Args:
            pieces_per_word: they add up to T.
            names: of the types in the order of their ids.
        """
        if not len(pieces_per_word):
            return ()
        tags = self.tags[first_pieces(np.asarray(pieces_per_word))]
        starts = [*np.flatnonzero(tags).tolist(), len(tags)]
        return tuple(
            Chunk(names[tags[start] - 1], start, end) for start, end in zip(starts, starts[1:])
        )

    def alignment(
        self, chunks: Sequence[Chunk], sources: Sequence[int], targets: Sequence[int]
    ) -> np.ndarray:
        """The attention of chunks to source words: chunks × source words.

        A chunk has the mean over its pieces, which share their context unless the model takes it
        at every step; a source word has the sum over its pieces.

        Args:
            chunks: of :meth:`of_words`.
            sources: the number of pieces of each source word.
            targets: likewise of each word of the translation.
        """
        if not self.weights.size:
            return np.zeros((len(chunks), len(sources)))
        pieces = [sum(targets[chunk.start : chunk.end]) for chunk in chunks]
        return word_attention(self.weights, sources, pieces)


class ChunkPredictor:
    """A trained model that chooses chunks.

    Args:
        max_tokens: as of :meth:`ForcedDecoder.batches`.

    Raises:
        UserError: it has no bi-scale decoder, or knows no types of chunks.
    """

    def __init__(
        self, decoder: ForcedDecoder, max_tokens: int, batch_size: int | None = None
    ) -> None:
        if CHUNKS not in declared([decoder.model]):
            raise UserError("the model chooses no chunks: train one with --arch bi_scale_rnn")
        self.names: tuple[str, ...] = decoder.model.decoder.chunk_tags
        if not self.names:
            raise UserError(
                "the model knows no types of chunks, as there were none when it was trained: "
                "train it with --load-chunks"
            )
        self.decoder = decoder
        self.limits = (max_tokens, batch_size)

    def choices(self, pairs: Sequence[TokenPair]) -> Iterator[tuple[int, PieceChunks]]:
        """The model's own boundaries and the likeliest type of each chunk, as a search has them.

        Args:
            pairs: the translations; those too long for the model do not come out.

        Yields:
            which pair it is, and its chunks.
        """
        for batch in self.decoder.batches(pairs, *self.limits):
            features, extra = self.decoder.forward(batch, features_only=True)
            opened = extra["opened"][0]
            # A chunk of words is of some type, whatever the probability that the sentence ends.
            tags = extra["tag_logits"][0][..., : len(self.names)].argmax(dim=-1) + 1
            tags = tags.masked_fill(~opened, 0)
            weights = extra["chunk_attn"][0].float().cpu().numpy()
            for row, index in enumerate(batch.indices):
                words, sources = batch.targets[row] - 1, batch.sources[row] - 1
                nll = self._nll(features[row, :words], batch.sample["target"][row, :words])
                of_row = tags[row, :words].cpu().numpy()
                yield index, PieceChunks(of_row, weights[row, :words, :sources], nll)

    @torch.no_grad()
    def _nll(self, features: torch.Tensor, target: torch.Tensor) -> np.ndarray:
        """Of one sentence: logits of a whole batch would take much memory."""
        logits = at_least_float32(self.decoder.model.decoder.output_layer(features))
        return cross_entropy(logits, target, reduction="none").cpu().numpy()

    def accuracies(
        self, pairs: Sequence[TokenPair], gold: Mapping[int, np.ndarray]
    ) -> tuple[Accuracy, Accuracy]:
        """The accuracies of boundaries and tags under the gold boundaries, as training logs them.

        Boundaries are counted at every piece but the first, tags at every gold chunk; the end of
        the sentence is a boundary with a tag of its own.

        Args:
            gold: for those that are annotated, tag id or 0 per piece; an id that the model does not
                know counts as wrong.
        """
        annotated = sorted(gold)
        counts = torch.zeros(4, dtype=torch.long)
        for batch in self.decoder.batches([pairs[index] for index in annotated], *self.limits):
            rows = [gold[annotated[index]] for index in batch.indices]
            counts += self._count(batch, rows)
        boundaries, boundaries_right, tags, tags_right = counts.tolist()
        return Accuracy(boundaries_right, boundaries), Accuracy(tags_right, tags)

    def _count(self, batch: ForcedBatch, rows: Sequence[np.ndarray]) -> torch.Tensor:
        """Boundaries, those of them that are right, tags, and those that are right."""
        gold = torch.full(batch.sample["target"].shape, -1, dtype=torch.long)
        for row, tags in enumerate(rows):
            gold[row, : len(tags)] = torch.from_numpy(tags)
            gold[row, len(tags)] = len(self.names) + 1
        gold = gold.to(self.decoder.device)
        extra: Any
        _, extra = self.decoder.forward(batch, features_only=True, chunk_tags=gold)
        counted = gold.ge(0)
        counted[:, 0] = False
        right = extra["boundary_logits"][0].argmax(dim=-1).eq(gold.gt(0)) & counted
        tagged = extra["opened"][0] & gold.gt(0)
        tags_right = (extra["tag_logits"][0].argmax(dim=-1) + 1).eq(gold) & tagged
        sums = [mask.sum() for mask in (counted, right, tagged, tags_right)]
        return torch.stack(sums).cpu()
