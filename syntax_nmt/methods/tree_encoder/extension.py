"""Tree encoders on top of an RNN encoder, and RNN decoders that read their nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from syntax_nmt.backbone.extension import Source
from syntax_nmt.backbone.rnn_extension import (
    RNNDecoderExtension,
    RNNDecoderStack,
    RNNEncoderExtension,
    RNNEncoderStack,
)
from syntax_nmt.backbone.rnn_interface import SUMMARY, Encoded
from syntax_nmt.data.annotation import TREES
from syntax_nmt.errors import UserError
from syntax_nmt.methods.tree_encoder.cells import (
    DownwardStates,
    GatedMerge,
    UpwardStates,
    phrases_of,
)
from syntax_nmt.methods.tree_encoder.coverage import Coverage
from syntax_nmt.methods.tree_encoder.decoder import CHILDREN, NodeDecoder, NodeGRU
from syntax_nmt.methods.tree_encoder.levels import Levels
from syntax_nmt.methods.tree_encoder.options import (
    BIDIRECTIONAL,
    NODES,
    NONE,
    TREE,
    TreeEncoderOptions,
)
from syntax_nmt.option_checks import check_from_one


class TreeStates(RNNEncoderExtension):
    """States of the nodes of binary trees, on top of the states of the tokens.

    Attributes:
        goes_down: nodes have states from the top down, too, beside those from the bottom up.
        gives_nodes: decoders attend to phrases, too.
        gives_start: decoders start from the root.
    """

    option = "--tree-encoder"
    reads = (TREES,)

    def __init__(self, options: TreeEncoderOptions, stack: RNNEncoderStack) -> None:
        super().__init__(options, stack)
        self.goes_down = options.tree_encoder == BIDIRECTIONAL
        self.gives_nodes = options.tree_attention == NODES
        self.gives_start = options.tree_start == TREE
        if not (self.goes_down or self.gives_nodes or self.gives_start):
            raise UserError(
                "--tree-encoder up leaves the states of words as they are, and the decoder would "
                "read nothing of the tree: give --tree-attention nodes, --tree-start tree, or "
                "--tree-encoder bidirectional"
            )

    def output_width(self, width: int) -> int:
        """Twice as wide with the states from the top down.

        Args:
            width: M.
        """
        return 2 * width if self.goes_down else width

    def build(self, output_dim: int) -> Mapping[str, nn.Module]:
        """The gated units.

        Args:
            output_dim: M, width of the states of tokens.
        """
        modules: dict[str, nn.Module] = {}
        modules["tree_up"] = self.up = UpwardStates(output_dim)
        if self.goes_down:
            modules["tree_down"] = self.down = DownwardStates(output_dim)
        if self.gives_start:
            modules["tree_start"] = self.start = GatedMerge(self.output_width(output_dim))
        return modules

    def extended(self, encoded: Encoded, source: Source) -> Encoded:
        """The states of tokens and phrases.

        Raises:
            UserError: annotation is missing.
        """
        states, padding = encoded.states, encoded.padding
        trees = TREES.tensor_in(source.annotation)
        flag = TREES.keys[1]
        sizes: Any = source.annotation.get(flag)
        if sizes is None:  # waits for a GPU
            sizes = TREES.batch_flags(trees.cpu())[flag]
        levels = Levels(trees, sizes, padding)
        table = self.up(states, levels)
        if self.goes_down:
            table = torch.cat([table, self.down(table, levels)], dim=1)
        tokens = table[: levels.tokens].unflatten(0, padding.shape)
        more: dict[str, Tensor] = dict(encoded.more)
        if self.gives_start:
            root = table.index_select(0, levels.roots)
            root = root.masked_fill(~levels.has_root.unsqueeze(1), 0)
            last = tokens.gather(1, levels.last[:, None, None].expand(-1, 1, tokens.size(2)))
            more[SUMMARY] = self.start(torch.stack([last.squeeze(1), root]))
        if not self.gives_nodes:
            return Encoded(tokens, padding, more)
        more[CHILDREN] = trees[..., :2]
        nodes = torch.cat([tokens, phrases_of(table, levels)], dim=1)
        return Encoded(nodes, torch.cat([padding, trees[..., 2].lt(0)], dim=1), more)


class NodeAttention(RNNDecoderExtension):
    """A decoder that attends to the nodes of trees, with or without coverage."""

    option = "--tree-attention nodes"

    def __init__(self, options: TreeEncoderOptions, stack: RNNDecoderStack) -> None:
        super().__init__(options, stack)
        if options.tree_coverage != NONE:
            check_from_one(options, ["coverage_dim"])

    @classmethod
    def is_on(cls, options: TreeEncoderOptions, stack: RNNDecoderStack) -> bool:
        """Whether there are trees, and decoders attend to their nodes."""
        return options.tree_encoder is not None and options.tree_attention == NODES

    def decoder(self) -> NodeDecoder:
        """The decoder."""
        options, stack = self.options, self.stack
        coverage = None
        if options.tree_coverage != NONE:
            coverage = Coverage(
                options.coverage_dim,
                *(stack.memory_dim, stack.state_dim, stack.attention_dim),
                of_children=options.tree_coverage == TREE,
            )
        return NodeDecoder(
            stack.dictionary,
            stack.embed_tokens,
            NodeGRU(stack.recurrence(), coverage),
            stack.readout(stack.memory_dim),
            stack.memory_dim,
            **stack.arguments,
        )
