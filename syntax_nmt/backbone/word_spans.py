"""The words of a batch of subwords, for modules that work on words."""

from typing import NamedTuple

import torch
from fairseq.data import Dictionary
from torch import Tensor, nn

from syntax_nmt.data.subwords import SENTENCEPIECE, SUBWORD_NMT, piece_marks, vocabulary_scheme


class Spans(NamedTuple):
    """The columns of the first and the last subword of each token's word, B×S each.

    EOS and pads are words of one subword.
    """

    first: Tensor
    last: Tensor


class WordSpans(nn.Module):
    """Finds words in token ids by the marks of sentencepiece or subword-nmt.

    It follows the rules of :func:`~syntax_nmt.data.subwords.pieces_per_word`. An unknown piece has
    lost its mark: it belongs to the word before it (sentencepiece), or ends its own (subword-nmt).

    Args:
        dictionary: of the side of the tokens; its marks give the scheme.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        super().__init__()
        self.scheme = vocabulary_scheme(dictionary)
        self.pad, self.eos = dictionary.pad(), dictionary.eos()
        marks = piece_marks(dictionary.symbols)
        for name in ("marked", "filled", "continued"):
            self.register_buffer(name, torch.from_numpy(getattr(marks, name)), persistent=False)

    marked: Tensor
    filled: Tensor
    continued: Tensor

    def extra_repr(self) -> str:
        """The scheme."""
        return self.scheme

    def openers(self, tokens: Tensor) -> Tensor:
        """True where a token begins a word, as EOS and every pad do, B×S.

        Args:
            tokens: B×S, padded on either side.
        """
        apart = tokens.eq(self.pad) | tokens.eq(self.eos)
        starts = apart | apart.roll(1, 1)
        starts[:, 0] = True
        before = tokens.roll(1, 1)
        if self.scheme == SUBWORD_NMT:
            return starts | ~self.continued[before]
        if self.scheme != SENTENCEPIECE:
            return torch.ones_like(apart)
        # A lone ▁ begins a word that the next piece continues, marked or not.
        opens = starts | (self.marked[tokens] & self.filled[before])
        # At the end of a sentence it begins no word, and belongs to the previous word.
        ends = ~apart & apart.roll(-1, 1)
        ends[:, -1] = ~apart[:, -1]
        lone = torch.where(ends & ~self.filled[tokens], _first(opens), -1)
        columns = torch.arange(tokens.size(1), device=tokens.device)
        return starts | (opens & columns.ne(lone.amax(1, keepdim=True)))

    def forward(self, tokens: Tensor) -> Spans:
        """The spans of the words.

        Args:
            tokens: B×S, padded on either side.
        """
        opens = self.openers(tokens)
        length = tokens.size(1)
        columns = torch.arange(length, device=tokens.device)
        next_openers = torch.where(opens, columns, length).roll(-1, 1)
        next_openers[:, -1] = length
        last = next_openers.flip(1).cummin(1).values.flip(1) - 1
        return Spans(_first(opens), last)


def _first(opens: Tensor) -> Tensor:
    """The column of the last word start up to each column, B×S."""
    columns = torch.arange(opens.size(1), device=opens.device)
    return torch.where(opens, columns, 0).cummax(1).values
