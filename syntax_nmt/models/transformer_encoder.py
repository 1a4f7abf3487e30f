"""The encoder of the Transformer family."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from fairseq.models.transformer import TransformerEncoderBase
from torch import Tensor, nn

from syntax_nmt.backbone.built_attention import built_attention
from syntax_nmt.backbone.feature import (
    Source,
    TransformerEncoderFeature,
    TransformerHalf,
    composed_changes,
    having,
    the_only,
)
from syntax_nmt.backbone.featured_half import FeaturedHalf
from syntax_nmt.backbone.layer_hooks import EncoderLayerOutput, collecting, handing_over
from syntax_nmt.backbone.rnn_encoder import STATES, rows_rearranged
from syntax_nmt.backbone.structures import SOURCE_ATTENTION, SOURCE_DISTANCES, StructureLayers
from syntax_nmt.backbone.transformer_layers import FusedEncoderLayer, wrap_layer
from syntax_nmt.models.options import TRANSFORMER_DROPOUTS
from syntax_nmt.option_checks import check_dropouts


class SyntaxTransformerEncoder(FeaturedHalf, TransformerEncoderBase):
    """fairseq's Transformer encoder with features of methods.

    Args:
        half: options and dictionary.
        embed_tokens: V×C.
        features: from what acts lowest to what stands on top.

    Raises:
        UserError: features that contradict each other.
    """

    features: Sequence[TransformerEncoderFeature]
    _source: Source | None = None

    def __init__(
        self,
        half: TransformerHalf,
        embed_tokens: nn.Embedding,
        features: Sequence[TransformerEncoderFeature],
    ) -> None:
        check_dropouts(half.cfg, TRANSFORMER_DROPOUTS)
        self.features = features
        self.under_transformer = half.under_transformer
        self.output_dim = half.output_dim
        # fairseq builds the layers from the lowest to the top, and does not number them.
        self._layer_numbers = count()
        for feature in features:
            feature.build_first()
            embed_tokens = feature.word_table(embed_tokens)
        super().__init__(half.cfg, half.dictionary, embed_tokens)
        self.register_features(features)
        for layer in self.layers.children():  # itself, layer drop would leave some out
            # fairseq 0.12.2 would bypass the layers at inference.
            layer.can_use_fastpath = False

    def build_encoder_layer(self, cfg: Any) -> nn.Module:
        """Builds the next layer, from the lowest to the top.

        Args:
            cfg: fairseq's options of the Transformer.
        """
        number = next(self._layer_numbers)
        attention = built_attention(self.features, number, "encoder")
        layer = the_only(
            ((feature, feature.layer(cfg, attention)) for feature in self.features),
            "the layers of the encoder",
        )
        return wrap_layer(layer or FusedEncoderLayer(cfg, attention), cfg)

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor | None = None,
        return_all_hiddens: bool = False,
        token_embeddings: Tensor | None = None,
        structures: StructureLayers | None = None,
        **annotation: Tensor,
    ) -> dict[str, list[Tensor]]:
        """Encodes a batch.

        Args:
            src_tokens: B×S.
            src_lengths: B.
            return_all_hiddens: keep the states of every layer.
            token_embeddings: B×S×C in place of those of the tokens.
            **annotation: under the keys of its kinds.

        Returns:
            what fairseq's encoder returns; what features add; and the wanted structures under their
            names.

        Raises:
            UserError: annotation is missing; one line says how to get it.
        """
        source = Source(src_tokens, src_tokens.eq(self.padding_idx), annotation)
        shared = {
            name: value
            for feature in self.features
            for name, value in feature.arguments(source).items()
        }
        arguments = self._layer_arguments(source, shared, structures)
        for feature in having(self.features, "embed"):
            if token_embeddings is None:
                token_embeddings = self.embed_tokens(src_tokens)
            token_embeddings = feature.embed(token_embeddings, source)
        all_states = return_all_hiddens or any(each.needs_all_states for each in self.features)
        with self._with_source(source), self._with_arguments(arguments) as outputs:
            out = super().forward(src_tokens, src_lengths, all_states, token_embeddings)
        layers = [EncoderLayerOutput(*output) for output in outputs]
        for feature in self.features:
            feature.outputs(out, layers, shared, self)
        for feature in having(self.features, "above"):
            # Features are batch first, the input of a decoder time first, S×B×C.
            states = feature.above(out[STATES][0].transpose(0, 1), source)
            out[STATES] = [states.transpose(0, 1)]
        if not return_all_hiddens:
            out["encoder_states"] = []
        if structures is not None:
            out[SOURCE_DISTANCES] = [layers[i].distances for i in structures.source_distances]
            out[SOURCE_ATTENTION] = [layers[i].attention for i in structures.source_attention]
        return out

    def _layer_arguments(
        self, source: Source, shared: Mapping[str, Any], structures: StructureLayers | None
    ) -> list[dict[str, Any]]:
        """The further arguments of each layer."""
        like = self.embed_tokens.weight
        changes = [each for feature in self.features for each in feature.changes(source, like)]
        arguments = [
            {**change.arguments(), **shared}
            for change in composed_changes(changes, self.num_layers, source.padding)
        ]
        if structures is not None:
            for index, more in enumerate(arguments):
                more.update(structures.encoder_arguments(index))
        return arguments

    @contextmanager
    def _with_arguments(self, arguments: list[dict[str, Any]]) -> Iterator[list[tuple[Any, ...]]]:
        """Within the context, layers get the arguments; yields what they return.

        fairseq calls its layers with fixed arguments, and reads a single tensor of each.
        """
        if not any(arguments):
            yield []
            return
        with handing_over(self.layers, arguments), collecting(self.layers, passed_on=1) as outputs:
            yield outputs

    @contextmanager
    def _with_source(self, source: Source) -> Iterator[None]:
        """Within the context, :meth:`forward_embedding` knows the batch, which fairseq calls."""
        self._source = source
        try:
            yield
        finally:
            self._source = None

    def forward_embedding(
        self, src_tokens: Tensor, token_embedding: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """What the lowest layer reads, B×S×C, and scaled embeddings without fairseq's positions.

        Args:
            src_tokens: B×S.
            token_embedding: B×S×C in place of those of the tokens.
        """
        for feature in having(self.features, "positions") if self._source is not None else ():
            if token_embedding is None:
                token_embedding = self.embed_tokens(src_tokens)
            # fairseq scales this sum, and adds its own positions then.
            added = feature.positions(self._source, token_embedding) / self.embed_scale
            token_embedding = token_embedding + added
        states, embedded = super().forward_embedding(src_tokens, token_embedding)
        if self._source is not None:
            for feature in having(self.features, "below"):
                states = feature.below(states, self._source)
        return states, embedded

    def reorder_encoder_out(
        self, encoder_out: dict[str, list[Tensor]], new_order: Tensor
    ) -> dict[str, list[Tensor]]:
        """Rearranges what :meth:`forward` returned, as a search rearranges its hypotheses.

        Args:
            encoder_out: of :meth:`forward`.
            new_order: the row that goes to each place.
        """
        if not self.under_transformer:
            return rows_rearranged(encoder_out, new_order)
        reordered = super().reorder_encoder_out(encoder_out, new_order)
        for feature in self.features:
            feature.reorder(encoder_out, reordered, new_order)
        return reordered

    def extra(self, encoder_out: dict[str, list[Tensor]]) -> dict[str, Any]:
        """What the model returns beside its logits.

        Args:
            encoder_out: of a forward pass with `return_all_hiddens`.
        """
        found: dict[str, Any] = {}
        for feature in self.features:
            found.update(feature.extra(encoder_out, self.layers))
        return found
