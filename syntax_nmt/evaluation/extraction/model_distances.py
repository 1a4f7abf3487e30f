"""Syntactic distances out of a trained model: one for each piece of a sentence, of its encoder or,
by forced decoding, of its decoder (Harada and Watanabe, 2021)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from fairseq.data import data_utils
from fairseq.models import BaseFairseqModel
from fairseq.tasks import FairseqTask
from torch import Tensor

from syntax_nmt.data.sides import PHRASES
from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.base.segmented_text import TokenPair
from syntax_nmt.evaluation.trained_model.forced_decoding import ForcedDecoder
from syntax_nmt.evaluation.trained_model.length_batches import length_batches
from syntax_nmt.evaluation.trained_model.source_text import SourceText
from syntax_nmt.models.structures import SOURCE_DISTANCES, TARGET_DISTANCES, StructureLayers
from syntax_nmt.tasks.side_inputs import declared


class ModelDistances(Protocol):
    """Gives the distances of the sentences of a text."""

    def fits(self, index: int) -> bool:
        """Whether the model has positions for a sentence."""

    def of(
        self, indices: Sequence[int], max_tokens: int, batch_size: int | None
    ) -> Iterator[tuple[int, np.ndarray]]:
        """The distances of some sentences, as (index, the distance of the gap before each piece).

        They come in an order of their own, EOS left out.

        Args:
            indices: of the sentences; each fits.
            max_tokens: of a batch, padding included; a longer sentence is a batch of its own.
            batch_size: sentences of a batch; None = as many as fit.
        """


class EncoderDistances:
    """Asks the encoder alone, whose positions are those of the source.

    Args:
        model: in evaluation mode.
        layer: of the encoder, counted from the lowest, which is 0.

    Raises:
        UserError: the model has no distances there, or needs phrases besides tokens.
    """

    def __init__(self, model: BaseFairseqModel, text: SourceText, layer: int) -> None:
        check_model(model, layer, "encoder")
        self.encoder: Any = model.encoder
        self.text = text
        self.structures = StructureLayers(source_distances=(layer,))

    def fits(self, index: int) -> bool:
        """Whether the encoder has positions for a sentence."""
        return len(self.text.tokens[index]) <= int(self.encoder.max_positions())

    @torch.no_grad()
    def of(
        self, indices: Sequence[int], max_tokens: int, batch_size: int | None
    ) -> Iterator[tuple[int, np.ndarray]]:
        """The distances of some sentences; see :class:`ModelDistances`.

        Args:
            max_tokens: of a batch, padding included.
            batch_size: sentences of a batch; None = as many as fit.
        """
        device = next(self.encoder.parameters()).device
        sentences = [self.text.tokens[index].long() for index in indices]
        lengths = [len(tokens) for tokens in sentences]
        for batch in length_batches(range(len(indices)), lengths, max_tokens, batch_size):
            # Padding goes to the right, so that the pieces of a row are its first tokens.
            source = data_utils.collate_tokens(
                [sentences[place] for place in batch], self.text.dictionary.pad(), left_pad=False
            ).to(device)
            sizes = torch.tensor([lengths[place] for place in batch], device=device)
            out = self.encoder(source, src_lengths=sizes, structures=self.structures)
            distances = mean_over_heads(out[SOURCE_DISTANCES][0])
            for row, place in enumerate(batch):
                yield indices[place], distances[row, : lengths[place] - 1]


class DecoderDistances:
    """Forces the decoder to given translations.

    Position 0 of the decoder reads EOS and position t the piece before the one it predicts, so the
    gap before the target's piece p is the one before position p + 1.

    Args:
        model: in evaluation mode.
        target: their translations, whose distances are wanted.
        layer: of the decoder, counted from the lowest, which is 0.

    Raises:
        UserError: the model has no distances there, or needs phrases besides tokens.
    """

    def __init__(
        self,
        model: BaseFairseqModel,
        task: FairseqTask,
        source: SourceText,
        target: SourceText,
        layer: int,
    ) -> None:
        check_model(model, layer, "decoder")
        self.decoder = ForcedDecoder(model, task)
        self.source = source
        self.target = target
        self.structures = StructureLayers(target_distances=(layer,))

    def fits(self, index: int) -> bool:
        """Whether the model has positions for a sentence and its translation."""
        return self.decoder.fits(self._pair(index))

    def of(
        self, indices: Sequence[int], max_tokens: int, batch_size: int | None
    ) -> Iterator[tuple[int, np.ndarray]]:
        """The distances of some translations; see :class:`ModelDistances`.

        Args:
            max_tokens: of a batch on either side, padding included.
            batch_size: sentences of a batch; None = as many as fit.
        """
        pairs = [self._pair(index) for index in indices]
        for batch in self.decoder.batches(pairs, max_tokens, batch_size):
            _, extra = self.decoder.forward(batch, features_only=True, structures=self.structures)
            distances = mean_over_heads(extra[TARGET_DISTANCES][0])
            for row, place in enumerate(batch.indices):
                yield indices[place], distances[row, 1 : batch.targets[row]]

    def _pair(self, index: int) -> TokenPair:
        return TokenPair(tuple(self.source.pieces(index)), tuple(self.target.pieces(index)))


def mean_over_heads(distances: Tensor) -> np.ndarray:
    """B×T out of B×H×T."""
    return distances.float().mean(dim=1).cpu().numpy()


def layers_with_distances(model: BaseFairseqModel, side: str) -> int:
    """How many of the lowest layers have distances.

    Args:
        model: any model; only Transformers have any.
        side: `encoder` or `decoder`.
    """
    return int(getattr(getattr(model, side, None), "latent_phrase_layers", 0))


def check_model(model: BaseFairseqModel, layer: int, side: str) -> None:
    """Refuses a model that has no distances in a layer.

    Args:
        layer: counted from the lowest, which is 0.
        side: `encoder` or `decoder`.

    Raises:
        UserError: says what the model has.
    """
    layers = layers_with_distances(model, side)
    if not layers:
        raise UserError(
            f"the model's {side} has no syntactic distances: give --path a model trained with "
            "--arch latent_phrase_transformer (or --latent-phrase-layers)"
        )
    if not 0 <= layer < layers:
        raise UserError(
            f"--layer {layer}: the model's {side} has distances in its {layers} lowest layers, "
            f"0 to {layers - 1}"
        )
    if PHRASES in declared([model]):
        raise UserError(
            "the model reads the phrases of parsed sources (--phrase-segmentation parsed), "
            "which this command does not have; train one with --phrase-segmentation ngram"
        )
