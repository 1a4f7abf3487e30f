"""Graph convolution on top of an encoder of either family, or below its layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.backbone.extension import Source
from syntax_nmt.backbone.rnn_extension import RNNEncoderExtension
from syntax_nmt.backbone.structures import ARC_GATES
from syntax_nmt.backbone.transformer_extension import TransformerEncoderExtension, TransformerStack
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.data.annotation.columns import DEPREL
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.methods.column_labels import labels_of, take_labels
from syntax_nmt.methods.graph_convolution.layer import Arcs
from syntax_nmt.methods.graph_convolution.layers import (
    AFTER,
    BEFORE,
    NO_NORM,
    GraphConvolutionLayers,
    RelationIds,
)
from syntax_nmt.methods.graph_convolution.options import (
    ALL,
    BOTH,
    NONE,
    OUT,
    RESIDUAL,
    TOP,
    GraphConvolutionOptions,
)
from syntax_nmt.methods.method import read_options
from syntax_nmt.option_checks import check_dropouts, check_from_zero


class Graphs(TransformerEncoderExtension, RNNEncoderExtension):
    """Layers of graph convolution over the source's dependency trees.

    On a Transformer a LayerNorm stands before each layer in a pre-norm model and after it in a
    post-norm one, which is not in the paper.

    Attributes:
        relations: of the data, in the order of their ids; none = arcs have no labels.
    """

    option = "--gcn-layers"

    def __init__(self, options: GraphConvolutionOptions, stack: Any) -> None:
        super().__init__(options, stack)
        check_from_zero(options, ["gcn_layers"])
        check_dropouts(options, ["gcn_edge_dropout"])
        self.relations: tuple[str, ...] = ()
        if _reads_relations(options):
            self.relations = labels_of(options, DEPREL, "--gcn-layers with --gcn-labels")
        has_arcs = options.gcn_arcs != NONE
        self.reads: tuple[AnnotationKind, ...] = (HEADS,) if has_arcs else ()
        if self.relations:
            self.reads += (DEPREL,)
        if has_arcs and not options.gcn_no_gates:
            self.structures = (ARC_GATES,)
        self.is_on_top = options.gcn_placement == TOP
        self.on_top = "graph convolution" if self.is_on_top else ""  # type: ignore[misc]
        self.all_pieces = options.gcn_arcs in (BOTH, OUT) and options.gcn_pieces == ALL

    @property
    def labels(self) -> Mapping[AnnotationKind, tuple[str, ...]]:
        """The relations."""
        return {DEPREL: self.relations} if self.relations else {}

    def build(self, output_dim: int) -> Mapping[str, nn.Module]:
        """The layers.

        Args:
            output_dim: M.
        """
        width = output_dim if self.is_on_top else self.stack.embed_dim
        options = self.options
        self.layers = GraphConvolutionLayers(
            width,
            options.gcn_layers,
            RelationIds(self.relations, options.gcn_labels),
            arcs=options.gcn_arcs,
            gated=not options.gcn_no_gates,
            skip=self._skip(),
            edge_dropout=options.gcn_edge_dropout,
            norm=self._norm(),
        )
        return {"graph_convolution": self.layers}

    def below(self, states: Tensor, source: Source) -> Tensor:
        """The states after messages, if the layers stand at the bottom, B×S×C.

        Args:
            states: B×S×C.
        """
        return states if self.is_on_top else self.layers(states, *self.arcs(source))

    def above(self, states: Tensor, source: Source) -> Tensor:
        """The states after messages, if the layers stand on top, B×S×M.

        Args:
            states: B×S×M.
        """
        return self.layers(states, *self.arcs(source)) if self.is_on_top else states

    def arcs(self, source: Source) -> tuple[Arcs, Arcs | None]:
        """The arcs of a batch, and those by which inner subwords get their word's messages, too.

        Raises:
            UserError: annotation is missing.
        """
        columns = torch.arange(source.tokens.size(1), device=source.tokens.device)
        own = columns.expand_as(source.tokens)
        ids = self.layers.relation_ids
        if not self.reads:
            nowhere = torch.zeros_like(source.padding)
            return Arcs(own, torch.zeros_like(own), nowhere), None
        heads = HEADS.tensor_in(source.annotation).long()
        there = heads.ge(0) & heads.ne(own)
        heads = torch.where(there, heads, own)
        labels = (
            ids(DEPREL.tensor_in(source.annotation)) if self.relations else torch.zeros_like(own)
        )
        if not self.relations and not self.all_pieces:
            return Arcs(heads, labels, there), None
        first = source.spans.first
        is_inner = first.ne(own) & ~source.padding
        arcs = Arcs(heads, labels.masked_fill(is_inner, ids.piece), there)
        if not self.all_pieces:
            return arcs, None
        heads, labels, there = (each.gather(1, first) for each in (heads, labels, there))
        return arcs, Arcs(heads, labels, there & is_inner)

    def _skip(self) -> str:
        if self.options.gcn_skip is None:
            return RESIDUAL if self.options.gcn_layers > 1 else NONE
        return self.options.gcn_skip

    def _norm(self) -> str:
        if not isinstance(self.stack, TransformerStack):
            return NO_NORM
        return BEFORE if self.stack.cfg.encoder.normalize_before else AFTER


def _reads_relations(options: GraphConvolutionOptions) -> bool:
    """Whether arcs have labels."""
    return NONE not in (options.gcn_arcs, options.gcn_labels)


def take_relations(options: Any, task: FairseqTask) -> None:
    """Gives a model the relations of the data, unless they are given.

    Args:
        options: of the model, a namespace; changed in place.
    """
    if getattr(options, "gcn_layers", 0):
        given = read_options(GraphConvolutionOptions, options)
        take_labels(options, task, [DEPREL] if _reads_relations(given) else [])
