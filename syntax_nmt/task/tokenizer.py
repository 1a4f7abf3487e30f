"""fairseq's `--tokenizer syntax_words`, and checks of `--bpe sentencepiece`."""

# No postponed annotations here: fairseq reads those of its configurations at run time.

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from fairseq.data.encoders import register_tokenizer
from fairseq.dataclass import FairseqDataclass
from fairseq.file_io import PathManager

from syntax_nmt.arguments import option
from syntax_nmt.data.text_fit import TextFit
from syntax_nmt.errors import UserError, exits_in_fairseq_programs
from syntax_nmt.parsing.word_tokenizer import DEFAULT_MODES, WordTokenizer, default_mode
from syntax_nmt.text.cleaning import MODES

logger = logging.getLogger(__name__)


@dataclass
class SyntaxWordsConfig(FairseqDataclass):
    """Options of `--tokenizer syntax_words`: the same as for `syntax-nmt prepare`."""

    source_lang: Optional[str] = option(None, "source language")
    target_lang: Optional[str] = option(None, "target language")
    source_tokenizer: Optional[str] = option(None, f"{', '.join(MODES)} (default: {DEFAULT_MODES})")
    target_tokenizer: Optional[str] = option(None, f"{', '.join(MODES)} (default: {DEFAULT_MODES})")
    source_segmenter: Optional[str] = option(
        None,
        "for --source-tokenizer stanza: the tokeniser model's file, or a folder in "
        "Stanza's own layout (default: Stanza's own folder)",
    )
    target_segmenter: Optional[str] = option(
        None,
        "for --target-tokenizer stanza: as for the source; the model may "
        "be missing, because joining target words does not need it",
    )


@register_tokenizer("syntax_words", dataclass=SyntaxWordsConfig)
class SyntaxWords:
    """fairseq's `--tokenizer syntax_words`: source text to words, target words to text.

    Args:
        cfg: languages, modes and models of both sides.

    Raises:
        UserError: a language or a model that its mode needs is missing.
    """

    def __init__(self, cfg: SyntaxWordsConfig) -> None:
        with exits_in_fairseq_programs():
            self.source = _configured(
                "source", cfg.source_tokenizer, cfg.source_lang, cfg.source_segmenter
            )
            self.target = _configured(
                "target", cfg.target_tokenizer, cfg.target_lang, cfg.target_segmenter
            )
            self.source.check()

    def encode(self, x: str) -> str:
        """The source words of a line, tokenised as by `syntax-nmt prepare`.

        Args:
            x: one line of raw source text.
        """
        return self.source.tokenize(x)

    def decode(self, x: str) -> str:
        """Joins target words to text.

        Args:
            x: one line of words separated by spaces.
        """
        return self.target.detokenize(x)


def _configured(
    side: str, mode: Optional[str], lang: Optional[str], segmenter: Optional[str]
) -> WordTokenizer:
    if lang is None and mode not in ("char", "none"):
        raise UserError(
            f"--tokenizer syntax_words does not know the {side} language: "
            f"add --{side}-lang, or --{side}-tokenizer none"
        )
    path = None if segmenter is None else Path(segmenter)
    return WordTokenizer(mode or default_mode(lang or ""), lang or "", path)


def check_sentencepiece_file(args: Any) -> None:
    """Looks for the file of `--sentencepiece-model` before fairseq does.

    Args:
        args: fairseq's options of the subwords, or None.

    Raises:
        UserError: there is none.
    """
    named = getattr(args, "sentencepiece_model", None)
    if named is not None and not PathManager.isfile(named):
        raise UserError(f"--sentencepiece-model {named}: no such file")


def warn_of_other_sentencepiece(bpe: Any, args: Any, fit: TextFit) -> None:
    """Warns if the sentencepiece model is not that of the data folder.

    Args:
        bpe: fairseq's subwords of any kind, or None.
        args: fairseq's options of them.
        fit: the statistics of the folder's text.
    """
    model = getattr(bpe, "sp", None)
    if model is None:
        return
    other = fit.other_model(frozenset(map(model.id_to_piece, range(model.get_piece_size()))))
    if other is not None:
        logger.warning(
            f"--sentencepiece-model {args.sentencepiece_model} {other}: give the model that the "
            f"text of {fit.folder} was cut with"
        )
