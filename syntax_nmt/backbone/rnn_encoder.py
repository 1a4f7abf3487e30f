"""The encoder of the RNN family, and RNNsearch's network in it: one GRU in each direction."""

from collections.abc import Sequence
from typing import Any

from fairseq.data import Dictionary
from fairseq.models import FairseqEncoder
from fairseq.modules import FairseqDropout
from torch import Tensor, nn

from syntax_nmt.backbone.extended_stack import ExtendedStack
from syntax_nmt.backbone.extension import Source
from syntax_nmt.backbone.gru import BOTH, SentenceGRU
from syntax_nmt.backbone.packing import PackedRows, rearranged_rows
from syntax_nmt.backbone.rnn_extension import RNNEncoderExtension
from syntax_nmt.backbone.rnn_interface import (
    NO_LIMIT,
    PADDING,
    ROWS,
    STATES,
    Encoded,
    EncoderNetwork,
)
from syntax_nmt.backbone.word_spans import WordSpans


class RNNEncoder(ExtendedStack, FairseqEncoder):
    """Embeddings, and a network that turns them into states.

    Args:
        embed_tokens: V×E.
        network: makes the encoder's states.
        extensions: from what acts lowest to what stands on top.
    """

    extensions: Sequence[RNNEncoderExtension]

    def __init__(
        self,
        dictionary: Dictionary,
        embed_tokens: nn.Embedding,
        network: EncoderNetwork,
        dropout_in: float = 0.0,
        dropout_out: float = 0.0,
        extensions: Sequence[RNNEncoderExtension] = (),
    ) -> None:
        super().__init__(dictionary)
        self.embed_tokens = embed_tokens
        self.network = network
        self.dropout_in = FairseqDropout(dropout_in, module_name="RNNEncoder")
        self.dropout_out = FairseqDropout(dropout_out, module_name="RNNEncoder")
        self.output_dim = network.output_dim
        self.word_spans = WordSpans(dictionary)
        self.register_extensions(extensions)
        for extension in extensions:
            self.output_dim = extension.output_width(self.output_dim)

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor | None = None,
        return_all_hiddens: bool = False,
        **annotation: Any,
    ) -> dict[str, list[Tensor]]:
        """Encodes a batch.

        Args:
            src_tokens: B×S, padded on either side.
            src_lengths: not read, because the pads give the lengths.
            return_all_hiddens: not read.
            **annotation: under the keys of its kinds, perhaps also for other models of an
                ensemble; and arguments of Transformers, which are not read.

        Returns:
            `encoder_out`: the encoder's states S×B×M, in the columns of `src_tokens`;
            `encoder_padding_mask`: B×S, True = pad. Extensions may add states beyond S, and
            further entries.
        """
        padding = src_tokens.eq(self.dictionary.pad())
        source = Source(src_tokens, padding, annotation, self.word_spans)
        x = self.embed_tokens(src_tokens)
        for extension in self.extensions:
            x = extension.embed(x, source)
        x = self.dropout_in(x)
        for extension in self.extensions:
            x = extension.below(x, source)
        inputs: dict[str, Tensor] = {}
        for extension in self.extensions:
            inputs.update(extension.network_inputs(source))
        encoded = self.network(x, padding, **inputs)
        for extension in self.extensions:
            encoded = extension.above(encoded, source)
        read = Encoded(encoded, padding)
        for extension in self.extensions:
            read = extension.extended(read, source)
        states = self.dropout_out(read.states)
        further = {name: [tensor] for name, tensor in read.more.items()}
        return {STATES: [states.transpose(0, 1)], PADDING: [read.padding], **further}

    def reorder_encoder_out(
        self, encoder_out: dict[str, list[Tensor]], new_order: Tensor
    ) -> dict[str, list[Tensor]]:
        """Rearranges what :meth:`forward` returned, as a search rearranges its hypotheses.

        Args:
            encoder_out: of :meth:`forward`.
            new_order: the row that goes to each place.
        """
        return rows_rearranged(encoder_out, new_order)

    def max_positions(self) -> int:
        """The longest source: the task's limit is the only one."""
        return NO_LIMIT


def rows_rearranged(
    encoder_out: dict[str, list[Tensor]], new_order: Tensor
) -> dict[str, list[Tensor]]:
    """What an encoder returned, rearranged for an RNN decoder.

    The decoder reads the encoder's states only at the first step, once per sentence: only their row
    numbers, `encoder_rows`, are rearranged.

    Args:
        encoder_out: rearranged any number of times.
        new_order: the row that goes to each place.
    """
    return {**encoder_out, ROWS: rearranged_rows(encoder_out.get(ROWS), new_order)}


class BidirectionalEncoder(EncoderNetwork):
    """`h_i = [GRU→(x_i, h→_{i−1}); GRU←(x_i, h←_{i+1})]` (Zhang et al., 2018, equation 1).

    Args:
        input_dim: width of the embeddings.
        state_dim: C, units in one direction.
    """

    def __init__(self, input_dim: int, state_dim: int) -> None:
        super().__init__()
        self.gru = SentenceGRU(input_dim, state_dim, BOTH)
        self.output_dim = self.gru.output_dim

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        """The encoder's states of a batch.

        Args:
            x: B×S×E.
            padding: B×S, True = pad.

        Returns:
            B×S×2C, zero at pads.
        """
        return self.gru(x, PackedRows(padding))
