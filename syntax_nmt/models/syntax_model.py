"""The shared forward pass and declarations of all model families."""

from collections.abc import Mapping
from typing import Any, Optional

from torch import Tensor, nn

from syntax_nmt.backbone.linear_cross_entropy import TOKEN_LOSS, LinearCrossEntropy
from syntax_nmt.backbone.structures import SOURCE_STRUCTURES, StructureLayers
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.batch import ModelExtra
from syntax_nmt.models.checked_hub import CheckedHub
from syntax_nmt.models.pretrained_weights import PretrainedWeights


class SyntaxModel(CheckedHub, PretrainedWeights):
    """An encoder and a decoder of this package; a base class to list before fairseq's model.

    Both stacks declare the annotation that they read as `reads_annotation`, and the annotation that
    they are trained with as `learns_annotation`. Every decoder reads the output of every encoder,
    S×B×M.
    """

    encoder: Any
    decoder: Any

    @property
    def reads_annotation(self) -> tuple[AnnotationKind, ...]:
        """The annotation that the forward pass needs."""
        return (*self.encoder.reads_annotation, *self.decoder.reads_annotation)

    @property
    def learns_annotation(self) -> tuple[AnnotationKind, ...]:
        """The annotation that parts of the model are trained with."""
        return (*self.encoder.learns_annotation, *self.decoder.learns_annotation)

    @property
    def annotation_labels(self) -> Mapping[AnnotationKind, tuple[str, ...]]:
        """The labels of annotation that the model was built for."""
        return {**self.encoder.annotation_labels, **self.decoder.annotation_labels}

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
        **annotation: Any,
    ) -> tuple[Optional[Tensor], ModelExtra]:
        """Teacher-forced pass of training and validation; generators never call it.

        Args:
            src_tokens: B×S.
            src_lengths: B.
            prev_output_tokens: B×T.
            return_all_hiddens: keep the states of every Transformer layer.
            alignment_layer: the layer of a Transformer decoder whose cross-attention weights are
                requested; an RNN decoder always returns those of its only attention.
            alignment_heads: number of heads, the first ones, to average over; all by default.
            token_loss: what to compute in place of logits.
            **annotation: under the keys of its kinds; unused kinds are ignored.

        Returns:
            logits, B×T×V, None where `token_loss` takes their place; and a dictionary: `attn`, the
            weights of the cross-attention, B×T×S; further outputs of the decoder and of the
            encoder's extensions; wanted structures under their names; under `token_loss` what that
            gives.
        """
        encoder_out = self.encoder(
            src_tokens,
            src_lengths=src_lengths,
            return_all_hiddens=return_all_hiddens,
            structures=structures,
            **annotation,
        )
        read = [key for kind in self.decoder.reads_annotation for key in kind.keys]
        logits, extra = self.decoder(
            prev_output_tokens,
            encoder_out=encoder_out,
            features_only=features_only or token_loss is not None,
            alignment_layer=alignment_layer,
            alignment_heads=alignment_heads,
            src_lengths=src_lengths,
            return_all_hiddens=return_all_hiddens,
            structures=structures,
            **{key: annotation[key] for key in read if key in annotation},
        )
        if token_loss is not None:
            features, logits = logits, None
            extra[TOKEN_LOSS] = token_loss(features, self.decoder.output_projection)
        if structures is not None:
            extra.update({key: encoder_out[key] for key in SOURCE_STRUCTURES if key in encoder_out})
        if return_all_hiddens:
            extra.update(self.encoder.extra(encoder_out))
        return logits, extra
