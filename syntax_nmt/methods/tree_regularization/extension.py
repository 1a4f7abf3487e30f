"""States of a layer of an encoder or a decoder, for the loss."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from syntax_nmt.arguments import attribute
from syntax_nmt.backbone.extension import Extension
from syntax_nmt.backbone.transformer_extension import (
    TransformerDecoderExtension,
    TransformerEncoderExtension,
    TransformerStack,
)
from syntax_nmt.data.annotation import TARGET_TREES, TREES
from syntax_nmt.data.batch import ModelExtra
from syntax_nmt.errors import UserError
from syntax_nmt.methods.tree_regularization.loss import SOURCE_STATES, TARGET_STATES
from syntax_nmt.methods.tree_regularization.options import TreeRegularizationOptions
from syntax_nmt.option_checks import layer_from_bottom, refuse_together


class _Layer(Extension):
    """The first components of the output of a layer."""

    def __init__(self, options: TreeRegularizationOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        wanted = getattr(options, attribute(self.option))
        self.number = layer_from_bottom(self.option, wanted, stack.layers, stack.name)
        refuse_together(self.option, stack.cfg, f"{stack.name}_layerdrop", "base_layers")
        share = options.tree_reg_share
        if not 0 < share <= 1:
            raise UserError(f"--tree-reg-share {share}: give a share above 0, up to 1")
        self.components = max(1, int(share * stack.embed_dim))

    def states(self, of_layers: Sequence[Tensor]) -> Tensor:
        """The states that the loss reads, B×S×C'.

        Args:
            of_layers: S×B×C, the input of the lowest layer and the output of each.
        """
        return of_layers[self.number + 1][..., : self.components].transpose(0, 1)


class SourceStates(_Layer, TransformerEncoderExtension):
    """States of an encoder, which have read the whole sentence."""

    option = "--tree-reg-layer"
    learns = (TREES,)

    def extra(self, encoder_out: dict[str, list[Tensor]], layers: nn.ModuleList) -> ModelExtra:
        """The states of the tokens of the source, B×S×C'."""
        return {SOURCE_STATES: self.states(encoder_out["encoder_states"])}


class TargetStates(_Layer, TransformerDecoderExtension):
    """States of a decoder, which have read the sentence up to their word."""

    option = "--target-tree-reg-layer"
    learns = (TARGET_TREES,)

    def extra(self, states: Sequence[Tensor], padding: Tensor, layers: nn.ModuleList) -> ModelExtra:
        """The states of the steps that read the tokens of the target, B×T×C'.

        A step reads the word that the step before has predicted: the last column is that of the
        first step, which reads EOS.
        """
        return {TARGET_STATES: self.states(states).roll(-1, 1)}
