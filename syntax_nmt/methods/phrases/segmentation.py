"""Which token of a padded batch belongs to which phrase (Xu et al., 2020, section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from syntax_nmt.data.phrases import phrase_limit
from syntax_nmt.errors import UserError


@dataclass(frozen=True)
class PhraseBatch:
    """The phrases of a batch of sentences, which may be padded on either side.

    P is at least the largest number of phrases in a sentence.

    Attributes:
        lengths: tokens of each phrase from left to right, B×P; 0 = no phrase.
        padding: B×P, True = no phrase.
        index: the phrase of each token, B×S; any phrase of the sentence for a pad.
        members: B×P×S, True = the token belongs to the phrase.
        token_padding: B×S, True = pad.
    """

    lengths: Tensor
    padding: Tensor
    index: Tensor
    members: Tensor
    token_padding: Tensor

    @classmethod
    def of_lengths(cls, lengths: Tensor, token_padding: Tensor) -> PhraseBatch:
        """Assigns phrases to tokens.

        Args:
            lengths: tokens of each phrase, B×P; rows add up to the sentences' sizes.
            token_padding: B×S, True = pad.
        """
        real = ~token_padding
        token = (real.cumsum(dim=1) - 1).clamp(min=0)  # which of the sentence; a pad is as the last
        index = torch.searchsorted(lengths.cumsum(dim=1), token, right=True)
        index = index.clamp(max=lengths.size(1) - 1)  # a sentence without tokens
        phrases = torch.arange(lengths.size(1), device=lengths.device)
        members = index.unsqueeze(1).eq(phrases.unsqueeze(1)) & real.unsqueeze(1)
        return cls(lengths, lengths.eq(0), index, members, token_padding)

    @cached_property
    def rows(self) -> Tensor:
        """The phrase of each token, B·S, as a row of B·P."""
        sentences, phrases = self.lengths.shape
        first = phrases * torch.arange(sentences, device=self.index.device)
        return (first.unsqueeze(1) + self.index).flatten()


def ngram_phrases(token_padding: Tensor, eos_apart: bool = False) -> PhraseBatch:
    """Divides each sentence into n-grams of `max(min(8, ceil(size / 6)), 3)` tokens, EOS included.

    Args:
        token_padding: B×S, True = pad.
        eos_apart: the last token is a separate n-gram; the sentence's size still counts it.

    Returns:
        phrases whose P follows from S, so that nothing is read back from a GPU.
    """
    width = token_padding.size(1)
    sizes = (~token_padding).sum(dim=1, keepdim=True)
    limits = phrase_limit(sizes)
    # Where the limit grows with the size, no size needs more than six phrases.
    most = min(-(-width // 3), max(6, -(-width // phrase_limit(width))))
    apart = int(eos_apart)
    starts = torch.arange(most + apart, device=sizes.device) * limits
    lengths = torch.minimum((sizes - apart - starts).clamp(min=0), limits)
    if apart:
        lengths.scatter_(1, lengths.gt(0).sum(dim=1, keepdim=True), 1)
    return PhraseBatch.of_lengths(lengths, token_padding)


def parsed_phrases(token_padding: Tensor, phrase_lengths: Tensor) -> PhraseBatch:
    """Takes phrases of constituency trees.

    Args:
        token_padding: B×S, True = pad.
        phrase_lengths: tokens of each phrase, EOS included, B×P; 0 = no phrase. Those of a sentence
            without parse are n-grams (:func:`~syntax_nmt.data.collation.collate_phrases`).

    Raises:
        UserError: on a CPU, where the phrases of a sentence do not add up to its size; a GPU stops
            with an error of its own.
    """
    lengths = phrase_lengths.long()
    wrong = lengths.sum(dim=1).ne((~token_padding).sum(dim=1))
    if wrong.device.type != "cpu":  # no synchronisation; annotation was checked when it was read
        torch._assert_async(~wrong.any())
    elif wrong.any():
        row = int(wrong.int().argmax())
        raise UserError(
            f"phrase_lengths: the phrases of sentence {row} of a batch have "
            f"{int(lengths[row].sum())} tokens, the sentence {int((~token_padding[row]).sum())} "
            "with EOS; make the phrases from this very text"
        )
    return PhraseBatch.of_lengths(lengths, token_padding)
