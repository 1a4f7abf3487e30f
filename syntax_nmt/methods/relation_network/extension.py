"""The relation network of an encoder: among the GRUs of an RNN, or on top of any encoder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from torch import Tensor, nn

from syntax_nmt.arguments import flag
from syntax_nmt.backbone.extension import Extension, Source
from syntax_nmt.backbone.initialization import initialize
from syntax_nmt.backbone.packing import PackedRows
from syntax_nmt.backbone.rnn_extension import RNNEncoderExtension, RNNEncoderStack
from syntax_nmt.backbone.rnn_interface import EncoderNetwork
from syntax_nmt.backbone.transformer_extension import TransformerEncoderExtension, TransformerStack
from syntax_nmt.errors import UserError
from syntax_nmt.methods.relation_network.interleaved_encoder import (
    InterleavedEncoder,
    StackedEncoder,
)
from syntax_nmt.methods.relation_network.layer import RelationNetworkLayer
from syntax_nmt.methods.relation_network.options import (
    BIDIRECTIONAL,
    DENSE,
    INTERLEAVED,
    KERNELS,
    STACKED,
    RelationOptions,
)
from syntax_nmt.methods.relation_network.top import RelationOnTop
from syntax_nmt.option_checks import check_from_one, check_from_zero, differs_from_default

Kernels = tuple[tuple[int, int], ...]


class _Relation(Extension):
    """What the options put into an encoder of either family."""

    option = "--relation-kernels"

    @classmethod
    def is_on(cls, options: RelationOptions, stack: Any) -> bool:
        """Whether there is a relation network, or another network of GRUs than RNNsearch's."""
        given = options.relation_kernels is not None or options.relation_dense_embedding
        return given or options.encoder_gru != BIDIRECTIONAL


class RelationAmongGRUs(_Relation, RNNEncoderExtension):
    """The network of an RNN encoder: with relation network layers, or a baseline of theirs."""

    def __init__(self, options: RelationOptions, stack: RNNEncoderStack) -> None:
        super().__init__(options, stack)
        self.kernels = _kernels(options)
        if not self.kernels:
            self.option = "--encoder-gru"
        _check(options, self.kernels, stack)

    def network(self) -> EncoderNetwork:
        """The GRUs, with layers between or on top of them."""
        stack, dense_embedding = self.stack, self.options.relation_dense_embedding
        if self.options.encoder_gru == STACKED:
            return StackedEncoder(stack.embed_dim, stack.state_dim)
        if self.options.encoder_gru == DENSE:
            return InterleavedEncoder(stack.state_dim, None, dense_embedding)
        build = partial(build_relation_network, kernels=self.kernels, options=self.options)
        if self.options.relation_placement == INTERLEAVED:
            return InterleavedEncoder(stack.state_dim, build, dense_embedding)
        return RelationOnTop(stack.embed_dim, stack.state_dim, build)


class RelationOnTransformer(_Relation, TransformerEncoderExtension):
    """`h + RNL(h)` of the states of a Transformer encoder.

    Zhang et al. (2018, section 3) put the layer on a bidirectional GRU. Phrases, which a
    Transformer decoder reads, too, remain those of the Transformer's layers.
    """

    on_top = "the relation network"

    def __init__(self, options: RelationOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        among_grus = [
            flag(name)
            for name in ("encoder_gru", "relation_dense_embedding")
            if differs_from_default(getattr(options, name), getattr(type(options), name))
        ]
        if among_grus:
            raise UserError(
                f"{among_grus[0]} is an option of an RNN encoder, and the model's is a "
                "Transformer: leave it out, or give --arch syntax_hybrid --encoder-family rnn"
            )
        self.kernels = _kernels(options)

    def build(self, output_dim: int) -> Mapping[str, nn.Module]:
        """The layer."""
        self.relation = build_relation_network(output_dim, self.kernels, self.options)
        initialize(self.relation, self.stack.initialization)
        return {"relation": self.relation}

    def above(self, states: Tensor, source: Source) -> Tensor:
        """The states with what words receive from each other, B×S×C.

        Args:
            states: B×S×C.
        """
        return states + self.relation(states, PackedRows(source.padding))


def build_relation_network(
    width: int, kernels: Kernels, options: RelationOptions
) -> RelationNetworkLayer:
    """A layer of relations between words.

    Raises:
        UserError: a size is none.
    """
    check_from_one(options, ["relation_hidden_dim", "relation_block"])
    check_from_zero(options, ["relation_kept_pairs"])
    return RelationNetworkLayer(
        width,
        kernels=kernels,
        hidden_dim=options.relation_hidden_dim,
        parallel_convolutions=options.relation_parallel_convolutions,
        norm_before_activation=options.relation_norm_before_activation,
        block=options.relation_block,
        kept_pairs=options.relation_kept_pairs,
    )


def _check(options: RelationOptions, kernels: Kernels, stack: RNNEncoderStack) -> None:
    """Refuses options that contradict each other."""
    placement, gru = options.relation_placement, options.encoder_gru
    if not kernels:
        if gru != DENSE and options.relation_dense_embedding:
            raise UserError(f"--relation-dense-embedding needs {KERNELS}")
    elif gru != BIDIRECTIONAL:
        raise UserError(
            f"--encoder-gru {gru} is for a model without relation network; leave "
            "--relation-kernels out or, where the architecture sets them, give --arch "
            "rnn_search_cgru; otherwise --relation-placement says where the layers are"
        )
    elif placement != INTERLEAVED and options.relation_dense_embedding:
        raise UserError("--relation-dense-embedding needs --relation-placement interleaved")
    residual = placement == INTERLEAVED if kernels else gru == DENSE
    if residual and stack.embed_dim != stack.state_dim:
        chosen = "--relation-placement interleaved" if kernels else "--encoder-gru dense"
        raise UserError(
            f"{chosen} adds the embeddings to the first GRU's states: "
            f"--encoder-embed-dim is {stack.embed_dim} and --encoder-hidden-size "
            f"{stack.state_dim}; make them equal"
        )


def _kernels(options: RelationOptions) -> Kernels:
    """The (width, channels) of `WIDTH:CHANNELS,…`; none without the option."""
    if options.relation_kernels is None:
        return ()
    text = str(options.relation_kernels)
    try:
        return tuple(_kernel(part) for part in text.split(","))
    except ValueError:
        raise UserError(
            f"--relation-kernels {text}: give WIDTH:CHANNELS with commas between, such as "
            "1:128,3:256 (in a YAML in quotation marks); widths are odd"
        ) from None


def _kernel(text: str) -> tuple[int, int]:
    width, channels = map(int, text.split(":"))
    if width < 1 or width % 2 == 0 or channels < 1:
        raise ValueError(text)
    return width, channels
