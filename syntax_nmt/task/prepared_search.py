"""A search of fairseq's: options that it would stop at only after the first batch, and what it and
our decoders are told beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from fairseq.search import DiverseBeamSearch, Sampling
from fairseq.sequence_generator import SequenceGeneratorWithAlignment
from fairseq.sequence_scorer import SequenceScorer
from torch import nn

from syntax_nmt.arguments import flag
from syntax_nmt.errors import UserError

_ITERATIVE = ("print_step", "retain_iter_history")


@contextmanager
def prepared_for(generator: Any, models: Sequence[nn.Module]) -> Iterator[None]:
    """Within, our decoders know the beam size and whether attention weights are wanted.

    Joint scores (`joint_score` of a decoder) are left out of sampling, whose top-p counts on
    probabilities that add up to 1, and where some models of an ensemble have none: in the mean of
    the probabilities such a model would outweigh the others.

    Args:
        generator: fairseq's generator or scorer.
    """
    beam_size = getattr(generator, "beam_size", 1)
    aligns = isinstance(generator, SequenceGeneratorWithAlignment)
    need_attn = aligns or getattr(generator, "compute_alignment", False)  # fairseq's scorer
    # It adds up the weights of an ensemble even so: all models must have them.
    need_attn = need_attn or (isinstance(generator, SequenceScorer) and len(models) > 1)
    every_decoder: list[Any] = [getattr(model, "decoder", None) for model in models]
    decoders = [decoder for decoder in every_decoder if hasattr(decoder, "prepare_for_search")]
    joint = [decoder for decoder in every_decoder if getattr(decoder, "joint_score", False)]
    samples = isinstance(getattr(generator, "search", None), Sampling)
    scores_jointly = not samples and len(joint) == len(every_decoder)
    outside = [decoder.need_attn for decoder in decoders]
    for decoder in decoders:
        decoder.prepare_for_search(beam_size, need_attn)
    for decoder in joint:
        decoder.joint_score = scores_jointly
    try:
        yield
    finally:
        for decoder, needed in zip(decoders, outside):
            decoder.prepare_for_search(1, needed)
        for decoder in joint:
            decoder.joint_score = True


def numbered_for(generator: Any, sample: dict[str, Any]) -> dict[str, Any]:
    """A batch whose sentences a search with diverse groups can tell apart.

    fairseq's keeps what the groups have said by the place of a sentence in the batch, and looks it
    up by the number of the sentence in its text.

    Args:
        generator: fairseq's generator or scorer.
    """
    if not isinstance(getattr(generator, "search", None), DiverseBeamSearch):
        return sample
    return {**sample, "id": torch.arange(len(sample["id"]), device=sample["id"].device)}


def check_search_options(args: Any) -> None:
    """Refuses what no search of these models can print.

    Args:
        args: fairseq's options of the search.

    Raises:
        UserError: names the option.
    """
    for name in _ITERATIVE:
        if getattr(args, name, False):
            raise UserError(
                f"{flag(name)} is for models that refine a translation step by step, which these "
                "do not: leave it out"
            )
    if getattr(args, "score_reference", False) and getattr(args, "print_alignment", "") == "soft":
        raise UserError(
            "--score-reference gives hard alignments: leave `soft` behind --print-alignment out"
        )
