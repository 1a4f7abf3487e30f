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
    ATTENTIONS,
    BIDIRECTIONAL,
    COVERAGES,
    ENCODERS,
    MEAN,
    NODES,
    NONE,
    STARTS,
    TREE,
    UP,
    WORDS,
    TreeEncoderOptions,
)
from syntax_nmt.option_checks import check_choice, refuse_changed

_CHOICES = {
    "tree_attention": ATTENTIONS,
    "tree_start": STARTS,
    "tree_coverage": COVERAGES,
}


class TreeStates(RNNEncoderExtension):
    """States of the nodes of binary trees, on top of the states of the tokens.

    Args:
        goes_down: nodes have states from the top down, too, beside those from the bottom up.
        gives_nodes: decoders attend to phrases, too.
        gives_start: decoders start from the root.
    """

    option = "--tree-encoder"
    reads = (TREES,)

    def __init__(self, goes_down: bool, gives_nodes: bool, gives_start: bool) -> None:
        self.goes_down, self.gives_nodes, self.gives_start = goes_down, gives_nodes, gives_start

    @classmethod
    def of(cls, options: TreeEncoderOptions, stack: RNNEncoderStack) -> TreeStates | None:
        """The extension that the options describe; None = it is off.

        Raises:
            UserError: options that contradict each other.
        """
        if not _is_on(options):
            return None
        return cls(
            str(options.tree_encoder) == BIDIRECTIONAL,
            str(options.tree_attention) == NODES,
            str(options.tree_start) == TREE,
        )

    def output_width(self, width: int) -> int:
        """Twice as wide with the states from the top down.

        Args:
            width: M.
        """
        return 2 * width if self.goes_down else width

    def modules(self, output_dim: int) -> Mapping[str, nn.Module]:
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
            more[SUMMARY] = self.start(last.squeeze(1), root)
        if not self.gives_nodes:
            return Encoded(tokens, padding, more)
        more[CHILDREN] = trees[..., :2]
        nodes = torch.cat([tokens, phrases_of(table, levels)], dim=1)
        return Encoded(nodes, torch.cat([padding, trees[..., 2].lt(0)], dim=1), more)


class NodeAttention(RNNDecoderExtension):
    """A decoder that attends to the nodes of trees, with or without coverage."""

    option = "--tree-attention nodes"

    def __init__(self, options: TreeEncoderOptions) -> None:
        self.coverage, self.coverage_dim = str(options.tree_coverage), options.coverage_dim

    @classmethod
    def of(cls, options: TreeEncoderOptions, stack: RNNDecoderStack) -> NodeAttention | None:
        """The extension that the options describe; None = it is off.

        Raises:
            UserError: options that contradict each other.
        """
        is_on = _is_on(options) and str(options.tree_attention) == NODES
        return cls(options) if is_on else None

    def decoder(self, stack: RNNDecoderStack) -> NodeDecoder:
        """The decoder."""
        coverage = None
        if self.coverage != NONE:
            sizes = stack.memory_dim, stack.state_dim, stack.attention_dim
            coverage = Coverage(self.coverage_dim, *sizes, of_children=self.coverage == TREE)
        return NodeDecoder(
            stack.dictionary,
            stack.embed_tokens,
            NodeGRU(stack.recurrence(), coverage),
            stack.readout(stack.memory_dim),
            stack.memory_dim,
            **stack.arguments,
        )


def _is_on(options: TreeEncoderOptions) -> bool:
    """Whether there is a tree encoder; checks its options."""
    if options.tree_encoder is None:
        refuse_changed(options, [*_CHOICES, "coverage_dim"], "--tree-encoder up or bidirectional")
        return False
    check_choice("tree_encoder", options.tree_encoder, ENCODERS)
    for name, choices in _CHOICES.items():
        check_choice(name, getattr(options, name), choices)
    if str(options.tree_attention) != NODES:
        refuse_changed(options, ["tree_coverage"], "--tree-attention nodes")
    if str(options.tree_coverage) == NONE:
        refuse_changed(options, ["coverage_dim"], "--tree-coverage word or tree")
    elif options.coverage_dim < 1:
        raise UserError(f"--coverage-dim {options.coverage_dim}: give a number from 1 on")
    reads_nothing = str(options.tree_attention) == WORDS and str(options.tree_start) == MEAN
    if str(options.tree_encoder) == UP and reads_nothing:
        raise UserError(
            "--tree-encoder up leaves the states of words as they are, and the decoder would read "
            "nothing of the tree: give --tree-attention nodes, --tree-start tree, or "
            "--tree-encoder bidirectional"
        )
    return True
