"""The phrases of a Transformer's encoder, and the decoder's attention to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fairseq.models.transformer import TransformerConfig
from torch import Tensor, nn

from syntax_nmt.backbone.extension import Source
from syntax_nmt.backbone.fused_attention import IncrementalState
from syntax_nmt.backbone.transformer_extension import (
    TransformerDecoderExtension,
    TransformerEncoderExtension,
    TransformerStack,
)
from syntax_nmt.backbone.transformer_layers import BuildAttention
from syntax_nmt.data.annotation import PHRASES
from syntax_nmt.errors import UserError
from syntax_nmt.methods.phrases.layers import PhraseDecoderLayer, PhraseEncoderLayer, PhraseSizes
from syntax_nmt.methods.phrases.mapped_attention import MappedAttention
from syntax_nmt.methods.phrases.memory import PhraseMemory
from syntax_nmt.methods.phrases.options import PARSED, PhraseOptions
from syntax_nmt.methods.phrases.representation import PhraseRepresentation
from syntax_nmt.methods.phrases.segmentation import ngram_phrases, parsed_phrases
from syntax_nmt.methods.phrases.transparent_attention import TransparentAttention
from syntax_nmt.option_checks import check_from_one, refuse_together


class EncoderPhrases(TransformerEncoderExtension):
    """Layers that also attend to phrases, and the phrases of every layer for the decoder."""

    option = "--phrase-segmentation"

    def __init__(self, options: PhraseOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        self.sizes = phrase_sizes(options, stack.cfg)
        self.is_parsed = options.phrase_segmentation == PARSED
        self.hands_on = stack.under_transformer  # the decoder reads phrases
        self.needs_all_states = options.transparent_token_attention
        self.reads = (PHRASES,) if self.is_parsed else ()

    def build(self, output_dim: int) -> Mapping[str, nn.Module]:
        """The representation of the top layer's phrases."""
        if not self.hands_on:
            return {}
        self.top = PhraseRepresentation(
            self.stack.embed_dim, self.sizes.summary, self.sizes.hidden_dim
        )
        return {"phrase_representation": self.top}

    def layer(self, number: int, cfg: TransformerConfig, attention: BuildAttention) -> nn.Module:
        """A layer with a phrase sublayer.

        Args:
            number: not used: all layers have one.
            cfg: fairseq's options of the Transformer.
        """
        return PhraseEncoderLayer(cfg, self.sizes, attention)

    def arguments(self, source: Source) -> Mapping[str, Any]:
        """The phrases of the sentences.

        Raises:
            UserError: parsed phrases are missing; one line says how to get them.
        """
        if self.is_parsed:
            phrases = parsed_phrases(source.padding, PHRASES.tensor_in(source.annotation))
        else:
            phrases = ngram_phrases(source.padding, self.sizes.eos_apart)
        return {"phrases": phrases}

    def outputs(
        self,
        out: dict[str, list[Tensor]],
        layers: Sequence[Any],
        arguments: Mapping[str, Any],
        encoder: Any,
    ) -> None:
        """Adds the phrases of all layers, as :class:`PhraseMemory` describes them.

        Args:
            layers: what each layer returned.
            arguments: of :meth:`arguments`.
            encoder: normalises the states of its layers.
        """
        if not self.hands_on:
            return
        phrases = arguments["phrases"]
        vectors = [layer.more for layer in layers]  # of the phrases of its input, P×B×C
        vectors.append(self.top(out["encoder_out"][0], phrases))
        tokens = []
        if self.needs_all_states:  # in the form that a decoder reads, S×B×C each
            norm = encoder.layer_norm
            tokens = [x if norm is None else norm(x) for x in out["encoder_states"]]
        PhraseMemory(vectors, phrases.padding, tokens).put_into(out)
        out["encoder_embedding"] = []  # not read; a search would rearrange it at each step

    def reorder(
        self, before: dict[str, list[Tensor]], after: dict[str, list[Tensor]], order: Tensor
    ) -> None:
        """Rearranges the phrases.

        Args:
            before: what the encoder returned.
            after: its rearranged form.
            order: the row that goes to each place.
        """
        PhraseMemory.reorder(before, after, order)


class DecoderPhrases(TransformerDecoderExtension):
    """Layers that attend to the phrases of the source."""

    option = "--phrase-segmentation"
    reads_source = True

    def __init__(self, options: PhraseOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        self.sizes = phrase_sizes(options, stack.cfg)
        if options.transparent_token_attention:
            self.reads_lower_layers = "--transparent-token-attention"
        self.phrases: TransparentAttention | None = None
        self.tokens: TransparentAttention | None = None

    def build(self, output_dim: int) -> Mapping[str, nn.Module]:
        """The mixtures of all encoder layers' phrases, and of their tokens."""
        cfg = self.stack.cfg
        shape = (cfg.encoder.layers + 1, cfg.decoder.layers, cfg.dropout)
        modules: dict[str, nn.Module] = {}
        if self.options.transparent_attention:
            modules["transparent_phrases"] = self.phrases = TransparentAttention(*shape)
        if self.options.transparent_token_attention:
            modules["transparent_tokens"] = self.tokens = TransparentAttention(*shape)
        return modules

    def layer(
        self, cfg: TransformerConfig, no_encoder_attn: bool, attention: BuildAttention
    ) -> nn.Module:
        """A layer with a phrase sublayer.

        Args:
            cfg: fairseq's options of the Transformer.
            no_encoder_attn: omit the cross-attention.
        """
        return PhraseDecoderLayer(cfg, self.sizes, no_encoder_attn, attention)

    def arguments(
        self,
        layers: Any,
        encoder_out: dict[str, list[Tensor]] | None,
        incremental_state: IncrementalState | None,
    ) -> Iterable[Mapping[str, Any]]:
        """The arguments `phrases`, `phrase_padding` and `tokens` of :class:`PhraseDecoderLayer`: in
        a search once a sentence, as its hypotheses share them.

        Args:
            layers: of the decoder; they cache the projections of phrases in a search.
            encoder_out: of the encoder; not read once they are cached.
        """
        attention: MappedAttention = layers[0].phrase_combination.attention
        if attention.is_cached(incremental_state):
            return [{"phrases": None, "phrase_padding": None}] * len(layers)
        assert encoder_out is not None
        hypotheses = attention.rows_of_a_sentence(incremental_state)
        memory = PhraseMemory.of(encoder_out, hypotheses)
        phrases = [memory.vectors[-1]] * len(layers)
        if self.phrases is not None:
            phrases = list(self.phrases(memory.vectors))
        tokens: list[Tensor | None] = [None] * len(layers)
        if self.tokens is not None:
            tokens = list(self.tokens(memory.tokens))
        return [
            {"phrases": x, "phrase_padding": memory.padding, "tokens": y}
            for x, y in zip(phrases, tokens)
        ]


def phrase_sizes(options: PhraseOptions, cfg: TransformerConfig) -> PhraseSizes:
    """The sizes of the phrase sublayers.

    Args:
        cfg: fairseq's options of the Transformer.

    Raises:
        UserError: options that contradict each other.
    """
    if options.phrase_eos_apart and options.phrase_segmentation == PARSED:
        raise UserError(
            "--phrase-eos-apart is for --phrase-segmentation ngram; with parsed EOS is a phrase of "
            "its own anyway"
        )
    if options.transparent_token_attention and cfg.no_cross_attention:
        raise UserError(
            "--transparent-token-attention is for the source cross-attention, which "
            "--no-cross-attention leaves out"
        )
    refuse_together(
        "--phrase-segmentation", cfg,
        "encoder_layerdrop", "decoder_layerdrop", "cross_self_attention", "base_layers",
    )  # fmt: skip
    check_from_one(options, ["phrase_hidden_dim", "phrase_combine_dim"])
    hidden_dim = options.phrase_hidden_dim or cfg.encoder.embed_dim
    return PhraseSizes(
        summary=options.phrase_summary,
        hidden_dim=hidden_dim if options.phrase_attention else None,
        combine_dim=options.phrase_combine_dim,
        residual_attention=options.phrase_residual_attention,
        literal_sigmoid=options.phrase_literal_sigmoid,
        eos_apart=options.phrase_eos_apart,
    )
