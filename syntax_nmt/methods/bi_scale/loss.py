"""Chunk boundaries and tags of the target: the losses of the bi-scale decoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from fairseq.tasks import FairseqTask
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from syntax_nmt.backbone.numerics import at_least_float32
from syntax_nmt.backbone.structures import CHUNK_BOUNDARIES, CHUNK_OPENS, CHUNK_TYPES
from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.data.batch import Batch, Logged, ModelExtra
from syntax_nmt.errors import UserError
from syntax_nmt.methods.objective import (
    AuxiliaryObjective,
    detached_sum,
    gold_in,
    log_average,
    log_percentage,
)

_NONE = -1  # a position without gold boundary or tag

LOGGED = ("boundary_loss", "boundaries", "boundaries_right", "tag_loss", "tags", "tags_right")


class ChunkObjective(AuxiliaryObjective):
    """`w_b · Σ −log P(b_t) + w_l · Σ −log P(tag)` (Zhou et al., 2017, Section 4).

    Boundaries are counted at every token but the first, where one is forced; the end of the
    sentence is a boundary. Tags are counted where a chunk opens, the first token and the end of the
    sentence included. Sentences without annotation do not count.

    Args:
        boundary_weight: w_b.
        tag_weight: w_l.
    """

    reads_annotation = (CHUNKS,)
    options = (
        "--criterion chunk_cross_entropy, or --boundary-weight and --chunk-tag-weight to "
        "syntax_cross_entropy"
    )

    def __init__(self, boundary_weight: float, tag_weight: float) -> None:
        self.boundary_weight = boundary_weight
        self.tag_weight = tag_weight

    @classmethod
    def from_options(cls, options: Any, task: FairseqTask) -> ChunkObjective | None:
        """Builds the objective; None = both weights are 0.

        Args:
            task: not used.
        """
        if options.boundary_weight == options.chunk_tag_weight == 0:
            return None
        return cls(options.boundary_weight, options.chunk_tag_weight)

    def prepare(self, model: nn.Module) -> None:
        """Checks that the model chooses chunks.

        Raises:
            UserError: it has no bi-scale decoder.
        """
        if CHUNKS not in getattr(model, "learns_annotation", ()):
            raise UserError(
                "the losses of chunk boundaries and tags need the bi-scale decoder: give --arch "
                "bi_scale_rnn, or --bi-scale to another one that has an RNN decoder"
            )

    def __call__(self, extra: ModelExtra, sample: Batch) -> tuple[Tensor, Logged]:
        """Computes the loss of a batch.

        Args:
            extra: has `boundary_logits`, `opened` and `tag_logits` as the decoder gives them.
            sample: has `chunk_tags`, B×T: the tag id where a chunk opens, 0 inside, −1 at pads and
                in sentences without annotation. Validation does not need it.

        Returns:
            the weighted loss summed over positions, and sums for the log.

        Raises:
            UserError: a batch to be trained on has no `chunk_tags`.
        """
        boundary_logits, tag_logits = extra[CHUNK_BOUNDARIES][0], extra[CHUNK_TYPES][0]
        if CHUNKS.key not in sample and not torch.is_grad_enabled():
            zero = boundary_logits.new_zeros(())
            return zero, dict.fromkeys(LOGGED, zero)
        gold = gold_in(sample, CHUNKS).long()
        boundaries = gold.clamp(max=1)  # 1, 0, and −1 where none is known
        boundaries[:, 0] = _NONE
        # Class k − 1 is tag id k. Masking, unlike selecting, does not synchronise a GPU.
        tags = (gold - 1).masked_fill(~extra[CHUNK_OPENS][0] | (gold < 1), _NONE)
        parts = [
            *_loss(boundary_logits.flatten(0, 1), boundaries.flatten()),
            *_loss(tag_logits.flatten(0, 1), tags.flatten()),
        ]
        loss = self.boundary_weight * parts[0] + self.tag_weight * parts[3]
        return loss, dict(zip(LOGGED, map(detached_sum, parts)))

    @staticmethod
    def log(total: Callable[[str], float]) -> None:
        """Logs both losses per counted item, and both accuracies.

        Args:
            total: gives the sum of one logged key over all batches and workers.
        """
        boundaries, tags = total("boundaries"), total("tags")
        log_average("boundary_loss", total("boundary_loss"), boundaries)
        log_average("tag_loss", total("tag_loss"), tags)
        log_percentage("boundary_accuracy", total("boundaries_right"), boundaries)
        log_percentage("tag_accuracy", total("tags_right"), tags)


def _loss(logits: Tensor, gold: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The summed loss, the number of positions that count, and of correct ones.

    Args:
        logits: N×classes.
        gold: N; −1 = does not count.
    """
    loss = cross_entropy(at_least_float32(logits), gold, ignore_index=_NONE, reduction="sum")
    counts = gold.ne(_NONE)
    return loss, counts, logits.argmax(dim=-1).eq(gold) & counts
