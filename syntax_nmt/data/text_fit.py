"""Checks whether text looks like a model's training text, for all programs that read text.

Raw text read as pieces, pieces segmented again, and the other language of a pair can be translated,
aligned and scored like any text: nothing fails, but the figures are wrong.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from fairseq.data import Dictionary, indexed_dataset

from syntax_nmt.data.data_bin import split_prefixes
from syntax_nmt.data.linearised_folder import is_symbol_piece
from syntax_nmt.data.ragged import open_indexed
from syntax_nmt.data.subwords import (
    NO_SUBWORDS,
    OPENER,
    SENTENCEPIECE,
    detect_scheme,
    scheme_of_text,
    vocabulary_scheme,
)

CUT_TWICE, UNCUT, UNKNOWN, SWAPPED = "cut twice", "uncut", "unknown", "swapped"

# Measured on Multi30k, technical documents, Tanaka, Tatoeba, NTREX, five UD treebanks and the
# contrastive pairs, each as input of models of the first four (1,000 to 50,000 pairs): whole texts
# have 0 to 55 % unknown tokens (words; sentencepiece at most 33 %), and a mean log ratio of 0.86 or
# more for their own language, less than −0.86 for the other one. Blocks of 500 tokens have at most
# 39 % (sentencepiece), and −0.17 or more (mail addresses of EWT).
_FEWEST_TOKENS = 500
_UNKNOWN_SHARE = 0.7
_LOG_RATIO = -0.5
# Of the types of two letters or more in a training text, its own sentencepiece model has 98 % or
# more, that of another corpus 0 to 82 % (1,500 and 8,000 pieces).
_KNOWN_TYPES = 0.9
_FEWEST_TYPES = 100
_TRAINING_TOKENS = 1_000_000


class TextFit:
    """Compares text with the vocabularies and the training text of a data-bin folder.

    Args:
        folder: the data-bin folder.
        languages: source and target.
    """

    def __init__(
        self, folder: Path, languages: Sequence[str], dictionaries: Sequence[Dictionary]
    ) -> None:
        self.folder = folder
        self.languages = languages
        self.dictionaries = dictionaries
        self.schemes = [vocabulary_scheme(found) for found in dictionaries]
        self._all_counts: dict[int, np.ndarray | None] = {}

    def problem(
        self,
        lines: Sequence[str],
        pieces: Sequence[Sequence[str]],
        advice: Mapping[str, str],
        target: bool = False,
    ) -> str | None:
        """What is wrong with a text, and what to do; None = no visible error.

        Args:
            lines: before segmentation.
            pieces: the model's pieces of each line.
            advice: what to do about :data:`CUT_TWICE`, :data:`UNCUT`, :data:`UNKNOWN` and
                :data:`SWAPPED`.
            target: whether they are of the target language.
        """
        found = self._problem(lines, pieces, int(target))
        return None if found is None else f"{found[1]}: {advice[found[0]]}"

    def _problem(
        self, lines: Sequence[str], pieces: Sequence[Sequence[str]], side: int
    ) -> tuple[str, str] | None:
        given, vocabulary = scheme_of_text(lines), self.schemes[side]
        was_cut = any(line.split() != list(found) for line, found in zip(lines, pieces))
        if was_cut and given != NO_SUBWORDS:
            return CUT_TWICE, f"is in pieces of {given} already, which were cut again"
        read = [" ".join(found) for found in pieces]
        if vocabulary == SENTENCEPIECE and any(read) and detect_scheme(read) != SENTENCEPIECE:
            return UNCUT, f"is not in pieces of {vocabulary}, as the model's vocabulary is"
        dictionary, language = self.dictionaries[side], self.languages[side]
        ids = np.array([dictionary.index(piece) for found in pieces for piece in found], dtype=int)
        if len(ids) < _FEWEST_TOKENS:
            return None
        unknown = float((ids == dictionary.unk()).mean())
        if unknown > _UNKNOWN_SHARE:
            return UNKNOWN, f"has {unknown:.0%} tokens that the {language} vocabulary does not have"
        if self._log_ratio(ids, side) < _LOG_RATIO:
            return SWAPPED, f"reads like {self.languages[1 - side]} and not like {language}"
        return None

    def _log_ratio(self, ids: np.ndarray, side: int) -> float:
        """Mean of log P(token | own side) − log P(token | other side), in the training text.

        0 where the vocabularies differ, or there is no training text.
        """
        if self.dictionaries[0] != self.dictionaries[1]:
            return 0.0
        own, other = self._counts(side), self._counts(1 - side)
        if own is None or other is None:
            return 0.0
        shares = [np.log((counts + 1) / (counts + 1).sum()) for counts in (own, other)]
        return float((shares[0] - shares[1])[ids].mean())

    def _counts(self, side: int) -> np.ndarray | None:
        """The frequency of each token in the (beginning of the) training text; None = no text."""
        if side not in self._all_counts:
            self._all_counts[side] = None
            source, target = self.languages
            for prefix in split_prefixes(self.folder, "train", source, target, combine=False):
                text = f"{prefix}.{self.languages[side]}"
                if indexed_dataset.infer_dataset_impl(text) != "mmap":
                    continue
                with suppress(ValueError):  # damaged: whatever trains on it says so
                    tokens = open_indexed(text).values[:_TRAINING_TOKENS]
                    counts = np.bincount(tokens, minlength=len(self.dictionaries[side]))
                    self._all_counts[side] = counts.astype(float)
        return self._all_counts[side]

    def other_model(self, pieces: Collection[str]) -> str | None:
        """Evidence that a sentencepiece model did not segment the source; None = none.

        Args:
            pieces: all that the model has.
        """
        counts = self._counts(0)
        if counts is None or self.schemes[0] != SENTENCEPIECE:
            return None
        dictionary, known = self.dictionaries[0], set(pieces)
        seen = [dictionary.symbols[i] for i in np.flatnonzero(counts) if i >= dictionary.nspecial]
        # Single letters: a model omits rare ones. Brackets of linearised text: none has them.
        types = [
            piece
            for piece in seen
            if len(piece.removeprefix(OPENER)) > 1 and not is_symbol_piece(piece)
        ]
        if len(types) < _FEWEST_TYPES:
            return None
        share = sum(piece in known for piece in types) / len(types)
        if share >= _KNOWN_TYPES:
            return None
        return f"has {share:.0%} of the pieces of the {self.languages[0]} training text"
