"""Embeddings of features of words, and how they are merged with those of the tokens."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

NONE, EOS = 0, 1  # ids of no value, whose vector is 0 and stays so, and of the end of the sentence
SPECIAL = 2
OUTSIDE, BEGIN, INSIDE, END = range(SPECIAL, SPECIAL + 4)  # of a subword: O, B, I, E
PLACES = 4


class FeatureTables(nn.Module):
    """A table of vectors for each feature, E_k (Sennrich and Haddow, 2016, equation 2).

    Vectors start with variance 1/C, as fairseq's embeddings do, so that their components are like
    those of the tokens.

    Args:
        sizes: V_k, number of values with those of :data:`SPECIAL`.
        dims: m_k.
        scale_dim: C.
        dropout: the probability that a value counts as none in training.
    """

    def __init__(
        self, sizes: Sequence[int], dims: Sequence[int], scale_dim: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        tables = [nn.Embedding(size, dim, padding_idx=NONE) for size, dim in zip(sizes, dims)]
        for table in tables:
            nn.init.normal_(table.weight, std=scale_dim**-0.5)
            nn.init.zeros_(table.weight[NONE])
        self.tables = nn.ModuleList(tables)
        self.dropout = dropout

    def extra_repr(self) -> str:
        """The dropout."""
        return f"dropout={self.dropout}"

    def forward(self, values: Sequence[Tensor]) -> list[Tensor]:
        """The vectors of each feature, B×S×m_k.

        Args:
            values: ids of each feature, B×S.
        """
        if self.training and self.dropout:
            values = [
                value.masked_fill(torch.rand_like(value, dtype=torch.float) < self.dropout, NONE)
                for value in values
            ]
        return [table(value) for table, value in zip(self.tables, values)]


class WordPart(nn.Embedding):
    """The part of an embedding that features complete: V×m_1, for states C wide.

    Args:
        rows: V.
        dim: m_1.
        width: C.
        padding_idx: the pad's row.
    """

    def __init__(self, rows: int, dim: int, width: int, padding_idx: int) -> None:
        super().__init__(rows, dim, padding_idx)
        nn.init.normal_(self.weight, std=width**-0.5)
        nn.init.zeros_(self.weight[padding_idx])
        self.embedding_dim = width  # from which fairseq takes the width of positions and the scale


def merge_sum(embedded: Tensor, vectors: Sequence[Tensor]) -> Tensor:
    """`e_j = Σ_k E_k x_jk`, B×S×C."""
    for vector in vectors:
        embedded = embedded + vector
    return embedded


def merge_concat(embedded: Tensor, vectors: Sequence[Tensor]) -> Tensor:
    """`e_j = [E_1 x_j1; …; E_K x_jK]` (equation 2), B×S×C of B×S×m_1 and the others."""
    return torch.cat([embedded, *vectors], dim=-1)


def merge_overwrite(embedded: Tensor, vectors: Sequence[Tensor]) -> Tensor:
    """The last components of B×S×C replaced (the tags of Bugliarello and Okazaki's code)."""
    kept = embedded.size(-1) - sum(vector.size(-1) for vector in vectors)
    return torch.cat([embedded[..., :kept], *vectors], dim=-1)


def placed(table: Tensor, start: int, width: int) -> Tensor:
    """V×C of V×m: components from `start` on, zeros around them.

    Args:
        table: V×m.
        width: C.
    """
    return nn.functional.pad(table, (start, width - start - table.size(1)))


def places_in_words(opens: Tensor, closes: Tensor) -> Tensor:
    """O for a word of one subword; B, I and E for the first, inner and last ones of others, B×S.

    Args:
        opens: B×S, True = the first subword of its word.
        closes: B×S, True = the last one.
    """
    places = torch.full_like(opens, INSIDE, dtype=torch.long)
    places = places.masked_fill(opens, BEGIN).masked_fill(closes, END)
    return places.masked_fill(opens & closes, OUTSIDE)
