"""Sentences typed into fairseq-interactive or given to the Python interface: stores the strings of
their pieces.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any, Optional

import torch
from fairseq.data import BaseWrapperDataset, LanguagePairDataset
from fairseq.tokenizer import tokenize_line
from torch import Tensor

from syntax_nmt.data.batch import Batch, source_tokens
from syntax_nmt.data.text_fit import CUT_TWICE, SWAPPED, UNCUT, UNKNOWN, TextFit
from syntax_nmt.task.typed_lines import TypedLines

logger = logging.getLogger(__name__)

Pieces = list[str]
PiecesOfBatch = Callable[[Sequence[Sequence[int]]], Sequence[Optional[Pieces]]]
"""Gives the pieces of each sentence of a batch, with the strings of unknown ones, from its unpadded
tokens; None where they are not known."""

_ENOUGH_PIECES = 1000  # the first text decides; later text is assumed to be similar
_ADVICE = {
    CUT_TWICE: "type raw text, or leave --bpe and --tokenizer out",
    UNCUT: "add --bpe, its model and --tokenizer, as `syntax-nmt options --training` prints them",
    UNKNOWN: "give text of that language, segmented as the training text was",
    SWAPPED: "give the other language, or a model of the other direction",
}


class TypedSentences(BaseWrapperDataset):
    """A dataset with the segmented text of its sentences.

    fairseq-interactive reads only the tokens of a batch, and in tokens all unknown pieces are
    equal. So the unpadded tokens are used to find the pieces of a batch. Sentences with the same
    tokens are distinguished by their order in the batch, which does not change.

    Args:
        sentences: fairseq's dataset of the typed sentences.
        segmented: the pieces of each of its sentences.

    Attributes:
        numbers: of the sentences of the last batch.
    """

    def __init__(self, sentences: LanguagePairDataset, segmented: Sequence[Pieces]) -> None:
        super().__init__(sentences)
        self._segmented = segmented
        self._batch: Batch = {}
        self.numbers: list[int] = []

    def collater(self, samples: list[dict], **options: Any) -> Batch:
        """Merges samples to a batch and remembers it until the next one.

        Args:
            samples: items of this dataset.
            **options: as of fairseq's dataset.
        """
        self._batch = self.dataset.collater(samples, **options)
        self.numbers = self._batch["id"].tolist() if self._batch else []
        return self._batch

    def pieces(self, rows: Sequence[Sequence[int]]) -> list[Pieces | None]:
        """The pieces of each sentence of the last batch; None for other sentences.

        Args:
            rows: its unpadded tokens.
        """
        known: dict[tuple[int, ...], list[Pieces]] = {}
        if self._batch:
            last = unpadded(source_tokens(self._batch), self.dataset.src_dict.pad())
            for tokens, index in zip(last, self.numbers):
                known.setdefault(tuple(tokens), []).append(self._segmented[index])
        waiting = {tokens: iter(pieces) for tokens, pieces in known.items()}
        return [next(waiting.get(tuple(tokens), iter(())), None) for tokens in rows]


def unpadded(tokens: Tensor, pad: int) -> list[list[int]]:
    """The tokens of each sentence of a batch, EOS included.

    Args:
        tokens: B×S, padded on either side.
        pad: the padding symbol.
    """
    real = tokens.ne(pad)
    rows = torch.split(tokens[real].cpu(), real.sum(dim=1).tolist())
    return [row.tolist() for row in rows]


class TypedInput:
    """The text typed into a task.

    Args:
        keeps_pieces: whether a parser needs the pieces of the sentences.
        fit: checks whether the text looks like the training text.

    Attributes:
        lines: counts the lines.
        pieces_of_batch: of the current buffer, if a parser needs them.
    """

    def __init__(self, keeps_pieces: bool, fit: TextFit) -> None:
        self.lines = TypedLines()
        self._fit = fit
        self._looked_at: list[tuple[str, Pieces]] | None = []
        self.pieces_of_batch: PiecesOfBatch | None = None
        self._keeps_pieces = keeps_pieces
        self._tokens: list[Tensor] = []
        self._pieces: list[Pieces] = []
        self._sentences: TypedSentences | None = None  # of the current buffer

    def tokens_and_lengths(
        self,
        tokenize: Callable[..., tuple[list[Tensor], list[int]]],
        lines: Sequence[str],
        encode: Callable[[str], str],
    ) -> tuple[list[Tensor], list[int]]:
        """The tokens of typed lines; stores their pieces.

        Args:
            tokenize: of fairseq's own task.
            lines: raw text.
            encode: segments a line into pieces separated by spaces.
        """
        pieces = []

        def remembered(line: str) -> str:
            segmented = encode(line)
            pieces.append(tokenize_line(segmented))
            return segmented

        tokens, lengths = tokenize(lines, remembered)
        self._tokens, self._pieces = tokens, pieces
        self._look_at(lines, pieces)
        return tokens, lengths

    def _look_at(self, lines: Sequence[str], pieces: Sequence[Pieces]) -> None:
        """Warns once of text that does not look like the training text."""
        if self._looked_at is None:
            return
        self._looked_at += zip(lines, pieces)
        seen_lines, seen_pieces = zip(*self._looked_at) if self._looked_at else ((), ())
        problem = self._fit.problem(seen_lines, seen_pieces, _ADVICE)
        if problem is not None:
            logger.warning(f"the input {problem}")
        if problem is not None or sum(map(len, seen_pieces)) > _ENOUGH_PIECES:
            self._looked_at = None

    def with_pieces(
        self, dataset: LanguagePairDataset, src_tokens: list[Tensor]
    ) -> LanguagePairDataset | TypedSentences:
        """The dataset of a buffer, with its pieces.

        The pieces are those of the last :meth:`tokens_and_lengths`, and go with the tokens that it
        returned alone. fairseq collates a batch in this process just before it searches, so that
        the last batch is the one that is searched.

        Args:
            dataset: fairseq's, of `src_tokens`.
        """
        self.pieces_of_batch, self._sentences = None, None
        if src_tokens is not self._tokens:
            return dataset
        self._sentences = TypedSentences(dataset, self._pieces)
        if self._keeps_pieces:
            self.pieces_of_batch = self._sentences.pieces
        return self._sentences

    def numbers_of_batch(self) -> list[int]:
        """The lines of the last batch, from 0 over all buffers, as fairseq-interactive has them."""
        numbers = () if self._sentences is None else self._sentences.numbers
        return [self.lines.before + number for number in numbers]
