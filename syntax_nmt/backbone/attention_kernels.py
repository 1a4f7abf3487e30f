"""Which of torch's fused attention kernels the models of this package take on a GPU."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

logger = logging.getLogger(__name__)

AUTO, TORCH = "auto", "torch"
ATTENTION_KERNELS = (AUTO, TORCH)

_CUDNN_FIRST = (9, 0)  # from Hopper on, torch takes cuDNN's kernel before all others


def avoids_cudnn(device_type: str, capability: tuple[int, int] | None, kernels: str) -> bool:
    """Whether attention leaves out cuDNN's kernel.

    cuDNN makes a plan for every new shape, which takes about a second. In a training, almost
    every batch has a new shape. Flash and memory-efficient kernels need no plan.

    Args:
        device_type: such as `cuda`.
        capability: of a GPU, major and minor.
        kernels: of :data:`ATTENTION_KERNELS`.
    """
    if kernels == TORCH or device_type != "cuda" or torch.version.hip is not None:
        return False
    return capability is not None and capability >= _CUDNN_FIRST


def fused_attention(q: Tensor, k: Tensor, v: Tensor, kernels: str, **how: Any) -> Tensor:
    """torch's scaled dot-product attention.

    Args:
        q: B×H×T×D.
        k: B×H×S×D.
        v: B×H×S×D.
        kernels: of :data:`ATTENTION_KERNELS`.
        **how: as of `torch.nn.functional.scaled_dot_product_attention`.

    Returns:
        B×H×T×D.
    """
    if q.is_cuda and _avoids_cudnn_on(q.device, kernels):
        with _without_cudnn():
            return F.scaled_dot_product_attention(q, k, v, **how)
    return F.scaled_dot_product_attention(q, k, v, **how)


@cache
def _avoids_cudnn_on(device: torch.device, kernels: str) -> bool:
    """The choice on a GPU, which is made and logged once a process."""
    avoids = avoids_cudnn(device.type, torch.cuda.get_device_capability(device), kernels)
    if avoids:
        logger.info(
            "attention on %s: flash and memory-efficient kernels; cuDNN's, which torch prefers "
            "there, would prepare for every new shape of a batch (to take it: "
            "--attention-kernels torch)",
            device,
        )
    return avoids


@contextmanager
def _without_cudnn() -> Iterator[None]:
    """Within the context, torch does not take cuDNN's kernel; other settings stay as they are.

    `torch.nn.attention.sdpa_kernel` sets all of them, at 20 times the cost of this switch.
    """
    before = torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        torch.backends.cuda.enable_cudnn_sdp(before)
