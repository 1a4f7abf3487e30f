"""The chunks that a bi-scale decoder finds in given translations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from syntax_nmt.backbone.numerics import at_least_float32
from syntax_nmt.backbone.structures import (
    CHUNK_ATTENTION,
    CHUNK_BOUNDARIES,
    CHUNK_OPENS,
    CHUNK_TYPES,
    CHUNKED,
)
from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.data.chunks import Chunk
from syntax_nmt.data.projection import first_pieces, project_chunks
from syntax_nmt.errors import UserError
from syntax_nmt.inference.extraction.alignments import word_attention
from syntax_nmt.inference.forced_decoding import ForcedBatch, ForcedDecoder
from syntax_nmt.methods import how_to_get
from syntax_nmt.progress import Progress
from syntax_nmt.scoring.accuracy import Accuracy
from syntax_nmt.scoring.chunks.chunked_corpus import ChunkedCorpus, GoldChunks, nll_by_position
from syntax_nmt.scoring.parallel_text import SegmentedPairs, TokenPair
from syntax_nmt.task.annotation_inputs import annotation_read_by


@dataclass(frozen=True)
class PieceChunks:
    """The chunks of one translation, by piece, without EOS.

    Attributes:
        tags: the id of the likeliest type where a chunk opens, 0 inside; T.
        weights: of the chunks' attention, T×S.
        nll: negative log-likelihood of each piece in nats, without the scores of chunks; T.
    """

    tags: np.ndarray
    weights: np.ndarray
    nll: np.ndarray

    def of_words(self, counts: Sequence[int], names: Sequence[str]) -> tuple[Chunk, ...]:
        """The chunks over words: boundaries within a word do not count.

        Args:
            counts: they add up to T.
            names: of the types in the order of their ids.
        """
        if not len(counts):
            return ()
        tags = self.tags[first_pieces(np.asarray(counts))]
        starts = [*np.flatnonzero(tags).tolist(), len(tags)]
        return tuple(
            Chunk(names[tags[start] - 1], start, end) for start, end in zip(starts, starts[1:])
        )

    def alignment(
        self, chunks: Sequence[Chunk], sources: Sequence[int], targets: Sequence[int]
    ) -> np.ndarray:
        """The attention of chunks to source words: chunks × source words.

        Weights are averaged over the pieces of a chunk, which share their context unless the model
        computes it at every step, and summed over the pieces of a source word.

        Args:
            chunks: of :meth:`of_words`.
            sources: the number of pieces of each source word.
            targets: likewise of each word of the translation.
        """
        if not self.weights.size:
            return np.zeros((len(chunks), len(sources)))
        counts = [sum(targets[chunk.start : chunk.end]) for chunk in chunks]
        return word_attention(self.weights, sources, counts)


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
        if CHUNKS not in annotation_read_by([decoder.model]):
            raise UserError(f"the model chooses no chunks: train one with {how_to_get(CHUNKED)}")
        self.names: tuple[str, ...] = decoder.model.annotation_labels[CHUNKS]
        if not self.names:
            raise UserError(
                "the model knows no types of chunks, as there were none when it was trained: "
                "train it with --load-chunks"
            )
        self.decoder = decoder
        self.limits = (max_tokens, batch_size)

    def choices(self, pairs: Sequence[TokenPair]) -> Iterator[tuple[int, PieceChunks]]:
        """The model's own boundaries and the likeliest type of each chunk, as in a search.

        Args:
            pairs: the translations; those too long for the model are skipped.

        Yields:
            which pair it is, and its chunks.
        """
        for batch in self.decoder.batches(pairs, *self.limits):
            features, extra = self.decoder.forward(batch, features_only=True)
            opened = extra[CHUNK_OPENS][0]
            # A chunk of words has a type, even if the end of the sentence is more probable.
            tags = extra[CHUNK_TYPES][0][..., : len(self.names)].argmax(dim=-1) + 1
            tags = tags.masked_fill(~opened, 0)
            weights = extra[CHUNK_ATTENTION][0].float().cpu().numpy()
            for row, index in enumerate(batch.indices):
                words, sources = batch.targets[row] - 1, batch.sources[row] - 1
                nll = self._nll(features[row, :words], batch.sample["target"][row, :words])
                of_row = tags[row, :words].cpu().numpy()
                yield index, PieceChunks(of_row, weights[row, :words, :sources], nll)

    @torch.no_grad()
    def _nll(self, features: torch.Tensor, target: torch.Tensor) -> np.ndarray:
        """The nll of each token of one sentence: logits of a whole batch would take much memory."""
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
        """Numbers of boundaries, correct boundaries, tags and correct tags."""
        gold = torch.full(batch.sample["target"].shape, -1, dtype=torch.long)
        for row, tags in enumerate(rows):
            gold[row, : len(tags)] = torch.from_numpy(tags)
            gold[row, len(tags)] = len(self.names) + 1
        gold = gold.to(self.decoder.device)
        extra: Any
        _, extra = self.decoder.forward(batch, features_only=True, **{CHUNKS.key: gold})
        counted = gold.ge(0)
        counted[:, 0] = False
        right = extra[CHUNK_BOUNDARIES][0].argmax(dim=-1).eq(gold.gt(0)) & counted
        tagged = extra[CHUNK_OPENS][0] & gold.gt(0)
        tags_right = (extra[CHUNK_TYPES][0].argmax(dim=-1) + 1).eq(gold) & tagged
        sums = [mask.sum() for mask in (counted, right, tagged, tags_right)]
        return torch.stack(sums).cpu()


def corpus_of_model(
    predictor: ChunkPredictor,
    text: SegmentedPairs,
    name: str,
    score: GoldChunks | None = None,
    aligned: bool = False,
) -> ChunkedCorpus:
    """The chunks that a model finds in translations.

    Args:
        name: the file of the translations, for messages.
        score: the reference; None = there is none.
        aligned: also asks for the attention of chunks to source words.

    Raises:
        UserError: the reference cannot be used, or is of another text.
    """
    corpus = ChunkedCorpus(
        name,
        [None] * len(text.pairs),
        words=text.target.words,
        sources=text.source.words,
        alignments=[None] * len(text.pairs) if aligned else None,
    )
    if score is not None:  # before the model runs, as it can fail
        score.read_into(corpus, [len(words) for words in text.target.words])
    predicted = _predict(predictor, text, corpus)
    if corpus.gold is None:
        of_pieces = {index: tags for index, (tags, _) in predicted.items()}
    else:
        of_pieces = _gold_pieces(corpus, text, predictor.names)
        corpus.accuracies = predictor.accuracies(text.pairs, of_pieces)
    corpus.losses = nll_by_position((tags, predicted[i][1]) for i, tags in of_pieces.items())
    return corpus


def _predict(
    predictor: ChunkPredictor, text: SegmentedPairs, corpus: ChunkedCorpus
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Fills in the model's results; returns tags and losses of the pieces of each sentence."""
    choices = predictor.choices(text.pairs)
    of_pieces = {}
    for index, choice in Progress(choices, "chunks", "sentences", len(corpus), leave=False):
        sources, targets = text.source.counts[index], text.target.counts[index]
        chunks = choice.of_words(targets, predictor.names)
        corpus.chunks[index] = chunks
        if corpus.alignments is not None:
            corpus.alignments[index] = choice.alignment(chunks, sources, targets)
        of_pieces[index] = choice.tags, choice.nll
    corpus.too_long = len(corpus) - len(of_pieces)
    return of_pieces


def _gold_pieces(
    corpus: ChunkedCorpus, text: SegmentedPairs, names: Sequence[str]
) -> dict[int, np.ndarray]:
    """The reference in the model's ids, by sentence; unknown types have a separate id."""
    ids = {name: number for number, name in enumerate(names, start=1)}
    unknown = len(names) + 2  # after the end of the sentence
    gold = corpus.gold or []
    ids.update(
        {chunk.tag: unknown for chunks in gold for chunk in chunks or () if chunk.tag not in ids}
    )
    return {
        index: project_chunks(gold[index] or (), text.target.counts[index], ids)
        for index in corpus.scored()
    }
