"""Stacked layers of graph convolution, and the ids of their labels."""

from collections.abc import Sequence

import torch
from fairseq.modules import LayerNorm
from torch import Tensor, nn

from syntax_nmt.methods.column_labels import numbered_relations
from syntax_nmt.methods.graph_convolution.layer import Arcs, GraphConvolution
from syntax_nmt.methods.graph_convolution.options import DENSE, RESIDUAL

BEFORE, AFTER, NO_NORM = "before", "after", "none"


class RelationIds(nn.Module):
    """The ids of relations among the labels of arcs: from 0; the last is that of inner subwords.

    Args:
        relations: labels of the annotation, whose ids count from 1; none = arcs have no labels.
        which: `full`, or `universal`: equal up to a colon.
    """

    def __init__(self, relations: Sequence[str], which: str) -> None:
        super().__init__()
        known, ids = numbered_relations(relations, which)
        self.count = len(known) + 1 if known else 1
        self.piece = self.count - 1
        self.register_buffer("ids", torch.tensor([0, *ids]), persistent=False)

    ids: Tensor

    def forward(self, labels: Tensor) -> Tensor:
        """The ids of labels, B×S; of a missing one (−1) that of the first label.

        Args:
            labels: B×S, from 1.
        """
        return self.ids[labels.long().clamp(min=0)]


class GraphConvolutionLayers(nn.Module):
    """Layers with skip connections: residual, or dense, where a layer reads all before it.

    Args:
        width: C.
        layers: how many.
        relation_ids: gives the ids of labels, which checkpoints do not have.
        arcs: see :class:`GraphConvolution`.
        gated: see :class:`GraphConvolution`.
        skip: `residual`, `dense` or `none`.
        edge_dropout: see :class:`GraphConvolution`.
        norm: whether a LayerNorm stands `before` each layer, `after` it, or there is `none`.
    """

    starts_by_itself = True  # with its own initial values, also in the RNN family

    def __init__(
        self,
        width: int,
        layers: int,
        relation_ids: RelationIds,
        arcs: str,
        gated: bool,
        skip: str,
        edge_dropout: float,
        norm: str,
    ) -> None:
        super().__init__()
        self.relation_ids, self.skip, self.norm = relation_ids, skip, norm
        widths = [width * (layer + 1) if skip == DENSE else width for layer in range(layers)]
        self.layers = nn.ModuleList(
            GraphConvolution(width, relation_ids.count, arcs, gated, edge_dropout, of)
            for of in widths
        )
        normed = {BEFORE: widths, AFTER: [width] * layers, NO_NORM: []}[norm]
        self.norms = nn.ModuleList(map(LayerNorm, normed))

    def forward(self, h: Tensor, arcs: Arcs, of_words: Arcs | None = None) -> Tensor:
        """The states after the messages of all layers, B×S×C.

        Args:
            h: B×S×C.
            of_words: further arcs, from heads alone.
        """
        states = [h]
        for number, layer in enumerate(self.layers):
            read = torch.cat(states, dim=-1) if self.skip == DENSE else states[-1]
            if self.norm == BEFORE:
                read = self.norms[number](read)
            out = layer(read, arcs, of_words)
            if self.skip == RESIDUAL:
                out = states[-1] + out
            if self.norm == AFTER:
                out = self.norms[number](out)
            states.append(out)
        return states[-1]
