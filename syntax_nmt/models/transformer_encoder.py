"""The encoder of the Transformer family."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerConfig, TransformerEncoderBase
from torch import Tensor, nn

from syntax_nmt.backbone.attention_change import AttentionChange, close_pads, local_attention_bias
from syntax_nmt.backbone.layer_hooks import EncoderLayerOutput, collecting, handing_over
from syntax_nmt.backbone.structures import SOURCE_ATTENTION, SOURCE_DISTANCES, StructureLayers
from syntax_nmt.backbone.transformer_layers import FusedEncoderLayer, wrap_layer
from syntax_nmt.backbone.word_spans import WordSpans
from syntax_nmt.data.annotation import HEADS, PHRASES
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.errors import UserError, exits_in_fairseq_programs
from syntax_nmt.methods.dependency_heads.loss import (
    NO_SUPERVISED_HEADS,
    supervised_head_log_probabilities,
)
from syntax_nmt.methods.dependency_heads.options import supervised_layer
from syntax_nmt.methods.latent_phrases.options import local_window, self_attentions
from syntax_nmt.methods.parent_scaled.options import build_parent_scaling, parent_scaled_layer
from syntax_nmt.methods.phrases.layers import PhraseEncoderLayer
from syntax_nmt.methods.phrases.memory import PhraseMemory
from syntax_nmt.methods.phrases.options import PARSED, phrase_sizes
from syntax_nmt.methods.phrases.representation import PhraseRepresentation
from syntax_nmt.methods.phrases.segmentation import PhraseBatch, ngram_phrases, parsed_phrases
from syntax_nmt.methods.position_bias.options import position_bias, position_bias_layers
from syntax_nmt.models.options import TRANSFORMER_DROPOUTS, SyntaxTransformerOptions
from syntax_nmt.option_checks import check_dropouts


class SyntaxTransformerEncoder(TransformerEncoderBase):
    """fairseq's Transformer encoder, with the features that :class:`SyntaxTransformerOptions` name.

    Args:
        cfg: fairseq's options of the Transformer.
        embed_tokens: V×C.
        hands_on_phrases: whether the decoder reads phrases, too; an RNN decoder does not.

    Raises:
        UserError: options that contradict each other.
    """

    def __init__(
        self,
        cfg: TransformerConfig,
        dictionary: Dictionary,
        embed_tokens: nn.Embedding,
        options: SyntaxTransformerOptions,
        hands_on_phrases: bool = True,
    ) -> None:
        check_dropouts(cfg, TRANSFORMER_DROPOUTS)
        self.supervised_layer = supervised_layer(cfg, options)
        self.phrase_sizes = phrase_sizes(cfg, options)
        self.phrase_segmentation = options.phrase_segmentation
        self.transparent_tokens = options.transparent_token_attention
        # fairseq builds the layers from the lowest to the top, and does not number them.
        self._self_attentions = iter(self_attentions(cfg, options, "encoder"))
        self.latent_phrase_layers = options.latent_phrase_layers
        self.local_window = local_window(cfg, options)
        self.local_layers = options.local_attention_layers if self.local_window else 0
        self.position_bias_layers = position_bias_layers(cfg, options, "encoder")
        self.parent_scaled_layer = parent_scaled_layer(cfg, options)
        super().__init__(cfg, dictionary, embed_tokens)
        self.position_bias = position_bias(cfg, options, "encoder")
        self.output_dim = cfg.encoder.embed_dim
        self.learns_annotation = () if self.supervised_layer is None else (HEADS,)
        self.reads_annotation: tuple[AnnotationKind, ...] = ()
        if self.phrase_segmentation == PARSED:
            self.reads_annotation += (PHRASES,)
        if self.parent_scaled_layer is not None:
            self.reads_annotation += (HEADS,)
            self.parent_scaling = build_parent_scaling(cfg, options)
            self.word_spans = WordSpans(dictionary)
        self.phrase_representation = None
        if self.phrase_sizes is not None and hands_on_phrases:  # of the top layer's output
            self.phrase_representation = PhraseRepresentation(
                cfg.encoder.embed_dim, self.phrase_sizes.summary, self.phrase_sizes.hidden_dim
            )
        for layer in self.layers.children():  # itself, layer drop would leave some out
            # fairseq 0.12.2 would bypass the layers at inference.
            layer.can_use_fastpath = False

    def build_encoder_layer(self, cfg: TransformerConfig) -> nn.Module:
        """Builds the next layer, from the lowest to the top.

        Args:
            cfg: fairseq's options of the Transformer.
        """
        attention = next(self._self_attentions)
        if self.phrase_sizes is None:
            return wrap_layer(FusedEncoderLayer(cfg, attention), cfg)
        return wrap_layer(PhraseEncoderLayer(cfg, self.phrase_sizes, attention), cfg)

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
            **annotation: under the keys of its kinds; parsed phrases are read.

        Returns:
            what fairseq's encoder returns; with phrases also what :class:`PhraseMemory` describes;
            and the wanted structures under their names.

        Raises:
            UserError: parsed phrases are missing; one line says how to get them.
        """
        padding = src_tokens.eq(self.padding_idx)
        with exits_in_fairseq_programs():
            phrases = self._phrases(padding, annotation)
            changes = self._attention_changes(src_tokens, padding, annotation)
        arguments = self._layer_arguments(changes, phrases, structures)
        if structures is None and not any(arguments):
            return super().forward(src_tokens, src_lengths, return_all_hiddens, token_embeddings)
        all_hiddens = return_all_hiddens or self.transparent_tokens
        # fairseq calls its layers with fixed arguments, and reads a single tensor of each.
        with handing_over(self.layers, arguments), collecting(self.layers, passed_on=1) as outputs:
            out = super().forward(src_tokens, src_lengths, all_hiddens, token_embeddings)
        layers: list[Any] = [EncoderLayerOutput(*output) for output in outputs]
        if phrases is not None:
            self._put_phrases(out, layers, phrases)
        if not return_all_hiddens:
            out["encoder_states"] = []
        if structures is not None:
            out[SOURCE_DISTANCES] = [layers[i].distances for i in structures.source_distances]
            out[SOURCE_ATTENTION] = [layers[i].attention for i in structures.source_attention]
        return out

    def _layer_arguments(
        self,
        changes: Iterable[AttentionChange],
        phrases: PhraseBatch | None,
        structures: StructureLayers | None,
    ) -> list[dict[str, Any]]:
        """The further arguments of each layer."""
        arguments: list[dict[str, Any]] = []
        for index, change in enumerate(changes):
            more: dict[str, Any] = {**change.arguments()}
            if phrases is not None:
                more["phrases"] = phrases
            if structures is not None:
                more.update(structures.encoder_arguments(index))
            arguments.append(more)
        return arguments

    def _attention_changes(
        self, src_tokens: Tensor, padding: Tensor, annotation: Mapping[str, Tensor]
    ) -> list[AttentionChange]:
        """The changes of each layer's self-attention; equal biases are computed once."""
        length, like = padding.size(1), self.embed_tokens.weight
        of_lowest = []  # biases, each with the number of lowest layers that add it
        if self.local_layers:
            window = local_attention_bias(length, self.local_window, like)
            of_lowest.append((self.local_layers, window))
        if self.position_bias is not None:
            of_lowest.append((self.position_bias_layers, self.position_bias(length, length, like)))
        sums: dict[tuple[int, ...], Tensor] = {}
        changes = []
        for index in range(self.num_layers):
            added = tuple(i for i, (layers, _) in enumerate(of_lowest) if index < layers)
            if added and added not in sums:
                bias = reduce(add, (of_lowest[i][1] for i in added))
                sums[added] = close_pads(bias, padding)  # a check for pads would wait for a GPU
            changes.append(AttentionChange(sums.get(added)))
        layer = self.parent_scaled_layer
        if layer is not None:
            factor = self.parent_scaling(HEADS.of(annotation), self.word_spans(src_tokens))
            changes[layer] = changes[layer]._replace(factor=factor)
        return changes

    def _put_phrases(
        self,
        out: dict[str, list[Tensor]],
        layers: Sequence[Any],
        phrases: PhraseBatch,
    ) -> None:
        """Adds the phrases to what the encoder returns."""
        if self.supervised_layer is not None:
            out["supervised_input"] = [layers[self.supervised_layer].attention_input]
        if self.phrase_representation is None:
            return
        vectors = [layer.phrases for layer in layers]
        vectors.append(self.phrase_representation(out["encoder_out"][0], phrases))
        tokens = self._normalised(out["encoder_states"]) if self.transparent_tokens else []
        PhraseMemory(vectors, phrases.padding, tokens).put_into(out)
        out["encoder_embedding"] = []  # not read; a search would rearrange it at each step

    def reorder_encoder_out(
        self, encoder_out: dict[str, list[Tensor]], new_order: Tensor
    ) -> dict[str, list[Tensor]]:
        """Rearranges what :meth:`forward` returned, as a search rearranges its hypotheses.

        Args:
            encoder_out: of :meth:`forward`.
            new_order: the row that goes to each place.
        """
        reordered = super().reorder_encoder_out(encoder_out, new_order)
        PhraseMemory.reorder(encoder_out, reordered, new_order)
        return reordered

    def _phrases(self, padding: Tensor, annotation: Mapping[str, Tensor]) -> PhraseBatch | None:
        if self.phrase_sizes is None:
            return None
        if self.phrase_segmentation != PARSED:
            return ngram_phrases(padding, self.phrase_sizes.eos_apart)
        return parsed_phrases(padding, PHRASES.of(annotation))

    def _normalised(self, states: list[Tensor]) -> list[Tensor]:
        """The states of all layers in the form that a decoder reads, S×B×C each."""
        return states if self.layer_norm is None else [self.layer_norm(x) for x in states]

    def supervised_head_log_probabilities(self, encoder_out: dict[str, list[Tensor]]) -> Tensor:
        """Log-probabilities of the child and the parent head, B×2×S×S in float32 at least.

        Args:
            encoder_out: of a forward pass with `return_all_hiddens`.

        Raises:
            UserError: the model has no supervised heads.
        """
        if self.supervised_layer is None:
            raise UserError(NO_SUPERVISED_HEADS)
        layer = self.layers[self.supervised_layer]
        if self.phrase_sizes is None:
            x = encoder_out["encoder_states"][self.supervised_layer]  # the layer's input, S×B×C
        else:  # the phrase sublayer, which comes first, has added to it
            x = encoder_out["supervised_input"][0]
        if layer.normalize_before:
            x = layer.self_attn_layer_norm(x)
        padding = encoder_out["encoder_padding_mask"][0]
        return supervised_head_log_probabilities(layer.self_attn, x, padding)
