"""The options of phrase representation (Xu et al., 2020).

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from syntax_nmt.arguments import Needs, decoder_option, encoder_option
from syntax_nmt.methods.phrases.representation import MAX, MEAN

NGRAM, PARSED = "ngram", "parsed"

_ON = Needs("phrase_segmentation", (NGRAM, PARSED))


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
        _ON,
    )
    phrase_attention: bool = encoder_option(
        False,
        "phrase representation: weight a phrase's tokens by comparing each with the summary, "
        "equations 3 to 5 (the paper's +Attn; default: off; phrase_transformer: on)",
        _ON,
    )
    transparent_attention: bool = decoder_option(
        False,
        "phrase representation: each decoder layer attends to a trained mixture of all "
        "encoder layers' phrases, w of equation 6 (the paper's +TA; default: off, all "
        "attend to the top layer's; phrase_transformer: on)",
        _ON,
    )
    phrase_hidden_dim: Optional[int] = encoder_option(
        None,
        "phrase representation: hidden width of --phrase-attention, rows of W1 "
        "(default: the encoder's width)",
        Needs("phrase_attention"),
    )
    phrase_combine_dim: Optional[int] = encoder_option(
        None,
        "phrase representation: hidden width of the attentive combination, rows of W3 "
        "(default: the FFN width of the side; phrase_transformer: three times "
        "--encoder-embed-dim, which fits the paper's Table 2)",
        _ON,
    )
    phrase_eos_apart: bool = encoder_option(
        False,
        "phrase representation: EOS is a separate phrase also with --phrase-segmentation ngram: a "
        "control for parsed phrases (default: off, EOS ends the last phrase)",
        _ON,
    )
    phrase_literal_sigmoid: bool = encoder_option(
        False,
        "phrase representation: count the sigmoid of equation 8 from 0, as the paper "
        "prints it, and not from its midpoint: the same function but "
        "different training; with --activation-dropout also a different function (default: off)",
        _ON,
    )
    phrase_residual_attention: bool = encoder_option(
        False,
        "phrase representation: the residual around the attentive combination also "
        "adds the attention's output, as the authors' released code does (default: off, x alone)",
        _ON,
    )
    transparent_token_attention: bool = decoder_option(
        False,
        "phrase representation: --transparent-attention also mixes the encoder layers' tokens for "
        "the source cross-attention, with separate weights, as the authors' released code does "
        "(default: off, only phrases)",
        Needs("transparent_attention"),
    )
