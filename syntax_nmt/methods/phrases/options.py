"""The options of phrase representation (Xu et al., 2020), and the sizes derived from them.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.models.transformer import TransformerConfig

from syntax_nmt.arguments import decoder_option, encoder_option
from syntax_nmt.errors import UserError
from syntax_nmt.methods.phrases.layers import PhraseSizes
from syntax_nmt.methods.phrases.representation import MAX, MEAN
from syntax_nmt.option_checks import check_choice, refuse_changed, refuse_together

NGRAM, PARSED = "ngram", "parsed"
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


@dataclass
class PhraseOptions(FairseqDataclass):
    """Phrases and the sublayers that use them; off by default."""

    phrase_segmentation: Optional[ChoiceEnum([NGRAM, PARSED])] = encoder_option(  # type: ignore[valid-type]
        None,
        "phrase representation (Xu et al., 2020): every layer also attends to the source's "
        "phrases; they are n-grams of max(min(8, length/6), 3) tokens (ngram) or phrases of "
        "constituency trees by the paper's Algorithm 1 (parsed, with --load-phrases) (default: no "
        "phrases; phrase_transformer: ngram)",
    )
    phrase_summary: ChoiceEnum([MAX, MEAN]) = encoder_option(  # type: ignore[valid-type]
        MAX,
        "phrase representation: F_glance of equation 2, the element-wise maximum or "
        "mean of a phrase's tokens; without --phrase-attention it is the phrase's vector "
        "(default: max)",
    )
    phrase_attention: bool = encoder_option(
        False,
        "phrase representation: weight a phrase's tokens by comparing each with the summary, "
        "equations 3 to 5 (the paper's +Attn; default: off; phrase_transformer: on)",
    )
    transparent_attention: bool = decoder_option(
        False,
        "phrase representation: each decoder layer attends to a trained mixture of all "
        "encoder layers' phrases, w of equation 6 (the paper's +TA; default: off, all "
        "attend to the top layer's; phrase_transformer: on)",
    )
    phrase_hidden_dim: Optional[int] = encoder_option(
        None,
        "phrase representation: hidden width of --phrase-attention, rows of W1 "
        "(default: the encoder's width)",
    )
    phrase_combine_dim: Optional[int] = encoder_option(
        None,
        "phrase representation: hidden width of the attentive combination, rows of W3 "
        "(default: the FFN width of the side; phrase_transformer: three times "
        "--encoder-embed-dim, which fits the paper's Table 2)",
    )
    phrase_eos_apart: bool = encoder_option(
        False,
        "phrase representation: EOS is a separate phrase also with --phrase-segmentation ngram: a "
        "control for parsed phrases (default: off, EOS ends the last phrase)",
    )
    phrase_literal_sigmoid: bool = encoder_option(
        False,
        "phrase representation: count the sigmoid of equation 8 from 0, as the paper "
        "prints it, and not from its midpoint: the same function but "
        "different training; with --activation-dropout also a different function (default: off)",
    )
    phrase_residual_attention: bool = encoder_option(
        False,
        "phrase representation: the residual around the attentive combination also "
        "adds the attention's output, as the authors' released code does (default: off, x alone)",
    )
    transparent_token_attention: bool = decoder_option(
        False,
        "phrase representation: --transparent-attention also mixes the encoder layers' tokens for "
        "the source cross-attention, with separate weights, as the authors' released code does "
        "(default: off, only phrases)",
    )


def phrase_sizes(cfg: TransformerConfig, options: PhraseOptions) -> Optional[PhraseSizes]:
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
