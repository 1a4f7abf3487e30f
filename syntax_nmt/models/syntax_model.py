"""What the models of all families have in common: their forward pass, and what they declare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from torch import Tensor, nn

from syntax_nmt.backbone.linear_cross_entropy import LinearCrossEntropy
from syntax_nmt.backbone.structures import SOURCE_STRUCTURES, StructureLayers
from syntax_nmt.data.sides.kind import SideKind
from syntax_nmt.models.pretrained_weights import CheckedHub, PretrainedWeights


class SyntaxModel(CheckedHub, PretrainedWeights):
    """An encoder and a decoder of this package; a base class to be listed before fairseq's model.

    Both sides say as `reads_sides` which side information they read, and as `learns_sides` with
    which they are trained; every decoder reads what every encoder returns, S×B×M.
    """

    encoder: Any
    decoder: Any

    @property
    def reads_sides(self) -> tuple[SideKind, ...]:
        """The side information that the forward pass is to be given."""
        return (*self.encoder.reads_sides, *self.decoder.reads_sides)

    @property
    def learns_sides(self) -> tuple[SideKind, ...]:
        """The side information that parts of the model are trained with."""
        return (*self.encoder.learns_sides, *self.decoder.learns_sides)

    @property
    def side_labels(self) -> Mapping[SideKind, tuple[str, ...]]:
        """The labels of side information that the model was built for."""
        labels: Mapping[SideKind, tuple[str, ...]] = self.decoder.side_labels
        return labels

    @property
    def takes_token_loss(self) -> bool:
        """Whether :meth:`forward` can compute a loss in place of logits."""
        return isinstance(self.decoder.output_projection, nn.Linear)

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor,
        prev_output_tokens: Tensor,
        return_all_hiddens: bool = True,
        features_only: bool = False,
        alignment_layer: Optional[int] = None,
        alignment_heads: Optional[int] = None,
        structures: Optional[StructureLayers] = None,
        token_loss: Optional[LinearCrossEntropy] = None,
        **sides: Any,
    ) -> tuple[Tensor, dict[str, Any]]:
        """Teacher-forced pass of training and validation; generators never call it.

        Args:
            src_tokens: B×S.
            src_lengths: B.
            prev_output_tokens: B×T.
            return_all_hiddens: keep the states of every Transformer layer.
            alignment_layer: the layer of a Transformer decoder whose cross-attention weights are
                wanted; an RNN decoder has one attention, whose weights are always there.
            alignment_heads: number of heads, the first ones, to average over; all by default.
            token_loss: what to compute in place of logits.
            **sides: side information under the keys of its kinds; what is not read is ignored.

        Returns:
            logits, B×T×V, or what `token_loss` gives, and a dictionary: `attn`, the weights of the
            cross-attention, B×T×S; what the decoder gives besides; with supervised heads
            `supervised_heads`, the log-probabilities of the child and the parent head, B×2×S×S;
            wanted structures under their names.
        """
        encoder_out = self.encoder(
            src_tokens,
            src_lengths=src_lengths,
            return_all_hiddens=return_all_hiddens,
            structures=structures,
            **sides,
        )
        read = [key for kind in self.decoder.reads_sides for key in kind.keys]
        output, extra = self.decoder(
            prev_output_tokens,
            encoder_out=encoder_out,
            features_only=features_only or token_loss is not None,
            alignment_layer=alignment_layer,
            alignment_heads=alignment_heads,
            src_lengths=src_lengths,
            return_all_hiddens=return_all_hiddens,
            structures=structures,
            **{key: sides[key] for key in read if key in sides},
        )
        if token_loss is not None:
            output = token_loss(output, self.decoder.output_projection)
        if structures is not None:
            extra.update({key: encoder_out[key] for key in SOURCE_STRUCTURES if key in encoder_out})
        if self.encoder.supervised_layer is not None and return_all_hiddens:
            extra["supervised_heads"] = self.encoder.supervised_head_log_probabilities(encoder_out)
        return output, extra
