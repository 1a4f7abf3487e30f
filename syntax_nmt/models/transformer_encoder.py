"""The encoder of the Transformer family."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from fairseq.models.transformer import TransformerEncoderBase
from torch import Tensor, nn

from syntax_nmt.backbone.extended_stack import ExtendedStack
from syntax_nmt.backbone.extension import Source, having, single
from syntax_nmt.backbone.layer_hooks import (
    EncoderLayerOutput,
    captured_layer_outputs,
    extra_layer_inputs,
)
from syntax_nmt.backbone.rnn_encoder import rows_rearranged
from syntax_nmt.backbone.rnn_interface import STATES
from syntax_nmt.backbone.structures import SOURCE_ATTENTION, SOURCE_DISTANCES, StructureLayers
from syntax_nmt.backbone.transformer_extension import (
    TransformerEncoderExtension,
    TransformerStack,
    built_attention,
    composed_changes,
)
from syntax_nmt.backbone.transformer_layers import FusedEncoderLayer, wrap_layer
from syntax_nmt.backbone.word_spans import WordSpans
from syntax_nmt.data.batch import ModelExtra
from syntax_nmt.models.options import TRANSFORMER_DROPOUTS
from syntax_nmt.option_checks import check_dropouts


class SyntaxTransformerEncoder(ExtendedStack, TransformerEncoderBase):
    """fairseq's Transformer encoder with extensions of methods.

    Args:
        stack: options and dictionary.
        embed_tokens: V×C.
        extensions: from what acts lowest to what stands on top.

    Raises:
        UserError: extensions that contradict each other.
    """

    extensions: Sequence[TransformerEncoderExtension]
    _source: Source | None = None

    def __init__(
        self,
        stack: TransformerStack,
        embed_tokens: nn.Embedding,
        extensions: Sequence[TransformerEncoderExtension],
    ) -> None:
        check_dropouts(stack.cfg, TRANSFORMER_DROPOUTS)
        self.extensions = extensions
        self.under_transformer = stack.under_transformer
        self.output_dim = stack.embed_dim
        # fairseq builds the layers from the lowest to the top, and does not number them.
        self._layer_numbers = count()
        for extension in extensions:
            embed_tokens = extension.word_table(embed_tokens)
        super().__init__(stack.cfg, stack.dictionary, embed_tokens)
        self.word_spans = WordSpans(stack.dictionary)
        self.register_extensions(extensions)
        for layer in self.layers.children():  # `self.layers`: layer drop leaves some out
            # fairseq 0.12.2 would bypass the layers at inference.
            layer.can_use_fastpath = False

    def build_encoder_layer(self, cfg: Any) -> nn.Module:
        """Builds the next layer, from the lowest to the top.

        Args:
            cfg: fairseq's options of the Transformer.
        """
        number = next(self._layer_numbers)
        attention = built_attention(self.extensions, number, "encoder")
        layer = single(
            ((extension, extension.layer(number, cfg, attention)) for extension in self.extensions),
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
            what fairseq's encoder returns; what extensions add; and the wanted structures under
            their names.

        Raises:
            UserError: annotation is missing; one line says how to get it.
        """
        padding = src_tokens.eq(self.padding_idx)
        source = Source(src_tokens, padding, annotation, self.word_spans)
        shared = {
            name: value
            for extension in self.extensions
            for name, value in extension.arguments(source).items()
        }
        arguments = self._layer_arguments(source, shared, structures)
        for extension in having(self.extensions, "embed"):
            if token_embeddings is None:
                token_embeddings = self.embed_tokens(src_tokens)
            token_embeddings = extension.embed(token_embeddings, source)
        all_states = return_all_hiddens or any(each.needs_all_states for each in self.extensions)
        with self._with_source(source), self._with_arguments(arguments) as outputs:
            out = super().forward(src_tokens, src_lengths, all_states, token_embeddings)
        layers = [EncoderLayerOutput(*output) for output in outputs]
        for extension in self.extensions:
            extension.outputs(out, layers, shared, self)
        for extension in having(self.extensions, "above"):
            # Extensions are batch first, the input of a decoder time first, S×B×C.
            states = extension.above(out[STATES][0].transpose(0, 1), source)
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
        changes = [
            each for extension in self.extensions for each in extension.changes(source, like)
        ]
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
        with (
            extra_layer_inputs(self.layers, arguments),
            captured_layer_outputs(self.layers, passed_on=1) as outputs,
        ):
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
        for extension in having(self.extensions, "positions") if self._source is not None else ():
            if token_embedding is None:
                token_embedding = self.embed_tokens(src_tokens)
            # fairseq scales this sum, and adds its own positions then.
            added = extension.positions(self._source, token_embedding) / self.embed_scale
            token_embedding = token_embedding + added
        states, embedded = super().forward_embedding(src_tokens, token_embedding)
        if self._source is not None:
            for extension in having(self.extensions, "below"):
                states = extension.below(states, self._source)
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
        for extension in self.extensions:
            extension.reorder(encoder_out, reordered, new_order)
        return reordered

    def extra(self, encoder_out: dict[str, list[Tensor]]) -> ModelExtra:
        """What the model returns beside its logits.

        Args:
            encoder_out: of a forward pass with `return_all_hiddens`.
        """
        found: ModelExtra = {}
        for extension in self.extensions:
            found.update(extension.extra(encoder_out, self.layers))
        return found
