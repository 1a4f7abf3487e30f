"""One vector for each phrase, from the vectors of its tokens (Xu et al., 2020, section 3.1)."""

import torch
from torch import Tensor, nn

from syntax_nmt.backbone.linear_of_pair import LinearOfPair
from syntax_nmt.backbone.numerics import at_least_float32
from syntax_nmt.methods.phrases.segmentation import PhraseBatch

MAX, MEAN = "max", "mean"


class PhraseRepresentation(nn.Module):
    """Attentive phrase representation: equations 2 to 5.

    A summary `a` of the phrase, the element-wise maximum or mean of its tokens r₁ … r_m; then, with
    a hidden width, the weighted sum of the tokens whose weights are the softmax within the phrase
    of `s_i = w2 · sigmoid(W1 [r_i ; a] + b1) + b2`. Without hidden width, the vector is the summary
    itself.

    Phrases of all lengths are handled at once. Memory is that of the tokens, plus one number for
    each phrase and token of a sentence.

    Args:
        embed_dim: C.
        summary: `max` or `mean`.
        hidden_dim: rows of W1; None = no attention within the phrase.
    """

    def __init__(self, embed_dim: int, summary: str, hidden_dim: int | None) -> None:
        super().__init__()
        self.summary = summary
        self.hidden: LinearOfPair | None = None
        if hidden_dim is not None:
            self.hidden = LinearOfPair(embed_dim, embed_dim, hidden_dim)  # W1, b1
            self.score = nn.Linear(hidden_dim, 1)  # w2, b2

    def extra_repr(self) -> str:
        """The numbers that define the module."""
        return f"summary={self.summary}"

    def forward(self, x: Tensor, phrases: PhraseBatch) -> Tensor:
        """The vectors of all phrases.

        Args:
            x: the vectors of the tokens, S×B×C.
            phrases: which tokens make up which phrase.

        Returns:
            P×B×C; finite, but meaningless, where a sentence has no such phrase.
        """
        tokens = x.transpose(0, 1).contiguous()  # B×S×C
        if self.summary == MAX:
            vectors = _maximum(tokens, phrases)
        else:
            weights = phrases.members.type_as(tokens) / phrases.lengths.clamp(min=1).unsqueeze(2)
            vectors = torch.bmm(weights, tokens)
        if self.hidden is not None:
            vectors = torch.bmm(self._weights(tokens, vectors, phrases).type_as(tokens), tokens)
        return vectors.transpose(0, 1)  # P×B×C

    def _weights(self, tokens: Tensor, summaries: Tensor, phrases: PhraseBatch) -> Tensor:
        """The weight of each token in its phrase (equations 3 and 4), B×P×S; 0 outside."""
        assert self.hidden is not None
        of_phrase = self.hidden.second(summaries.flatten(0, 1)).index_select(0, phrases.rows)
        hidden = self.hidden.first(tokens.flatten(0, 1)).add_(of_phrase).sigmoid_()
        scores = at_least_float32(self.score(hidden).view(tokens.shape[:2]))  # B×S
        # The lowest number, not −∞: the row of a missing phrase stays finite. No score in float16
        # is as low as that of float32.
        lowest = torch.finfo(scores.dtype).min
        scores = scores.unsqueeze(1).masked_fill(~phrases.members, lowest)
        return torch.softmax(scores, dim=2)


def _maximum(tokens: Tensor, phrases: PhraseBatch) -> Tensor:
    """The element-wise maximum of each phrase's tokens, B×P×C; 0 where there is no phrase.

    Tokens that share a maximum share its gradient evenly. (The backward pass of
    `torch.segment_reduce` shares only positive gradients.)
    """
    words = tokens.masked_fill(phrases.token_padding.unsqueeze(2), float("-inf")).flatten(0, 1)
    vectors = words.new_full((phrases.lengths.numel(), words.size(1)), float("-inf"))
    vectors = vectors.scatter_reduce(0, phrases.rows.unsqueeze(1).expand_as(words), words, "amax")
    vectors = vectors.unflatten(0, phrases.lengths.shape)
    return vectors.masked_fill(phrases.padding.unsqueeze(2), 0.0)
