"""Attention of tokens to phrases, combined with the tokens (Xu et al., 2020, section 3.2)."""

import torch.nn.functional as F
from fairseq.modules.fairseq_dropout import FairseqDropout
from torch import Tensor, nn

from syntax_nmt.backbone.fused_attention import IncrementalState
from syntax_nmt.backbone.linear_of_pair import LinearOfPair
from syntax_nmt.backbone.numerics import EXACT
from syntax_nmt.methods.phrases.mapped_attention import MappedAttention, is_plain

_MIDPOINT = 0.5


class AttentiveCombination(nn.Module):
    """Attentive combination: equations 7 and 8.

    `attn = MultiHead(x, phrases)` with x as queries and the phrases as keys and values (the paper's
    sentence exchanges them), `out = W4 sigmoid(W3 [x ; attn] + b3) + b4`. Dropout acts on the
    output and, as in an FFN, with a separate probability after the sigmoid. The layer around it
    adds residual and norm.

    The sigmoid is centred at ½, `out = W4 (sigmoid(…) − ½) + b`. This is the same function with
    `b4 = b − ½ W4·1`, unless dropout acts after the sigmoid. Without centring, all inputs of W4 are
    positive: they add a large constant to the tokens from the start, dropout turns it into noise,
    and an Adam step moves all of them together. `literal_sigmoid` does not centre, like equation 8:
    training differs, and with dropout the function, too.

    Args:
        attention: from x to the phrases; its query width is C.
        hidden_dim: rows of W3.
        dropout: probability, on the output.
        activation_dropout: probability, after the sigmoid; the authors' released code has it.
        residual_attention: add `attn` to the output, as the authors' released code does.
        literal_sigmoid: see above.
    """

    def __init__(
        self,
        attention: MappedAttention,
        hidden_dim: int,
        dropout: float,
        activation_dropout: float = 0.0,
        residual_attention: bool = False,
        literal_sigmoid: bool = False,
    ) -> None:
        super().__init__()
        self.attention = attention
        width = attention.embed_dim
        self.hidden = LinearOfPair(width, width, hidden_dim)  # W3, b3
        self.output = nn.Linear(hidden_dim, width)  # W4, b
        name = type(self).__name__
        self.dropout_module = FairseqDropout(dropout, module_name=name)
        self.activation_dropout_module = FairseqDropout(activation_dropout, module_name=name)
        self.residual_attention = residual_attention
        self.literal_sigmoid = literal_sigmoid

    def extra_repr(self) -> str:
        """The numbers that define the module."""
        return (
            f"residual_attention={self.residual_attention}, literal_sigmoid={self.literal_sigmoid}"
        )

    def forward(
        self,
        x: Tensor,
        phrases: Tensor | None,
        phrase_padding: Tensor | None,
        incremental_state: IncrementalState | None = None,
    ) -> Tensor:
        """The residual to add to the tokens.

        Args:
            x: T×B×C.
            phrases: P×B×C; may be None once incremental decoding has cached their projections.
            phrase_padding: B×P, True = no phrase.
            incremental_state: the cache of incremental decoding.

        Returns:
            T×B×C.
        """
        if not self.residual_attention:
            rows = self.attention.mapped(x, phrases, phrase_padding, incremental_state, self.hidden)
            return self._combined(rows).view_as(x)
        attended, _ = self.attention(
            query=x, key=phrases, value=phrases, key_padding_mask=phrase_padding,
            incremental_state=incremental_state, static_kv=True, need_weights=False,
        )  # fmt: skip
        return self._combined(self.hidden(x, attended)).view_as(x) + attended

    def _combined(self, hidden: Tensor) -> Tensor:
        """The second layer, N×C; `hidden`, the input of its sigmoid, N×hidden_dim."""
        hidden, dropout = hidden.sigmoid_(), self.activation_dropout_module
        drops = dropout.p > 0 and (self.training or dropout.apply_during_inference)
        if not self.literal_sigmoid:
            if not drops and hidden.dtype in EXACT and is_plain(self.output):
                # Subtracted from the sum, not from every number: this saves a pass over the tokens.
                bias = self.output.bias - _MIDPOINT * self.output.weight.sum(dim=1)
                return self.dropout_module(F.linear(hidden, self.output.weight, bias))
            hidden = hidden - _MIDPOINT
        return self.dropout_module(self.output(dropout(hidden)))
