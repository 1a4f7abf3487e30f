"""A sentence and its translation, in pieces and in words, with the model that reads them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from syntax_nmt.commands.plots.sentence_choice import add_sentence_argument, chosen
from syntax_nmt.commands.shared.forcing import add_forcing_arguments, segmentation_of
from syntax_nmt.commands.shared.models import (
    add_model_arguments,
    add_subwords_argument,
    model_files,
    scheme_of,
)
from syntax_nmt.data.subwords import OPENER, detect_scheme, join_pieces, pieces_per_word
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.parallel_text import TokenPair
from syntax_nmt.text.joints import plain_hyphen, plain_hyphens

if TYPE_CHECKING:  # help starts without matplotlib and torch
    from syntax_nmt.inference.forced_decoding import ForcedDecoder


@dataclass(frozen=True)
class Side:
    """One side of the pair.

    Attributes:
        tokens: its pieces.
        counts: the number of pieces of each word.
        words: its words.
        name: file and line, for messages.
    """

    tokens: tuple[str, ...]
    counts: tuple[int, ...]
    words: tuple[str, ...]
    name: str

    @property
    def opens_word(self) -> list[bool]:
        """For each piece whether it is the first of its word."""
        return [place == 0 for count in self.counts for place in range(count)]

    def labels(self, in_words: bool = False) -> list[str]:
        """Its pieces or words as pictures show them.

        Marks of subwords are left out; `·` stands before a piece that goes on a word, and `-` for
        the `@-@` of Moses.
        """
        if in_words:
            return list(plain_hyphens(self.words))
        bare = [token.removeprefix(OPENER).removesuffix("@@") or token for token in self.tokens]
        return [
            plain_hyphen(piece) if opens else f"·{piece}"
            for piece, opens in zip(bare, self.opens_word)
        ]


@dataclass(frozen=True)
class ModelSentence:
    """A pair and its model.

    Attributes:
        decoder: the model.
        source: the sentence.
        target: its translation; without pieces where none is given.
    """

    decoder: ForcedDecoder
    source: Side
    target: Side

    @property
    def pair(self) -> TokenPair:
        """What the model reads."""
        return TokenPair(self.source.tokens, self.target.tokens)


def add_model_sentence_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the model, the text, and how it is segmented."""
    add = parser.add_argument
    add_model_arguments(parser, needed=True)
    add("--source", metavar="FILE", required=True, help="sentences, one a line")
    add("--target", metavar="FILE", help="their translations, which the model is forced to")
    add_sentence_argument(parser)
    add_subwords_argument(parser)
    add_forcing_arguments(parser, batches=False)


def model_sentence(args: argparse.Namespace) -> ModelSentence:
    """Loads the model and takes the sentence.

    Raises:
        UserError: options, the model or the files cannot be used, or the sentence is too long.
    """
    from syntax_nmt.inference.forced_model import ForcedModel

    model = ForcedModel.load(model_files(args), segmentation_of(args))
    pairs = model.pairs(args.source, args.target)
    pair = chosen(pairs, args.sentence, args.source)
    if not pair.source:
        raise UserError(f"{args.source}:{args.sentence}: no words: choose another --sentence")
    if not model.decoder.fits(pair):
        raise UserError(
            f"{args.source}:{args.sentence}: too long for the model, with {len(pair.source)} "
            f"pieces and {len(pair.target)} of the translation: choose another --sentence"
        )
    schemes = model.schemes(scheme_of(args))
    files = [f"{path}:{args.sentence}" for path in (args.source, args.target)]
    source = _side(pair.source, [each.source for each in pairs], schemes[0], files[0])
    target = _side(pair.target, [each.target for each in pairs], schemes[1], files[1])
    return ModelSentence(model.decoder, source, target)


def chosen_heads(head: int | None, heads: int) -> Sequence[int]:
    """The one of `--head`, or all of a layer.

    Raises:
        UserError: the layer has no such head.
    """
    if head is None:
        return range(heads)
    if head >= heads:
        raise UserError(f"--head {head}: the layer has {heads} heads, 0 to {heads - 1}")
    return [head]


def _side(
    tokens: tuple[str, ...], corpus: Sequence[tuple[str, ...]], scheme: str | None, name: str
) -> Side:
    scheme = scheme or detect_scheme(" ".join(pieces) for pieces in corpus)
    counts = pieces_per_word(tokens, scheme, name)
    words = join_pieces(tokens, counts, scheme)
    return Side(tokens, tuple(counts), tuple(word or "_" for word in words), name)
