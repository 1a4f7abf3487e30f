"""Words out of raw text and text out of words, the same at preparation and at inference."""

# No postponed annotations here: fairseq reads those of its configurations at run time.

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Optional

from fairseq.data.encoders import register_tokenizer
from fairseq.dataclass import FairseqDataclass
from sacremoses import MosesDetokenizer, MosesTokenizer

from syntax_nmt.data.text import clean_line, is_english, moses_negations, penn_negations
from syntax_nmt.errors import UserError, one_line_errors

MODES = ("penn", "moses", "none")

_TYPOGRAPHIC_APOSTROPHE = re.compile("(?<=[A-Za-z])’(?=[A-Za-z])")
_RUN_TOGETHER = re.compile(r"\b(can)(not)\b|\b(gon|wan)(na)\b|\b(got)(ta)\b", re.IGNORECASE)
_TAKEN_APART = re.compile(r"\b(can) (not)\b|\b(gon|wan) (na)\b|\b(got) (ta)\b", re.IGNORECASE)


def default_mode(lang: str) -> str:
    """The mode that parsers of a language expect: `penn` for English, else `moses`.

    Args:
        lang: a language code such as `en` or `en_US`.
    """
    return "penn" if is_english(lang) else "moses"


class WordTokenizer:
    """Cuts lines of one language into words separated by single spaces, and joins them again.

    - `moses`: the Moses tokeniser, without escapes (`&apos;`) and without cutting at hyphens.
    - `penn`: English as today's treebanks cut it, which is what parsers are trained on: Moses, then
      `do n't`, `can not`, and hyphens between letters apart, written `@-@` so that they can be
      joined again. Brackets and quotes stay what they are; a typographic apostrophe inside a word
      becomes a plain one.
    - `none`: the words are already separated by spaces.

    Every mode cleans the line first (:func:`~syntax_nmt.data.text.clean_line`); one line in is one
    line out, the empty one included.

    Args:
        mode: one of :data:`MODES`.
        lang: language code; decides abbreviations and apostrophes. Codes unknown to Moses are
            treated by its English rules for abbreviations.

    Raises:
        UserError: for an unknown mode, or `penn` in a language other than English.
    """

    def __init__(self, mode: str, lang: str) -> None:
        if mode not in MODES:
            raise UserError(f"tokenizer '{mode}' is not one of {', '.join(MODES)}")
        if mode == "penn" and not is_english(lang):
            raise UserError(
                f"tokenizer 'penn' is for English and the language is '{lang}': use 'moses', "
                "or 'none' for text that is already cut into words"
            )
        self.mode = mode
        self.lang = lang
        if mode != "none":
            moses_lang = "en" if mode == "penn" else lang
            self._moses = MosesTokenizer(moses_lang)
            self._joiner = MosesDetokenizer(moses_lang)

    def tokenize(self, text: str, counts: Optional[Counter[str]] = None) -> str:
        """The words of one line, separated by single spaces.

        Args:
            text: one line of raw text.
            counts: adds up the characters replaced by cleaning, by kind.
        """
        text = clean_line(text, counts)
        if self.mode == "moses":
            text = self._moses.tokenize(text, return_str=True, escape=False)
        elif self.mode == "penn":
            text = self._penn(text)
        return " ".join(text.split())

    def detokenize(self, words: str) -> str:
        """The text that the words were cut from, as far as the rules can be inverted.

        Args:
            words: one line of words separated by spaces.
        """
        pieces = words.split()
        if self.mode == "none":
            return " ".join(pieces)
        if self.mode == "penn":
            pieces = moses_negations(_TAKEN_APART.sub(_joined, " ".join(pieces)).split())
        return self._joiner.detokenize(pieces, unescape=False)

    def _penn(self, text: str) -> str:
        text = _RUN_TOGETHER.sub(_apart, _TYPOGRAPHIC_APOSTROPHE.sub("'", text))
        words = self._moses.tokenize(text, aggressive_dash_splits=True, escape=False)
        return " ".join(penn_negations(words))


@dataclass
class SyntaxWordsConfig(FairseqDataclass):
    """Options of `--tokenizer syntax_words`: the ones that `syntax-nmt prepare` was given."""

    source_lang: Optional[str] = field(default=None, metadata={"help": "source language"})
    target_lang: Optional[str] = field(default=None, metadata={"help": "target language"})
    source_tokenizer: Optional[str] = field(
        default=None,
        metadata={"help": "penn, moses or none (default: penn for English, else moses)"},
    )
    target_tokenizer: Optional[str] = field(
        default=None,
        metadata={"help": "penn, moses or none (default: penn for English, else moses)"},
    )


@register_tokenizer("syntax_words", dataclass=SyntaxWordsConfig)
class SyntaxWords:
    """fairseq's `--tokenizer syntax_words`: source text to words, target words to text.

    Args:
        cfg: languages and modes of both sides.

    Raises:
        SystemExit: one line, when a language is missing that its mode needs.
    """

    def __init__(self, cfg: SyntaxWordsConfig) -> None:
        with one_line_errors("syntax_nmt"):
            self.source = _configured("source", cfg.source_tokenizer, cfg.source_lang)
            self.target = _configured("target", cfg.target_tokenizer, cfg.target_lang)

    def encode(self, x: str) -> str:
        """The source words of a line, as `syntax-nmt prepare` cut them.

        Args:
            x: one line of raw source text.
        """
        return self.source.tokenize(x)

    def decode(self, x: str) -> str:
        """Target text out of target words.

        Args:
            x: one line of words separated by spaces.
        """
        return self.target.detokenize(x)


def _configured(side: str, mode: Optional[str], lang: Optional[str]) -> WordTokenizer:
    if lang is None and mode != "none":
        raise UserError(
            f"--tokenizer syntax_words does not know the {side} language: "
            f"add --{side}-lang, or --{side}-tokenizer none"
        )
    return WordTokenizer(mode or default_mode(lang or ""), lang or "")


def _apart(match: re.Match[str]) -> str:
    return " ".join(part for part in match.groups() if part)


def _joined(match: re.Match[str]) -> str:
    return "".join(part for part in match.groups() if part)
