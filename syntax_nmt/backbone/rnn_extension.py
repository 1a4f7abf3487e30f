"""What a method can add to an encoder or a decoder of the RNN family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

from fairseq.data import Dictionary
from torch import Tensor, nn

from syntax_nmt.backbone.attentive_recurrence import AttentiveGRU, ConditionalGRU
from syntax_nmt.backbone.extension import DecoderExtension, EncoderExtension, Source
from syntax_nmt.backbone.readout import Readout
from syntax_nmt.backbone.rnn_decoder import RNNDecoder
from syntax_nmt.backbone.rnn_interface import Encoded, EncoderNetwork


class RNNEncoderExtension(EncoderExtension):
    """What a method adds to an RNN encoder."""

    def network(self) -> Optional[EncoderNetwork]:
        """The network in place of a bidirectional GRU; None = the method has none."""
        return None

    def network_inputs(self, source: Source) -> Mapping[str, Tensor]:
        """What its :meth:`network` reads beside embeddings and padding, by argument."""
        return {}

    def output_width(self, width: int) -> int:
        """The width of what :meth:`extended` gives.

        Args:
            width: M, of what it gets.
        """
        return width

    def extended(self, encoded: Encoded, source: Source) -> Encoded:
        """What decoders read, after all extensions have changed the states of the tokens."""
        return encoded


class RNNDecoderExtension(DecoderExtension):
    """What a method adds to an RNN decoder."""

    def decoder(self) -> Optional[RNNDecoder]:
        """The decoder in place of the usual one; None = the method has none."""
        return None


@dataclass(frozen=True)
class RNNEncoderStack:
    """The encoder that extensions are built for.

    Attributes:
        dictionary: of the source.
        embed_dim: E.
        state_dim: C, units of a GRU in one direction.
        shares_embeddings: the target's embeddings are the same.
        has_given_embeddings: they come from a file.
    """

    dictionary: Dictionary
    embed_dim: int
    state_dim: int
    shares_embeddings: bool = False
    has_given_embeddings: bool = False


@dataclass(frozen=True)
class RNNDecoderStack:
    """The decoder that extensions are built for.

    Attributes:
        dictionary: of the target.
        embed_tokens: V×E.
        embed_dim: E.
        state_dim: C.
        memory_dim: M.
        attention_dim: A, rows of W_a and U_a.
        readout_kind: one of :data:`syntax_nmt.backbone.readout.READOUTS`.
        readout_dim: its width.
        conditional: whether its steps are those of a :class:`ConditionalGRU`.
        arguments: further ones of every :class:`RNNDecoder`.
    """

    dictionary: Dictionary
    embed_tokens: nn.Embedding
    embed_dim: int
    state_dim: int
    memory_dim: int
    attention_dim: int
    readout_kind: str
    readout_dim: int
    conditional: bool = False
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def dims(self) -> tuple[int, int, int, int]:
        """The widths of a recurrence: E, C, M and A."""
        return self.embed_dim, self.state_dim, self.memory_dim, self.attention_dim

    def recurrence(self) -> AttentiveGRU:
        """The lowest layer."""
        kind = ConditionalGRU if self.conditional else AttentiveGRU
        return kind(*self.dims)

    def readout(self, read_of_source: int) -> Readout:
        """The readout.

        Args:
            read_of_source: width of what it reads in addition to state and word.
        """
        return Readout(
            self.state_dim, self.embed_dim, read_of_source, self.readout_dim, self.readout_kind
        )
