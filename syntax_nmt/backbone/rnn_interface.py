"""What the encoder, the decoder and the extensions of the RNN family know of one another."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import Tensor, nn

NO_LIMIT = int(1e5)  # a recurrent network has none; the task's --max-source-positions has

STATES, PADDING, ROWS = "encoder_out", "encoder_padding_mask", "encoder_rows"
SUMMARY = "encoder_summary"


@dataclass(frozen=True)
class Encoded:
    """What decoders read of a batch of source sentences.

    Attributes:
        states: B×N×M; the first S are those of the tokens.
        padding: B×N, True = nothing to attend to.
        more: further tensors, B×…, by their names among the encoder's outputs. Under `SUMMARY`,
            B×M, from which RNN decoders start in place of the mean of the states.
    """

    states: Tensor
    padding: Tensor
    more: Mapping[str, Tensor] = field(default_factory=dict)


class EncoderNetwork(nn.Module):
    """Turns embeddings, B×S×E, and padding, B×S with True = pad, into states, B×S×M.

    It gets what else it reads from the extension that builds it.

    Attributes:
        output_dim: M.
    """

    output_dim: int
