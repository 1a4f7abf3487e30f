"""The decoder of the Transformer family."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from types import MappingProxyType
from typing import Any

from fairseq.models.transformer import TransformerConfig, TransformerDecoderBase
from torch import Tensor, nn

from syntax_nmt.backbone.extended_stack import ExtendedStack
from syntax_nmt.backbone.extension import having, single
from syntax_nmt.backbone.fused_attention import IncrementalState
from syntax_nmt.backbone.layer_hooks import (
    DecoderLayerOutput,
    captured_layer_outputs,
    changed_outputs,
    extra_layer_inputs,
)
from syntax_nmt.backbone.structures import (
    CROSS_ATTENTION,
    TARGET_ATTENTION,
    TARGET_DISTANCES,
    StructureLayers,
)
from syntax_nmt.backbone.transformer_extension import (
    TransformerDecoderExtension,
    TransformerStack,
    built_attention,
    composed_changes,
)
from syntax_nmt.backbone.transformer_layers import FusedDecoderLayer, wrap_layer
from syntax_nmt.data.batch import ModelExtra
from syntax_nmt.errors import UserError
from syntax_nmt.models.options import TRANSFORMER_DROPOUTS
from syntax_nmt.option_checks import check_dropouts

NO_LAYER = -1


class SyntaxTransformerDecoder(ExtendedStack, TransformerDecoderBase):
    """fairseq's Transformer decoder on fused attention, with extensions of methods.

    fairseq's own computes the cross-attention weights of its top layer in every call. Here they are
    computed only when needed: with an `alignment_layer`, in a search for alignments, or in training
    on them (`--load-alignments`).

    Args:
        stack: options and dictionary.
        embed_tokens: V×C.
        extensions: from what acts lowest to what stands on top.
        no_encoder_attn: omit the cross-attention.

    Raises:
        UserError: options that contradict each other.
    """

    need_attn = False
    _annotation: Mapping[str, Tensor] = MappingProxyType({})
    extensions: Sequence[TransformerDecoderExtension]

    def __init__(
        self,
        stack: TransformerStack,
        embed_tokens: nn.Embedding,
        extensions: Sequence[TransformerDecoderExtension],
        no_encoder_attn: bool = False,
    ) -> None:
        check_dropouts(stack.cfg, TRANSFORMER_DROPOUTS)
        self.extensions = extensions
        reads_source = any(extension.reads_source for extension in extensions)
        if no_encoder_attn and not stack.cfg.cross_self_attention and not reads_source:
            raise UserError(
                "--no-cross-attention: nothing would read the source: add --cross-self-attention, "
                "or leave it out"
            )
        # fairseq builds the layers from the lowest to the top, and does not number them.
        self._layer_numbers = count()
        super().__init__(stack.cfg, stack.dictionary, embed_tokens, no_encoder_attn)
        self.output_dim = self.output_embed_dim  # of --decoder-output-dim
        self.register_extensions(extensions)

    def upgrade_state_dict_named(self, state_dict: dict[str, Tensor], name: str) -> Any:
        """Brings weights of other versions of fairseq up to date.

        Args:
            state_dict: the weights by name, changed in place.
            name: prefix of the decoder's names.
        """
        upgraded = super().upgrade_state_dict_named(state_dict, name)
        if self.adaptive_softmax is not None:
            # With shared embeddings fairseq puts it there, and builds none in addition to this
            # softmax.
            state_dict.pop(f"{name}.output_projection.weight", None)
        return upgraded

    def prepare_for_search(self, beam_size: int, need_attn: bool) -> None:
        """Sets the parameters of a search; `SyntaxTranslationTask` calls this before and
        after each.

        Args:
            beam_size: hypotheses a sentence; they share its cross-attention memory. 1 outside a
                search, because fairseq's modules would continue to treat rows as hypotheses.
            need_attn: whether the search needs attention weights.
        """
        self.set_beam_size(beam_size)
        self.need_attn = need_attn

    def build_decoder_layer(
        self, cfg: TransformerConfig, no_encoder_attn: bool = False
    ) -> nn.Module:
        """Builds the next layer, from the lowest to the top.

        Args:
            cfg: fairseq's options of the Transformer.
            no_encoder_attn: omit the cross-attention.
        """
        number = next(self._layer_numbers)
        attention = built_attention(self.extensions, number, "decoder")
        layer = single(
            (
                (extension, extension.layer(cfg, no_encoder_attn, attention))
                for extension in self.extensions
            ),
            "the layers of the decoder",
        )
        return wrap_layer(layer or FusedDecoderLayer(cfg, no_encoder_attn, attention), cfg)

    def forward(
        self,
        prev_output_tokens: Tensor,
        *args: Any,
        structures: StructureLayers | None = None,
        return_all_hiddens: bool = False,
        **kwargs: Any,
    ) -> tuple[Tensor, ModelExtra]:
        """Decodes a batch.

        Args:
            prev_output_tokens: B×T.
            *args: as of fairseq's own decoder.
            return_all_hiddens: also return what extensions add.
            **kwargs: as of fairseq's own decoder; and annotation of the target.

        Returns:
            logits, B×T×V, and a dictionary, which has the requested structures under their names.
        """
        annotation = self.annotation_among(kwargs)
        rest = {name: value for name, value in kwargs.items() if name not in annotation}
        with self._with_annotation(annotation):
            logits, extra = self._decoded(prev_output_tokens, *args, structures=structures, **rest)
        if return_all_hiddens:
            padding = prev_output_tokens.eq(self.padding_idx)
            for extension in self.extensions:
                extra.update(extension.extra(extra["inner_states"], padding, self.layers))
        return logits, extra

    @contextmanager
    def _with_annotation(self, annotation: Mapping[str, Tensor]) -> Iterator[None]:
        """Within the context, :meth:`extract_features`, which fairseq calls, knows it."""
        self._annotation = annotation
        try:
            yield
        finally:
            self._annotation = {}

    def _decoded(
        self, *args: Any, structures: StructureLayers | None, **kwargs: Any
    ) -> tuple[Tensor, ModelExtra]:
        """fairseq's own forward pass, with the requested structures."""
        if structures is None:
            return super().forward(*args, **kwargs)
        wanted = [structures.decoder_arguments(index) for index in range(self.num_layers)]
        # fairseq calls its layers with fixed arguments, and reads three results of each.
        with (
            extra_layer_inputs(self.layers, wanted),
            captured_layer_outputs(self.layers, passed_on=3) as outputs,
        ):
            logits, extra = super().forward(*args, **kwargs)
        layers = [DecoderLayerOutput(*output) for output in outputs]
        extra[TARGET_DISTANCES] = [layers[i].distances for i in structures.target_distances]
        extra[TARGET_ATTENTION] = [layers[i].attention for i in structures.target_attention]
        extra[CROSS_ATTENTION] = [
            layers[i].mean_cross_attention for i in structures.cross_attention
        ]
        return logits, extra

    def extract_features(
        self,
        prev_output_tokens: Tensor,
        encoder_out: dict[str, list[Tensor]] | None,
        incremental_state: IncrementalState | None = None,
        full_context_alignment: bool = False,
        alignment_layer: int | None = None,
        alignment_heads: int | None = None,
    ) -> tuple[Tensor, dict[str, list[Tensor | None]]]:
        """The states of the top layer.

        Args:
            prev_output_tokens: B×T.
            incremental_state: the cache of incremental decoding.
            full_context_alignment: let every position see the whole target; layers whose attention
                extensions build or bias, which close the future themselves, do not.
            alignment_layer: the layer whose cross-attention weights are wanted.
            alignment_heads: number of heads, the first ones, to average over; all by default.

        Returns:
            B×T×C, and a dictionary that holds `attn`: the weights, B×T×S, or None.
        """
        if alignment_layer is None and not self.need_attn:
            alignment_layer = NO_LAYER
        queries = prev_output_tokens.size(1) if incremental_state is None else 1
        changes = self._changes(prev_output_tokens.eq(self.padding_idx), queries)
        arguments = [
            list(extension.arguments(self.layers, encoder_out, incremental_state))
            for extension in self.extensions
        ]
        target = self.target_read(
            prev_output_tokens, encoder_out, incremental_state, self._annotation
        )
        embeds = [
            lambda embedded, each=each: each.embed(embedded, target)
            for each in having(self.extensions, "embed")
        ]
        with ExitStack() as handed_over:
            for each in (changes, *arguments):
                handed_over.enter_context(extra_layer_inputs(self.layers, each))
            if embeds:
                handed_over.enter_context(changed_outputs(self.embed_tokens, embeds))
            features, extra = super().extract_features(
                prev_output_tokens, encoder_out, incremental_state,
                full_context_alignment, alignment_layer, alignment_heads,
            )  # fmt: skip
        return features, {**extra, **self.predicted(features, target)}

    def _changes(self, padding: Tensor, queries: int) -> list[Mapping[str, Tensor]]:
        """The changes of the self-attention, as arguments of each layer.

        Args:
            padding: B×T, True = pad.
            queries: number of positions, the last ones, that are computed.
        """
        like = self.embed_tokens.weight
        changes = [
            each
            for extension in self.extensions
            for each in extension.changes(padding.size(1), queries, like)
        ]
        if not changes:
            return []
        return [x.arguments() for x in composed_changes(changes, self.num_layers, padding)]
