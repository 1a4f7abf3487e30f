"""Word alignments from the attention of target to source pieces, by forced decoding."""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from syntax_nmt.errors import UserError, errors_of
from syntax_nmt.inference.forced_decoding import ForcedBatch, ForcedDecoder, load_forced_decoder
from syntax_nmt.inference.settings import BatchLimits, ModelFiles
from syntax_nmt.option_checks import layer_from_bottom
from syntax_nmt.progress import Progress
from syntax_nmt.scoring.alignments.alignment import Alignment
from syntax_nmt.scoring.parallel_text import SegmentedPairs, TokenPair

PENULTIMATE = -2


class CrossAttention:
    """The cross-attention weights of one decoder layer, before dropout, as means over heads.

    For a recurrent decoder it is the only attention.

    Args:
        layer: counted from 0 at the bottom, or from −1 at the top; None = the penultimate one
            (Garg et al., 2019), or the only one.
        heads: number of heads, the first ones, to average over; None = all.

    Raises:
        UserError: there is no such layer, or there are fewer heads.
    """

    def __init__(
        self, decoder: ForcedDecoder, layer: int | None = None, heads: int | None = None
    ) -> None:
        self.decoder = decoder
        self.options: dict[str, Any] = {}
        # Transformers of fairseq and models of this package take these arguments; recurrent
        # decoders have no layers.
        takes = inspect.signature(decoder.model.forward).parameters
        if "alignment_layer" not in takes or not hasattr(decoder.model.decoder, "layers"):
            if layer is not None or heads is not None:
                option = "--layer" if layer is not None else "--heads"
                raise UserError(f"{option} is about Transformers: the model's attention is one")
            return
        layers = decoder.model.decoder.layers
        index = layer_index(layer, len(layers))
        if layers[index].encoder_attn is None:
            raise UserError("the model's decoder has no cross-attention (--no-cross-attention)")
        there = layers[index].encoder_attn.num_heads
        if heads is not None and heads > there:
            raise UserError(f"--heads {heads}: the decoder's attention has {there} heads")
        self.options = {
            "alignment_layer": index,
            "alignment_heads": heads,
            "features_only": True,  # no logits
        }

    def matrices(
        self, pairs: Sequence[TokenPair], max_tokens: int, batch_size: int | None = None
    ) -> Iterator[tuple[int, np.ndarray]]:
        """The weights of each pair, as (its index, T×S matrix), in any order.

        Row t is the attention while the decoder predicts target piece t. The row and the column of
        EOS are omitted, so rows need not add up to 1.

        Args:
            pairs: the pairs; those too long for the model are skipped.
            max_tokens: as of :meth:`ForcedDecoder.batches`.
        """
        for batch in self.decoder.batches(pairs, max_tokens, batch_size):
            weights = self._weights(batch)
            for row, index in enumerate(batch.indices):
                real = weights[row, : batch.targets[row] - 1, : batch.sources[row] - 1]
                yield index, real

    def _weights(self, batch: ForcedBatch) -> np.ndarray:
        """B×T×S, padding on the right."""
        _, extra = self.decoder.forward(batch, **self.options)
        weights = extra["attn"] if isinstance(extra, dict) else extra
        if isinstance(weights, (list, tuple)):
            weights = weights[0]
        if weights is None:
            raise UserError("the model's decoder attends to no source, so nothing is aligned")
        return weights.float().cpu().numpy()


def layer_index(layer: int | None, layers: int, stack: str = "decoder") -> int:
    """A layer's index from 0; None = the penultimate one, or the only one.

    Args:
        layers: how many there are.

    Raises:
        UserError: there is no such layer.
    """
    if layer is None:
        return max(layers + PENULTIMATE, 0)
    return layer_from_bottom("--layer", layer, layers, stack)


def word_attention(
    weights: np.ndarray, source_counts: Sequence[int], target_counts: Sequence[int]
) -> np.ndarray:
    """The attention between words, from that between pieces.

    Rows are averaged over the pieces of a target word; columns are summed over the pieces of a
    source word.

    Args:
        weights: T×S between pieces, without EOS.
        source_counts: the number of pieces of each source word; they add up to S.
        target_counts: likewise; they add up to T.

    Returns:
        target words × source words.
    """
    of_sources = _sums(weights, source_counts, axis=1)
    return _sums(of_sources, target_counts, axis=0) / np.asarray(target_counts)[:, None]


def strongest_links(attention: np.ndarray) -> Alignment:
    """Each target word linked to the source word that it attends to most, the first of equals.

    Args:
        attention: target words × source words.
    """
    if not attention.size:
        return frozenset()
    return frozenset(
        (int(source), target) for target, source in enumerate(attention.argmax(axis=1))
    )


def align_words(
    attention: CrossAttention,
    text: SegmentedPairs,
    max_tokens: int,
    batch_size: int | None = None,
) -> list[Alignment | None]:
    """The alignment of each pair by the attention of a model; None = too long for it.

    Args:
        max_tokens: as of :meth:`ForcedDecoder.batches`.
    """
    alignments: list[Alignment | None] = [None] * len(text.pairs)
    found = attention.matrices(text.pairs, max_tokens, batch_size)
    for index, weights in Progress(found, "alignments", "pairs", len(alignments), leave=False):
        words = word_attention(weights, text.source.counts[index], text.target.counts[index])
        alignments[index] = strongest_links(words)
    return alignments


def align_by_model(
    decoder: ForcedDecoder,
    path: str,
    text: SegmentedPairs,
    layer: int | None,
    heads: int | None,
    limits: BatchLimits,
) -> list[Alignment | None]:
    """As :func:`align_words`; layer and heads are those of :class:`CrossAttention`.

    Args:
        path: the decoder's checkpoint, for messages.

    Raises:
        UserError: there is no such layer, or there are fewer heads.
    """
    with errors_of(path):
        attention = CrossAttention(decoder, layer, heads)
    return align_words(attention, text, *limits)


def _sums(weights: np.ndarray, counts: Sequence[int], axis: int) -> np.ndarray:
    """Sums over groups of neighbouring rows or columns, of these sizes."""
    starts = np.cumsum([0, *counts[:-1]]) if counts else np.zeros(0, dtype=int)
    return np.add.reduceat(weights.astype(np.float64), starts.astype(int), axis=axis)


def reverse_decoder(files: ModelFiles, forward: ForcedDecoder, name: str) -> ForcedDecoder:
    """Loads the model of the opposite direction.

    Args:
        forward: the model of the direction.
        name: its checkpoint, for messages.

    Raises:
        UserError: the checkpoint cannot be used, or is of another direction.
    """
    reverse = load_forced_decoder(files, "--reverse-parser-config")
    ours, others = forward.task.cfg, reverse.task.cfg
    if (ours.source_lang, ours.target_lang) != (others.target_lang, others.source_lang):
        raise UserError(
            f"{files.path} translates {others.source_lang}-{others.target_lang}, "
            f"{name} {ours.source_lang}-{ours.target_lang}: give --reverse-path a model of "
            f"the other direction"
        )
    return reverse
