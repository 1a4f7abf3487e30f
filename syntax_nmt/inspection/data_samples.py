"""Sentences of a data-bin folder drawn with their annotation: trees, phrases, chunks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from syntax_nmt.data.annotation.kind import SegmentedSentence
from syntax_nmt.data.figures.text_figures import TokenFile, row_sums
from syntax_nmt.data.subwords import NO_SUBWORDS, join_pieces, pieces_per_word
from syntax_nmt.data.text_columns import labelled
from syntax_nmt.errors import UserError
from syntax_nmt.inspection.data_inspection import Annotations, InspectedText

_PREFERENCE = ("valid", "test", "train")
_FITS_A_SCREEN = 30  # subwords


def sample_split(texts: Sequence[InspectedText], split: str | None) -> list[InspectedText]:
    """The texts to draw from: the languages of one split, source first.

    Args:
        texts: those of a folder.
        split: its name; None = valid, else test, else train, else the first.

    Raises:
        UserError: there is no such split.
    """
    there = list(dict.fromkeys(text.name.split for text in texts))
    if split is None:
        split = next((name for name in _PREFERENCE if name in there), there[0] if there else "")
    elif split not in there:
        raise UserError(f"--split {split}: the folder has {', '.join(there) or 'none to draw'}")
    chosen = [text for text in texts if text.name.split == split]
    return [text for text in chosen if text.name.pair == chosen[0].name.pair]


@dataclass(frozen=True)
class OpenText:
    """One language of a split, its files open.

    Attributes:
        text: what is known about it.
        tokens: its ids.
        annotations: its sound annotation files.
    """

    text: InspectedText
    tokens: TokenFile
    annotations: Annotations


def draw_samples(texts: Sequence[InspectedText], number: int, seed: int) -> str:
    """Some sentences, drawn; the same ones for the same seed.

    Args:
        texts: the languages of one split.
        number: how many; fewer where there are fewer that are not empty.
    """
    opened = [OpenText(text, *text.open()) for text in texts]
    rows = choose_rows(opened, number, seed)
    return "\n".join(_sample(opened, row) for row in rows)


def choose_rows(texts: Sequence[OpenText], number: int, seed: int) -> list[int]:
    """Sentences at random that are not empty in any language.

    Those that are annotated, short and without unknown subwords are preferred.

    Args:
        texts: the languages of one split.
        number: how many; fewer where there are fewer.

    Returns:
        their positions, counted from 0, in order.
    """
    length = min((len(text.tokens) for text in texts), default=0)
    filled = np.ones(length, dtype=bool)
    lacking = np.zeros(length, dtype=np.int64)
    for text in texts:
        sizes = text.tokens.sizes[:length] - 1
        filled &= sizes > 0
        lacking += sizes > _FITS_A_SCREEN
        lacking += _with_unknown(text)[:length]
        for annotation in text.annotations.values():
            lacking += ~annotation.rows.block(0, length).annotated
    rows = np.random.default_rng(seed).permutation(np.flatnonzero(filled))
    best = rows[np.argsort(lacking[rows], kind="stable")][:number]
    return sorted(best.tolist())


def _with_unknown(opened: OpenText) -> np.ndarray:
    """Which sentences have unknown subwords, (sentences,) bool."""
    unknown = opened.text.dictionary.unk()
    blocks = opened.tokens.blocks()
    return np.concatenate(
        [row_sums(block.values == unknown, block.sizes) > 0 for block in blocks]
        or [np.zeros(0, dtype=bool)]
    )


def _sample(texts: Sequence[OpenText], row: int) -> str:
    lines = [f"{texts[0].text.name.split}, sentence {row + 1}"]
    for text in texts:
        lines += _drawn_text(text, row)
    return "".join(f"{line}\n" for line in lines)


def _drawn_text(opened: OpenText, row: int) -> list[str]:
    """One language of a sentence: its words, and what is known about them."""
    text = opened.text
    sentence = _segmented(text, opened.tokens.tokens(row))
    lines = labelled(text.name.language, sentence.words)
    for kind, annotation in opened.annotations.items():
        if not annotation.rows.block(row, 1).annotated[0]:
            lines += labelled(kind.name, ["not annotated"])
        else:
            lines += kind.show(annotation.rows[row], sentence, annotation.labels)
    return lines


def _segmented(text: InspectedText, tokens: np.ndarray) -> SegmentedSentence:
    """A sentence and its words; pieces stand for words that are not known."""
    pieces = [text.dictionary[token] for token in tokens[:-1].tolist()]
    words, counts = pieces, [1] * len(pieces)
    if text.scheme == NO_SUBWORDS or text.dictionary.unk() not in tokens:
        try:
            counts = pieces_per_word(pieces, text.scheme, str(text.name))
            words = [word or "_" for word in join_pieces(pieces, counts, text.scheme)]
        except UserError:  # a piece reaches over a word's end, which the inspection warns of
            pass
    return SegmentedSentence(pieces, words, counts, text.scheme)
