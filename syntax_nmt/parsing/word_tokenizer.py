"""Splits raw text into words and joins words to text, in preparation and at inference."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from syntax_nmt.data.text_files import checksum
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.stanza.segmenter import find_segmenter, loaded_segmenter
from syntax_nmt.text.cleaning import MODES, clean_line, moses_negations, penn_negations
from syntax_nmt.text.graphemes import keep_characters_whole
from syntax_nmt.text.languages import is_english
from syntax_nmt.text.unspaced import is_unspaced, join_characters, split_characters

RULES = 2  # of Moses; increased when the same text gives other words
DEFAULT_MODES = "penn for English, char for languages written without spaces, else moses"

_TYPOGRAPHIC_APOSTROPHE = re.compile("(?<=[A-Za-z])’(?=[A-Za-z])")
_RUN_TOGETHER = re.compile(r"\b(can)(not)\b|\b(gon|wan)(na)\b|\b(got)(ta)\b", re.IGNORECASE)
_TAKEN_APART = re.compile(r"\b(can) (not)\b|\b(gon|wan) (na)\b|\b(got) (ta)\b", re.IGNORECASE)


def default_mode(lang: str) -> str:
    """The default mode for raw text in a language: see :data:`DEFAULT_MODES`.

    Args:
        lang: a language code such as `en` or `en_US`.
    """
    if is_english(lang):
        return "penn"
    return "char" if is_unspaced(lang) else "moses"


class WordTokenizer:
    """Splits lines of one language into words separated by single spaces, and joins them again.

    - `moses`: the Moses tokeniser, without escapes (`&apos;`) and without splitting at hyphens.
    - `penn`: English in the tokenisation of current treebanks, on which parsers are trained: Moses,
      then `do n't`, `can not`, and separate hyphens between letters, written `@-@` so that they can
      be joined again. Brackets and quotes do not change; a typographic apostrophe inside a word
      becomes a plain one.
    - `char`: for languages without spaces; each of their characters is a word, words of other
      scripts stay whole (:func:`~syntax_nmt.text.unspaced.split_characters`).
    - `stanza`: the words that a tokeniser model of Stanza finds; multiword tokens stay one word.
    - `none`: the words are already separated by spaces.

    Every mode cleans the line first (:func:`~syntax_nmt.text.cleaning.clean_line`) and then changes
    only spaces, except for the two rules of `penn`. Every input line gives one output line, also an
    empty one. A line that Moses would change, or on which Stanza fails, is tokenised as by `char`.

    Args:
        mode: one of :data:`MODES`.
        lang: language code; decides abbreviations and apostrophes, and how words are joined.
        segmenter: for `stanza`, the model's file or a folder in Stanza's own layout; by default
            Stanza's own folder. It is looked for when :meth:`check` or the first line needs it.

    Raises:
        UserError: for an unknown mode, `penn` in a language other than English, or a segmenter
            for another mode than `stanza`.
    """

    def __init__(self, mode: str, lang: str, segmenter: Path | None = None) -> None:
        if mode not in MODES:
            raise UserError(f"tokenizer '{mode}' is not one of {', '.join(MODES)}")
        if mode == "penn" and not is_english(lang):
            raise UserError(
                f"tokenizer 'penn' is for English and the language is '{lang}': use 'moses', "
                "or 'none' for text that is already split into words"
            )
        if segmenter is not None and mode != "stanza":
            raise UserError(f"segmenter {segmenter} is for tokenizer 'stanza', not for '{mode}'")
        self.mode = mode
        self.lang = lang
        self._segmenter = segmenter
        self._joins_characters = mode == "char" or (mode == "stanza" and is_unspaced(lang))
        if mode != "none" and not self._joins_characters:
            from syntax_nmt.text.moses import MosesWords

            self._moses = MosesWords(lang)

    def check(self) -> None:
        """Checks before long work that the tokeniser's model exists.

        Raises:
            UserError: the model of mode `stanza` is missing, does not load, or is of another
                language.
        """
        if self.mode == "stanza":
            loaded_segmenter(self.lang, find_segmenter(self.lang, self._segmenter))

    def fingerprint(self) -> list[str]:
        """The settings of the tokenisation: mode, language, rules, checksum of the model.

        Raises:
            UserError: the model of mode `stanza` is missing.
        """
        if self.mode in ("moses", "penn"):
            return [self.mode, self.lang, f"rules {RULES}"]
        if self.mode != "stanza":
            return [self.mode, self.lang]
        return [self.mode, self.lang, checksum(find_segmenter(self.lang, self._segmenter))]

    def tokenize(self, text: str, counts: Counter[str] | None = None) -> str:
        """The words of one line, separated by single spaces.

        Args:
            text: one line of raw text.
            counts: as of :meth:`tokenize_lines`.
        """
        return self.tokenize_lines([text], counts)[0]

    def tokenize_lines(self, lines: Iterable[str], counts: Counter[str] | None = None) -> list[str]:
        """The words of each line, separated by single spaces; as many lines as come in.

        Args:
            lines: raw text. Mode `stanza` is fast for many lines at a time; the result is the same
                line by line.
            counts: adds up characters replaced by cleaning, by kind; `apostrophe`: those made
                plain by mode `penn`; `fallback`: lines tokenised in mode `char` in place of the
                tokeniser's own.
        """
        cleaned = [self._plain(clean_line(line, counts), counts) for line in lines]
        tokenized = []
        for text, words in zip(cleaned, self._words(cleaned)):
            if words is None:
                words = split_characters(text)
                if counts is not None:
                    counts["fallback"] += 1
            if self.mode != "none":
                words = keep_characters_whole(words, text)
            if self.mode == "penn":
                words = penn_negations(words)
            tokenized.append(" ".join(words))
        return tokenized

    def detokenize(self, words: str) -> str:
        """The text that the words were made from, as far as the rules can be inverted.

        Args:
            words: one line of words separated by spaces.
        """
        pieces = words.split()
        if self.mode == "none":
            return " ".join(pieces)
        if self._joins_characters:
            return join_characters(pieces)
        if is_english(self.lang) and self.mode != "moses":
            pieces = moses_negations(_TAKEN_APART.sub(_joined, " ".join(pieces)).split())
        return self._moses.join(pieces)

    def _words(self, lines: Sequence[str]) -> Iterable[list[str] | None]:
        """The words of each cleaned line; None where the tokeniser fails."""
        if self.mode == "none":
            return (text.split() for text in lines)
        if self.mode == "char":
            return map(split_characters, lines)
        if self.mode == "moses":
            return map(self._moses.tokenise, lines)
        if self.mode == "penn":
            return map(self._penn, lines)
        model = find_segmenter(self.lang, self._segmenter)
        return loaded_segmenter(self.lang, model).segment(lines)

    def _plain(self, text: str, counts: Counter[str] | None) -> str:
        """The line with the apostrophes that the mode's words have."""
        if self.mode != "penn":
            return text
        text, replaced = _TYPOGRAPHIC_APOSTROPHE.subn("'", text)
        if replaced and counts is not None:
            counts["apostrophe"] += replaced
        return text

    def _penn(self, text: str) -> list[str] | None:
        return self._moses.tokenise(_RUN_TOGETHER.sub(_apart, text), hyphens_apart=True)


def _apart(match: re.Match[str]) -> str:
    return " ".join(part for part in match.groups() if part)


def _joined(match: re.Match[str]) -> str:
    return "".join(part for part in match.groups() if part)
