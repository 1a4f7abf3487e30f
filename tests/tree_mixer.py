"""A method of the tests alone, which reads dependency trees: each word mixes in those near it.

Before the encoder, a token's embedding gets the mean of all tokens' embeddings weighed by 2^−d, d
being the number of arcs between them in the tree; tokens without a head get their own. Mutants show
that the properties of every model are really tested.
"""

import torch
from fairseq.models import register_model, register_model_architecture
from fairseq.models.transformer import base_architecture
from torch import Tensor

from syntax_nmt.data.annotation import HEADS
from syntax_nmt.models.options import SyntaxTransformerOptions
from syntax_nmt.models.syntax_transformer import SyntaxTransformerModel
from syntax_nmt.models.transformer_encoder import SyntaxTransformerEncoder


def tree_distances(heads: Tensor) -> Tensor:
    """Arcs between any two tokens, B×S×S; infinite where no path is."""
    batch, size = heads.shape
    distances = torch.full((batch, size, size), torch.inf)
    distances.diagonal(dim1=1, dim2=2).zero_()
    for row, column in (heads >= 0).nonzero().tolist():
        head = int(heads[row, column])
        if head != column:
            distances[row, column, head] = distances[row, head, column] = 1.0
    for middle in range(size):
        through = distances[:, :, middle, None] + distances[:, middle, None, :]
        distances = torch.minimum(distances, through)
    return distances


class TreeMixingEncoder(SyntaxTransformerEncoder):
    mutant = None

    def forward(self, src_tokens, *args, token_embeddings=None, **annotation):
        embedded = self.embed_tokens(src_tokens)
        weights = self.weights(HEADS.of(annotation))
        mixed = embedded + (weights / weights.sum(dim=2, keepdim=True)) @ embedded
        return super().forward(src_tokens, *args, token_embeddings=mixed, **annotation)

    def weights(self, heads: Tensor) -> Tensor:
        distances = tree_distances(heads)
        if self.mutant == "ignores what it declares":
            distances = tree_distances(torch.full_like(heads, -1))
        elif self.mutant == "looks at the padded column":
            distances = distances * (1 + torch.arange(heads.size(1)))
        elif self.mutant == "looks at the batch":
            distances = distances / distances[distances.isfinite()].max().clamp(min=1)
        return torch.pow(2.0, -distances)


@register_model("tree_mixer")
class TreeMixingModel(SyntaxTransformerModel):
    reads_annotation = (HEADS,)

    @classmethod
    def build_encoder(cls, args, src_dict, embed_tokens):
        options = SyntaxTransformerOptions.from_namespace(args)
        return TreeMixingEncoder(args, src_dict, embed_tokens, options)


register_model_architecture("tree_mixer", "tree_mixer")(base_architecture)
