"""The decoder of the Transformer family."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerConfig, TransformerDecoderBase
from torch import Tensor, nn

from syntax_nmt.backbone.attention_change import AttentionChange, close_pads
from syntax_nmt.backbone.fused_attention import IncrementalState
from syntax_nmt.backbone.layer_hooks import DecoderLayerOutput, collecting, handing_over
from syntax_nmt.backbone.structures import (
    CROSS_ATTENTION,
    TARGET_ATTENTION,
    TARGET_DISTANCES,
    StructureLayers,
)
from syntax_nmt.backbone.transformer_layers import FusedDecoderLayer, wrap_layer
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.errors import UserError
from syntax_nmt.methods.latent_phrases.options import self_attentions
from syntax_nmt.methods.phrases.layers import PhraseDecoderLayer
from syntax_nmt.methods.phrases.memory import PhraseMemory
from syntax_nmt.methods.phrases.options import phrase_sizes
from syntax_nmt.methods.phrases.transparent_attention import TransparentAttention
from syntax_nmt.methods.position_bias.options import position_bias, position_bias_layers
from syntax_nmt.models.options import TRANSFORMER_DROPOUTS, SyntaxTransformerOptions
from syntax_nmt.option_checks import check_dropouts

NO_LAYER = -1


class SyntaxTransformerDecoder(TransformerDecoderBase):
    """fairseq's Transformer decoder on fused attention.

    fairseq's own computes the cross-attention weights of its top layer in every call. Here they are
    computed only when needed: with an `alignment_layer`, in a search for alignments, or in training
    on them (`--load-alignments`).

    Args:
        cfg: fairseq's options of the Transformer.
        embed_tokens: V×C.
        no_encoder_attn: omit the cross-attention.

    Raises:
        UserError: options that contradict each other.
    """

    need_attn = False
    reads_annotation: tuple[AnnotationKind, ...] = ()
    learns_annotation: tuple[AnnotationKind, ...] = ()
    annotation_labels: Mapping[AnnotationKind, tuple[str, ...]] = MappingProxyType({})

    def __init__(
        self,
        cfg: TransformerConfig,
        dictionary: Dictionary,
        embed_tokens: nn.Embedding,
        options: SyntaxTransformerOptions,
        no_encoder_attn: bool = False,
    ) -> None:
        check_dropouts(cfg, TRANSFORMER_DROPOUTS)
        self.phrase_sizes = phrase_sizes(cfg, options)
        if no_encoder_attn and not cfg.cross_self_attention and self.phrase_sizes is None:
            raise UserError(
                "--no-cross-attention: nothing would read the source: add --cross-self-attention, "
                "or leave it out"
            )
        # fairseq builds the layers from the lowest to the top, and does not number them.
        self._self_attentions = iter(self_attentions(cfg, options, "decoder"))
        self.latent_phrase_layers = options.latent_phrase_layers
        self.position_bias_layers = position_bias_layers(cfg, options, "decoder")
        super().__init__(cfg, dictionary, embed_tokens, no_encoder_attn)
        self.position_bias = position_bias(cfg, options, "decoder")
        shape = (cfg.encoder.layers + 1, cfg.decoder.layers, cfg.dropout)
        self.transparent_phrases = self.transparent_tokens = None
        if options.transparent_attention:
            self.transparent_phrases = TransparentAttention(*shape)
        if options.transparent_token_attention:
            self.transparent_tokens = TransparentAttention(*shape)

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
        """Sets the parameters of a search; :class:`SyntaxTranslationTask` calls this before and
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
        attention = next(self._self_attentions)
        if self.phrase_sizes is None:
            return wrap_layer(FusedDecoderLayer(cfg, no_encoder_attn, attention), cfg)
        layer = PhraseDecoderLayer(cfg, self.phrase_sizes, no_encoder_attn, attention)
        return wrap_layer(layer, cfg)

    def forward(
        self, *args: Any, structures: StructureLayers | None = None, **kwargs: Any
    ) -> tuple[Tensor, dict[str, Any]]:
        """Decodes a batch.

        Args:
            *args: as of fairseq's own decoder.
            **kwargs: as of fairseq's own decoder.

        Returns:
            logits, B×T×V, and a dictionary, which has the requested structures under their names.
        """
        if structures is None:
            return super().forward(*args, **kwargs)
        wanted = [structures.decoder_arguments(index) for index in range(self.num_layers)]
        # fairseq calls its layers with fixed arguments, and reads three results of each.
        with handing_over(self.layers, wanted), collecting(self.layers, passed_on=3) as outputs:
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
            full_context_alignment: let every position see the whole target; layers with latent
                phrases or a position bias, which close the future themselves, do not.
            alignment_layer: the layer whose cross-attention weights are wanted.
            alignment_heads: number of heads, the first ones, to average over; all by default.

        Returns:
            B×T×C, and a dictionary that holds `attn`: the weights, B×T×S, or None.
        """
        if alignment_layer is None and not self.need_attn:
            alignment_layer = NO_LAYER
        phrases = self._phrase_arguments(encoder_out, incremental_state)
        queries = prev_output_tokens.size(1) if incremental_state is None else 1
        changes = self._attention_changes(prev_output_tokens.eq(self.padding_idx), queries)
        with handing_over(self.layers, phrases), handing_over(self.layers, changes):
            return super().extract_features(
                prev_output_tokens, encoder_out, incremental_state,
                full_context_alignment, alignment_layer, alignment_heads,
            )  # fmt: skip

    def _attention_changes(self, padding: Tensor, queries: int) -> list[dict[str, Tensor]]:
        """The changes of the lowest layers' self-attention, as arguments of each.

        Args:
            padding: B×T, True = pad.
            queries: number of positions, the last ones, that are computed.
        """
        if self.position_bias is None:
            return []
        bias = self.position_bias(padding.size(1), queries, self.embed_tokens.weight)
        bias = close_pads(bias, padding)  # a check for pads would wait for a GPU
        return [AttentionChange(bias).arguments()] * self.position_bias_layers

    def _phrase_arguments(
        self,
        encoder_out: dict[str, list[Tensor]] | None,
        incremental_state: IncrementalState | None,
    ) -> Iterable[Mapping[str, Any]]:
        """The phrase arguments of each layer; none if their projections are cached.

        Returns:
            the arguments `phrases`, `phrase_padding` and `tokens` of :class:`PhraseDecoderLayer`.
        """
        if self.phrase_sizes is None:
            return []
        attention = self.layers[0].phrase_combination.attention
        if attention.is_cached(incremental_state):
            return [{"phrases": None, "phrase_padding": None}] * self.num_layers
        assert encoder_out is not None
        memory = PhraseMemory.of(encoder_out)
        phrases = [memory.vectors[-1]] * self.num_layers
        if self.transparent_phrases is not None:
            phrases = list(self.transparent_phrases(memory.vectors))
        tokens: list[Tensor | None] = [None] * self.num_layers
        if self.transparent_tokens is not None:
            tokens = list(self.transparent_tokens(memory.tokens))
        return [
            {"phrases": x, "phrase_padding": memory.padding, "tokens": y}
            for x, y in zip(phrases, tokens)
        ]
