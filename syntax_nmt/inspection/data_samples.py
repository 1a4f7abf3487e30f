"""Sentences of a data-bin folder drawn with their side information: trees, phrases, chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from syntax_nmt.data.chunks import OUTSIDE
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.side_information import SideInformation
from syntax_nmt.data.subwords import NO_SUBWORDS, join_pieces, pieces_per_word
from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.dependencies.draw_tree import display_width, draw_tree
from syntax_nmt.evaluation.trained_model.source_text import SourceText
from syntax_nmt.inspection.data_inspection import InspectedText
from syntax_nmt.inspection.text_figures import row_sums
from syntax_nmt.inspection.token_file import TokenFile
from syntax_nmt.inspection.word_trees import lift_heads

_PREFERENCE = ("valid", "test", "train")
_FITS_A_SCREEN = 30  # subwords
_WIDTH = 100


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
        sides: its sound side files by kind.
    """

    text: InspectedText
    tokens: TokenFile
    sides: Mapping[str, SideInformation]


def draw_samples(texts: Sequence[InspectedText], number: int, seed: int) -> str:
    """Some sentences, drawn; the same ones for the same seed.

    Args:
        texts: the languages of one split.
        number: how many; fewer where there are fewer that are not empty.
        seed: of the choice.
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
        seed: of the choice.

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
        for side in text.sides.values():
            lacking += side.rows.bounds[:length, 1] < 0
    rows = np.random.default_rng(seed).permutation(np.flatnonzero(filled))
    best = rows[np.argsort(lacking[rows], kind="stable")][:number]
    return sorted(best.tolist())


def _with_unknown(opened: OpenText) -> np.ndarray:
    """Which sentences have unknown subwords, (sentences,) bool."""
    unknown = opened.text.dictionary.unk()
    blocks = opened.tokens.blocks()
    return np.concatenate(
        [row_sums(block.tokens == unknown, block.sizes) > 0 for block in blocks]
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
    tokens = opened.tokens.tokens(row)
    pieces = [text.dictionary[token] for token in tokens[:-1].tolist()]
    words, counts = _words(text, tokens, pieces)
    lines = _labelled(text.name.language, words)
    for kind, side in opened.sides.items():
        values = side.rows[row]
        if side.rows.bounds[row, 1] < 0:
            lines += _labelled(kind, ["not annotated"])
        elif kind == "heads":
            tree = _tree(values, pieces, words, counts)
            drawn = ["not a tree"] if tree is None else draw_tree(tree).splitlines()
            lines += [f"    {line}" for line in drawn]
        elif kind == "phrases":
            ends = np.cumsum(values)
            spans = zip((ends - values).tolist(), ends.tolist())
            lines += _labelled(kind, [f"[{_joined(text, pieces[a:b])}]" for a, b in spans])
        else:
            lines += _labelled(kind, _chunks(text, pieces, values, side.tags))
    return lines


def _words(
    text: InspectedText, tokens: np.ndarray, pieces: Sequence[str]
) -> tuple[Sequence[str], Sequence[int]]:
    """The words and the number of pieces of each; pieces stand for words that are not known."""
    if text.scheme != NO_SUBWORDS and text.dictionary.unk() in tokens:
        return pieces, [1] * len(pieces)
    ids = [torch.from_numpy(tokens)]
    try:
        sentence = SourceText(str(text.name), ids, text.dictionary, None, text.scheme)[0]
    except UserError:  # a piece reaches over a word's end, which the inspection warns of
        return pieces, [1] * len(pieces)
    return sentence.words, sentence.pieces


def _tree(
    heads: np.ndarray, pieces: Sequence[str], words: Sequence[str], counts: Sequence[int]
) -> DependencyTree | None:
    """The tree over words; over subwords where heads do not follow the words; None = no tree."""
    if not ((heads >= 0) & (heads < len(heads))).all():
        return None
    opens = np.zeros(len(heads), dtype=bool)
    opens[np.cumsum(counts) - counts] = True
    trees, follows = lift_heads(heads, np.array([len(heads)]), opens)
    if not follows[0]:
        words = pieces
        trees, _ = lift_heads(heads, np.array([len(heads)]), np.ones_like(opens))
    if not trees.depths()[1][0]:
        return None
    unnamed = ("_",) * len(words)
    return DependencyTree(tuple(words), tuple(trees.parents.tolist()), unnamed, unnamed)


def _chunks(
    text: InspectedText, pieces: Sequence[str], ids: np.ndarray, tags: Sequence[str]
) -> list[str]:
    """`[NP the old man] [VP saw] .`"""
    starts = np.flatnonzero(ids)
    drawn = []
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(ids)]):
        number = int(ids[start])
        tag = tags[number - 1] if 0 < number <= len(tags) else f"?{number}"
        words = _joined(text, pieces[start:end])
        drawn.append(words if tag == OUTSIDE else f"[{tag} {words}]")
    return drawn


def _joined(text: InspectedText, pieces: Sequence[str]) -> str:
    """The words of some pieces."""
    try:
        counts = pieces_per_word(pieces, text.scheme, str(text.name))
    except UserError:
        return " ".join(pieces)
    return " ".join(join_pieces(pieces, counts, text.scheme))


def _labelled(label: str, parts: Sequence[str]) -> list[str]:
    """A label and what it is about, on as many lines as it takes."""
    margin = max(8, display_width(label)) + 2
    lines = [label + " " * (margin - display_width(label))]
    for part in parts:
        if len(lines[-1]) > margin and display_width(lines[-1]) + display_width(part) > _WIDTH - 2:
            lines.append(" " * margin)
        lines[-1] += part + " "
    return [f"  {line.rstrip()}" for line in lines]
