"""The options of phrase representation, checked, as the numbers that its modules take."""

from __future__ import annotations

from fairseq.models.transformer import TransformerConfig

from syntax_nmt.errors import UserError
from syntax_nmt.models.options import NGRAM, PARSED, SyntaxTransformerOptions
from syntax_nmt.models.phrase_layers import PhraseSizes
from syntax_nmt.modules.phrase_representation import MAX, MEAN

_WITHOUT_SEGMENTATION = (
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
        for name in _WITHOUT_SEGMENTATION:
            if getattr(options, name):
                raise UserError(f"{_flag(name)} needs --phrase-segmentation ngram or parsed")
        return None
    for name, choices in (
        ("phrase_segmentation", (NGRAM, PARSED)),
        ("phrase_summary", (MAX, MEAN)),
    ):
        value = str(getattr(options, name))
        if value not in choices:  # which a YAML of fairseq-hydra-train may say
            raise UserError(f"{_flag(name)} {value}: choose {' or '.join(choices)}")
    for name, needed in (
        ("phrase_hidden_dim", "phrase_attention"),
        ("transparent_token_attention", "transparent_attention"),
    ):
        if getattr(options, name) and not getattr(options, needed):
            raise UserError(f"{_flag(name)} needs {_flag(needed)}")
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
    for name in ("phrase_hidden_dim", "phrase_combine_dim"):
        width = getattr(options, name)
        if width is not None and width < 1:
            raise UserError(f"{_flag(name)} {width}: give a width of at least 1")
    for flag, used in (
        ("--encoder-layerdrop", cfg.encoder.layerdrop > 0),
        ("--decoder-layerdrop", cfg.decoder.layerdrop > 0),
        ("--cross-self-attention", cfg.cross_self_attention),
        ("--base-layers", bool(cfg.base_layers)),
    ):
        if used:
            raise UserError(f"--phrase-segmentation cannot be combined with {flag}")
    hidden_dim = options.phrase_hidden_dim or cfg.encoder.embed_dim
    return PhraseSizes(
        summary=str(options.phrase_summary),
        hidden_dim=hidden_dim if options.phrase_attention else None,
        combine_dim=options.phrase_combine_dim,
        residual_attention=options.phrase_residual_attention,
        literal_sigmoid=options.phrase_literal_sigmoid,
        eos_apart=options.phrase_eos_apart,
    )


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
