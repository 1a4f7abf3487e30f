"""Label-smoothed cross-entropy of an output layer without storing all logits at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from syntax_nmt.backbone.block_size import BlockSize
from syntax_nmt.backbone.numerics import exact_type

TOKEN_LOSS = "token_loss"  # the name of the result in the model's output; it replaces the logits

_BLOCK = BlockSize(cpu=2**22, gpu=2**26)  # logits


@dataclass(frozen=True)
class LinearCrossEntropy:
    """fairseq's label-smoothed cross-entropy of `softmax(W · features + bias)`.

    `(1 − ε − ε') · −log p_y + ε' · Σ_v −log p_v` with `ε' = ε / (V − 1)`, summed over all target
    tokens y but pads: what fairseq's `label_smoothed_cross_entropy` computes. fairseq's stores
    about five tensors of B·T·V numbers; here logits, probabilities and their gradient exist for one
    block of tokens at a time, and pads are omitted before the product with W (on a CPU; this would
    synchronise a GPU). The forward pass computes the gradients with the loss, so only the gradient
    of W, among tensors of size V, is stored.

    In float16 autograd computes the gradients, with all logits at once: most gradients are too
    small for float16 before the trainer scales the loss, and sums over tokens are too large after
    any fixed scale.

    Attributes:
        target: B×T.
        epsilon: ε.
        padding_idx: the target that does not count.
    """

    target: Tensor
    epsilon: float
    padding_idx: int

    def __call__(self, features: Tensor, projection: nn.Linear) -> tuple[Tensor, Tensor]:
        """The loss and the negative log-likelihood of a batch, summed; the latter for the log only.

        Args:
            features: B×T×C.
            projection: the output layer, C → V.
        """
        device = features.device.type
        autocast = torch.is_autocast_enabled(device)
        dtype = torch.get_autocast_dtype(device) if autocast else features.dtype
        if dtype == torch.float16:
            log_p = F.log_softmax(projection(features).flatten(0, 1), dim=1, dtype=torch.float32)
            loss, nll = self.of_block(log_p, self.target.flatten())
            return loss, nll.detach()
        x, target = features.flatten(0, 1), self.target.flatten()
        if target.device.type == "cpu":
            words = target.ne(self.padding_idx).nonzero().squeeze(1)
            x, target = x.index_select(0, words), target.index_select(0, words)
        weight: Tensor = projection.weight
        bias: Tensor | None = projection.bias
        if autocast:
            x, weight = x.to(dtype), weight.to(dtype)
            bias = None if bias is None else bias.to(dtype)
        with torch.autocast(device, enabled=False):
            return _Blockwise.apply(x, weight, bias, self, target, torch.is_grad_enabled())

    def of_block(self, log_p: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Loss and negative log-likelihood of a block of tokens, summed.

        Args:
            log_p: log-probabilities, N×V.
            target: N.
        """
        pads = target.eq(self.padding_idx)
        nll = -log_p.gather(1, target.unsqueeze(1)).squeeze(1).masked_fill(pads, 0.0).sum()
        of_all = -log_p.sum(dim=1).masked_fill(pads, 0.0).sum()
        spread = self._spread(log_p)
        return (1 - self.epsilon - spread) * nll + spread * of_all, nll

    def logit_gradients_(self, log_p: Tensor, target: Tensor) -> Tensor:
        """The gradients of the logits, `p − ε'`, less `1 − ε − ε'` at y, in place of `log_p`.

        Args:
            log_p: log-probabilities, N×V.
            target: N.
        """
        spread = self._spread(log_p)
        gradients = log_p.exp_().sub_(spread)
        at_target = gradients.new_full((len(target), 1), self.epsilon + spread - 1)
        gradients.scatter_add_(1, target.unsqueeze(1), at_target)
        return gradients.masked_fill_(target.eq(self.padding_idx).unsqueeze(1), 0.0)

    def _spread(self, log_p: Tensor) -> float:
        """ε'"""
        return self.epsilon / (log_p.size(1) - 1)


class _Blockwise(torch.autograd.Function):
    """The loss of N tokens; forward computes its gradients, too, and backward only scales them."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        loss: LinearCrossEntropy,
        target: Tensor,
        need_gradients: bool,
    ) -> tuple[Tensor, Tensor]:
        rows = max(1, _BLOCK.on(x.device) // len(weight))
        gradients = _Gradients(x, weight, bias) if need_gradients else None
        sums = []
        for some, words in zip(x.split(rows), target.split(rows)):
            logits = F.linear(some, weight, bias)
            log_p = F.log_softmax(logits, dim=1, dtype=exact_type(x))
            sums.append(torch.stack(loss.of_block(log_p, words)))
            if gradients is not None:
                gradients.add(loss.logit_gradients_(log_p, words), some, weight)
        ctx.gradients = gradients
        total, nll = torch.stack(sums).sum(dim=0).unbind()
        ctx.mark_non_differentiable(nll)
        # fairseq multiplies the loss of a worker without a batch by 0 in its place, which torch
        # forbids for a view.
        return total.clone(), nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_loss: Tensor, of_nll: Tensor) -> tuple[Tensor | None, ...]:
        return (*ctx.gradients.times(of_loss), None, None, None)


class _Gradients:
    """The gradients of features, weight and bias, summed over blocks."""

    def __init__(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> None:
        exact = exact_type(x)
        self.dtype = x.dtype
        self.of_x: list[Tensor] = []
        self.of_weight = torch.zeros_like(weight, dtype=exact)
        self.of_bias = None if bias is None else torch.zeros_like(bias, dtype=exact)

    def add(self, of_logits: Tensor, x: Tensor, weight: Tensor) -> None:
        """Adds a block."""
        if self.of_bias is not None:
            self.of_bias += of_logits.sum(dim=0)
        of_logits = of_logits.to(self.dtype)
        self.of_x.append(torch.mm(of_logits, weight))
        if self.of_weight.dtype == self.dtype:
            self.of_weight.addmm_(of_logits.t(), x)
        else:
            self.of_weight += torch.mm(of_logits.t(), x)

    def times(self, factor: Tensor) -> Iterator[Tensor | None]:
        """The sums, multiplied in their own precision."""
        for gradient in (torch.cat(self.of_x), self.of_weight, self.of_bias):
            yield None if gradient is None else (gradient * factor).to(self.dtype)
