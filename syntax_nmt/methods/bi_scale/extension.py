"""The bi-scale decoder in a model of the RNN family."""

from __future__ import annotations

from typing import Any

from fairseq.tasks import FairseqTask

from syntax_nmt.backbone.rnn_extension import RNNDecoderExtension, RNNDecoderStack
from syntax_nmt.checkpoints.label_text import join_labels, split_labels
from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.methods.bi_scale.decoder import BiScaleDecoder
from syntax_nmt.methods.bi_scale.options import (
    BOTH,
    CHUNK_ATTENTIONS,
    CHUNK_CONTEXTS,
    CHUNK_READOUTS,
    CONTEXT,
    STATE,
    STEP,
    WORD,
    BiScaleOptions,
)
from syntax_nmt.methods.bi_scale.recurrence import BiScaleGRU
from syntax_nmt.option_checks import check_choice, refuse_changed

# Without effect unless --bi-scale switches the decoder on.
_OF_BI_SCALE_DECODER = (
    "chunk_context",
    "chunk_attention",
    "chunk_readout",
    "no_joint_score",
    "chunk_tags",
)
_CHOICES = {
    "chunk_context": CHUNK_CONTEXTS,
    "chunk_attention": CHUNK_ATTENTIONS,
    "chunk_readout": CHUNK_READOUTS,
}


class BiScale(RNNDecoderExtension):
    """A decoder with a chunk state in addition to the word state."""

    option = "--bi-scale"

    def __init__(self, options: BiScaleOptions) -> None:
        self.options = options

    @classmethod
    def of(cls, options: BiScaleOptions, stack: Any) -> BiScale | None:
        """The extension that the options describe; None = it is off.

        Args:
            stack: not read.

        Raises:
            UserError: an unknown choice, or options without effect.
        """
        for name, choices in _CHOICES.items():
            check_choice(name, getattr(options, name), choices)
        if options.bi_scale:
            return cls(options)
        refuse_changed(options, _OF_BI_SCALE_DECODER, "--bi-scale")
        return None

    def decoder(self, stack: RNNDecoderStack) -> BiScaleDecoder:
        """The decoder."""
        options, readout_of = self.options, str(self.options.chunk_readout)
        read_of_source = {
            CONTEXT: stack.memory_dim,
            STATE: stack.state_dim,
            BOTH: stack.memory_dim + stack.state_dim,
        }
        readout = stack.readout(read_of_source[readout_of])
        recurrence = BiScaleGRU(
            *stack.dims,
            word_attention=str(options.chunk_attention) == WORD,
            context_every_step=str(options.chunk_context) == STEP,
        )
        return BiScaleDecoder(
            stack.dictionary,
            stack.embed_tokens,
            recurrence,
            readout,
            split_labels(options.chunk_tags),
            joint_score=not options.no_joint_score,
            memory_dim=stack.memory_dim,
            readout_of=readout_of,
            **stack.arguments,
        )


def take_chunk_types(options: Any, task: FairseqTask) -> None:
    """Gives a bi-scale decoder the chunk types of the data, unless they are given.

    Args:
        options: of the model, a namespace; changed in place.
    """
    if getattr(options, "bi_scale", False) and getattr(options, "chunk_tags", None) is None:
        options.chunk_tags = join_labels(task.labels(CHUNKS))
