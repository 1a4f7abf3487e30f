"""The options of phrase representation, checked, as the numbers that its modules take."""

from __future__ import annotations

from fairseq.models.transformer import TransformerConfig

from syntax_nmt.arguments import flag
from syntax_nmt.errors import UserError
from syntax_nmt.methods.phrases.layers import PhraseSizes
from syntax_nmt.methods.phrases.representation import MAX, MEAN
from syntax_nmt.models.options import NGRAM, PARSED, SyntaxTransformerOptions
from syntax_nmt.option_checks import check_choice, refuse_changed, refuse_together

_OF_PHRASES = (
    "phrase_summary",
    "phrase_attention",
    "transparent_attention",
    "phrase_hidden_dim",
    "phrase_combine_dim",
    "phrase_residual_attention",
    "transparent_token_attention",
    "phrase_literal_sigmoid",
    "phrase_eos_apart",
)


def phrase_sizes(cfg: TransformerConfig, options: SyntaxTransformerOptions) -> PhraseSizes | None:
    """The sizes of the phrase sublayers; None = the model has no phrases.

    Args:
        cfg: fairseq's options of the Transformer.

    Raises:
        UserError: options that contradict each other.
    """
    if options.phrase_segmentation is None:
        refuse_changed(options, _OF_PHRASES, "--phrase-segmentation ngram or parsed")
        return None
    check_choice("phrase_segmentation", options.phrase_segmentation, (NGRAM, PARSED))
    check_choice("phrase_summary", options.phrase_summary, (MAX, MEAN))
    if not options.phrase_attention:
        refuse_changed(options, ["phrase_hidden_dim"], "--phrase-attention")
    if not options.transparent_attention:
        refuse_changed(options, ["transparent_token_attention"], "--transparent-attention")
    if options.phrase_eos_apart and str(options.phrase_segmentation) == PARSED:
        raise UserError(
            "--phrase-eos-apart is for --phrase-segmentation ngram; with parsed EOS is a phrase of "
            "its own anyway"
        )
    if options.transparent_token_attention and cfg.no_cross_attention:
        raise UserError(
            "--transparent-token-attention is for the source cross-attention, which "
            "--no-cross-attention leaves out"
        )
    for side in ("encoder", "decoder"):
        if getattr(cfg, side).layers < 1:
            raise UserError(f"--{side}-layers 0: phrases are attended to in layers; give one")
    for name in ("phrase_hidden_dim", "phrase_combine_dim"):
        width = getattr(options, name)
        if width is not None and width < 1:
            raise UserError(f"{flag(name)} {width}: give a width of at least 1")
    refuse_together(
        "--phrase-segmentation", cfg,
        "encoder_layerdrop", "decoder_layerdrop", "cross_self_attention", "base_layers",
    )  # fmt: skip
    hidden_dim = options.phrase_hidden_dim or cfg.encoder.embed_dim
    return PhraseSizes(
        summary=str(options.phrase_summary),
        hidden_dim=hidden_dim if options.phrase_attention else None,
        combine_dim=options.phrase_combine_dim,
        residual_attention=options.phrase_residual_attention,
        literal_sigmoid=options.phrase_literal_sigmoid,
        eos_apart=options.phrase_eos_apart,
    )
