"""The bi-scale decoder in a model of the RNN family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairseq.tasks import FairseqTask

from syntax_nmt.backbone.rnn_extension import RNNDecoderExtension, RNNDecoderStack
from syntax_nmt.backbone.structures import CHUNKED
from syntax_nmt.checkpoints.label_text import join_labels, split_labels
from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.methods.bi_scale.decoder import BiScaleDecoder
from syntax_nmt.methods.bi_scale.options import BOTH, CONTEXT, STATE, STEP, WORD, BiScaleOptions
from syntax_nmt.methods.bi_scale.recurrence import BiScaleGRU


class BiScale(RNNDecoderExtension):
    """A decoder with a chunk state in addition to the word state."""

    option = "--bi-scale"
    reads = learns = (CHUNKS,)

    @property
    def labels(self) -> Mapping[AnnotationKind, tuple[str, ...]]:
        """The types of chunks."""
        return {CHUNKS: split_labels(self.options.chunk_tags)}

    @property
    def structures(self) -> tuple[str, ...]:  # type: ignore[override]
        """Chunks, if the decoder knows types of them."""
        return (CHUNKED,) if self.labels[CHUNKS] else ()

    def decoder(self) -> BiScaleDecoder:
        """The decoder."""
        options: BiScaleOptions = self.options
        stack: RNNDecoderStack = self.stack
        read_of_source = {
            CONTEXT: stack.memory_dim,
            STATE: stack.state_dim,
            BOTH: stack.memory_dim + stack.state_dim,
        }
        readout = stack.readout(read_of_source[options.chunk_readout])
        recurrence = BiScaleGRU(
            *stack.dims,
            word_attention=options.chunk_attention == WORD,
            context_every_step=options.chunk_context == STEP,
        )
        return BiScaleDecoder(
            stack.dictionary,
            stack.embed_tokens,
            recurrence,
            readout,
            len(self.labels[CHUNKS]),
            joint_score=not options.no_joint_score,
            memory_dim=stack.memory_dim,
            readout_of=options.chunk_readout,
            **stack.arguments,
        )


def take_chunk_types(options: Any, task: FairseqTask) -> None:
    """Gives a bi-scale decoder the chunk types of the data, unless they are given.

    Args:
        options: of the model, a namespace; changed in place.
    """
    if getattr(options, "bi_scale", False) and getattr(options, "chunk_tags", None) is None:
        options.chunk_tags = join_labels(task.labels(CHUNKS))
