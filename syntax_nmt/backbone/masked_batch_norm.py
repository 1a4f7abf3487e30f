"""Batch norm over the real positions of padded sentences, on any number of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributed.nn.functional import all_reduce

from syntax_nmt.backbone.packing import PackedRows


class MaskedBatchNorm(nn.Module):
    """Batch norm (Ioffe and Szegedy, 2015) whose mean and variance are of real positions only.

    `y = (x − E[x]) / sqrt(Var[x] + ε) · weight + bias`, channel by channel. In training E and Var
    are over the real positions of the batch on all workers together, in evaluation mode they are
    running averages. Statistics are computed and stored in float32 for every type of model (float64
    for a float64 model). If the batch is a single position, its variance is 0 and does not change
    the running variance.

    In training all workers must call the module equally often, because they wait for one another.
    For batches that do not count see :func:`ignored_batch`.

    Args:
        channels: C.
        eps: ε.
        momentum: the share of each batch in the running averages.
    """

    starts_by_itself = True
    running_mean: Tensor
    running_var: Tensor

    def __init__(self, channels: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__()
        self.channels = channels
        self.eps = eps
        self.momentum = momentum
        self.ignore_batch = False
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))

    def extra_repr(self) -> str:
        """The numbers that define the module."""
        return f"{self.channels}, eps={self.eps}, momentum={self.momentum}"

    def forward(self, x: Tensor, rows: PackedRows) -> Tensor:
        """Normalises the real positions.

        Args:
            x: B×S×C; what pads hold is not read.
            rows: where the batch's words are.

        Returns:
            B×S×C of the type of x, zeros at pads.
        """
        words = rows.take(x)
        words = words.to(torch.promote_types(words.dtype, self.running_mean.dtype))
        weight, bias = self.weight.to(words.dtype), self.bias.to(words.dtype)
        if self.training:
            mean, var = self._batch_statistics(words)
            normal = (words - mean) * torch.rsqrt(var + self.eps) * weight + bias
        else:
            mean, var = self.running_mean, self.running_var
            normal = F.batch_norm(words, mean, var, weight, bias, eps=self.eps)
        return rows.put(normal.to(x.dtype))

    def _batch_statistics(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of the words of all workers; moves the running averages.

        Two passes, as the mean of squares minus the squared mean is inaccurate in float32.
        """
        counted = words[:0] if self.ignore_batch else words
        sums = torch.cat([counted.sum(dim=0), words.new_full((1,), len(counted))])
        sums = _over_workers(sums)
        count = sums[-1].detach()
        mean = sums[:-1] / count.clamp(min=1)
        squares = _over_workers((counted - mean).square().sum(dim=0))
        self._move_averages(mean.detach(), squares.detach(), count)
        # If no worker has a batch that counts, the running averages are used.
        mean = torch.where(count > 0, mean, self.running_mean)
        return mean, torch.where(count > 0, squares / count.clamp(min=1), self.running_var)

    @torch.no_grad()
    def _move_averages(self, mean: Tensor, squares: Tensor, count: Tensor) -> None:
        """Updates them as torch does: the running variance is that of the unbiased estimate.

        A channel that overflows is omitted, because float16 training skips the update and
        continues.
        """
        unbiased = squares / (count - 1).clamp(min=1)
        finite = (mean + unbiased).isfinite()
        for average, now, enough in (
            (self.running_mean, mean, count > 0),
            (self.running_var, unbiased, count > 1),
        ):
            moved = average.lerp(now, self.momentum)
            average.copy_(torch.where(enough & finite, moved, average))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> MaskedBatchNorm:
        """Moves the module; `half()` and `bfloat16()` leave the running averages in float32."""
        before = {"running_mean": self.running_mean, "running_var": self.running_var}
        super()._apply(fn, recurse)
        for name, exact in before.items():
            moved = getattr(self, name)
            if moved.dtype in (torch.float16, torch.bfloat16):
                setattr(self, name, exact.to(moved.device))
        return self


@contextmanager
def ignored_batch(model: nn.Module, ignored: bool = True) -> Iterator[None]:
    """Within the context, no batch of this worker counts in any :class:`MaskedBatchNorm` of the
    model.

    fairseq gives a worker that has run out of batches an earlier one and multiplies its loss by 0.
    The task tells the model, because fairseq does not: such a batch must neither count in the other
    workers' statistics nor change the running averages. The other workers still wait for this
    worker's part, which is zero.

    Args:
        model: contains the modules; may be wrapped for distributed training.
        ignored: whether to ignore the batch; otherwise nothing happens.
    """
    norms = [module for module in model.modules() if isinstance(module, MaskedBatchNorm)]
    for norm in norms:
        norm.ignore_batch = ignored
    try:
        yield
    finally:
        for norm in norms:
            norm.ignore_batch = False


def _over_workers(part: Tensor) -> Tensor:
    """The sum over all workers, with gradients to all."""
    if dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1:
        return all_reduce(part)
    return part
