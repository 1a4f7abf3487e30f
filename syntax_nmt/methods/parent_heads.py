"""The loss of attention heads that learn each token's head in a dependency tree, and its log."""

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor

from syntax_nmt.methods.objective import log_average, log_percentage


def masked_log_softmax(logits: Tensor, padding: Tensor) -> Tensor:
    """Log-probabilities of each row, without columns of pads.

    Args:
        logits: B×…×T×S.
        padding: B×S, True = pad.
    """
    shape = (len(padding), *(1,) * (logits.dim() - 2), padding.size(1))
    return F.log_softmax(logits.masked_fill(padding.view(shape), float("-inf")), dim=-1)


def parent_head_losses(log_probabilities: Tensor, heads: Tensor) -> tuple[Tensor, Tensor]:
    """Each token's `−log P[i, head(i)]`, and whether its largest weight is on its head.

    Args:
        log_probabilities: of the attention head, B×S×S.
        heads: B×S; −1 = not supervised.

    Returns:
        losses, B×S, 0 where not supervised, and a mask, B×S, True = attached to its head.
    """
    supervised = heads.ge(0)
    parents = heads.clamp(min=0)
    losses = -log_probabilities.gather(2, parents.unsqueeze(2)).squeeze(2)
    attached = log_probabilities.argmax(dim=2).eq(parents) & supervised
    return losses.masked_fill(~supervised, 0.0), attached


def log_parent_head(prefix: str, total: Callable[[str], float]) -> None:
    """Logs loss per supervised token, attachment accuracy and the supervised share.

    Args:
        prefix: of the sums `PREFIX_loss`, `PREFIX_attached`, `PREFIX_supervised` and
            `PREFIX_words`, and of what is logged.
        total: gives the sum of one logged key over all batches and workers.
    """
    supervised = total(f"{prefix}_supervised")
    log_average(f"{prefix}_loss", total(f"{prefix}_loss"), supervised)
    log_percentage(f"{prefix}_uas", total(f"{prefix}_attached"), supervised)
    log_percentage(f"{prefix}_supervised", supervised, total(f"{prefix}_words"))
