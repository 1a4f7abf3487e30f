"""Validation with the boundaries that the decoder chooses itself."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import nn

from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.data.batch import Batch, Logged
from syntax_nmt.methods.bi_scale.loss import LOGGED
from syntax_nmt.methods.objective import log_average

Validated = tuple[Any, Any, Logged]
_NLL, _TOKENS = "gold_nll_loss", "gold_ntokens"


def applies(sample: Mapping[str, Any]) -> bool:
    """Whether a batch has gold boundaries among the inputs of the model."""
    return CHUNKS.key in sample["net_input"]


def validated(
    validate: Callable[[Batch], Validated],
    sample: Batch,
    model: nn.Module,
    criterion: nn.Module,
) -> Validated:
    """The loss of a batch with the model's own boundaries, and figures with the gold boundaries.

    Gold boundaries reveal part of the next word, so the loss with them is not comparable with a
    baseline's. Therefore the loss with the model's own boundaries selects checkpoints. A second
    pass with gold boundaries gives the figures for boundaries and tags.

    Args:
        validate: computes loss, sample size and log of a batch.
        sample: with the annotation at its top and among the inputs.
        model: in evaluation mode.

    Returns:
        loss, sample size and log as of `validate`; the log has in addition the sums of
        :func:`log` and the figures of boundaries and tags.
    """
    loss, size, logs = validate(_without_chunks(sample))
    with torch.no_grad():  # fairseq-validate computes gradients unless told otherwise
        _, _, gold = criterion(model, sample)
    logs.update({name: gold[name] for name in LOGGED if name in gold})
    # Without label smoothing the loss is the nll, and the log has only the loss.
    logs.update({_NLL: gold.get("nll_loss", gold["loss"]), _TOKENS: gold["ntokens"]})
    return loss, size, logs


def _without_chunks(sample: Batch) -> Batch:
    """A copy of a batch with chunks neither at its top nor among the inputs."""

    def rest(values: Batch) -> Batch:
        return {key: value for key, value in values.items() if key not in CHUNKS.keys}

    return {**rest(sample), "net_input": rest(sample["net_input"])}


def log(logging_outputs: Iterable[Mapping[str, Any]]) -> None:
    """Logs, in addition to the losses, the nll with the boundaries of the annotation.

    Args:
        logging_outputs: sums of all workers and batches; those of training have no such sum.
    """
    nll, tokens = (
        float(sum(log.get(name, 0) for log in logging_outputs)) for name in (_NLL, _TOKENS)
    )
    log_average(_NLL, nll, tokens)
