"""A search of fairseq's: what it and our decoders are told beforehand, and `--replace-unk`, a word
for each unknown one by the source word that it attends to most.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from fairseq import utils
from fairseq.data import Dictionary
from fairseq.search import DiverseBeamSearch, Sampling
from fairseq.sequence_generator import SequenceGeneratorWithAlignment
from fairseq.sequence_scorer import SequenceScorer
from omegaconf import OmegaConf, open_dict
from torch import Tensor, nn

from syntax_nmt.errors import UserError


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


def of_empty_sources(
    found: list[list[dict[str, Any]]], src_tokens: Tensor, dictionary: Dictionary
) -> list[list[dict[str, Any]]]:
    """The hypotheses of a batch, where a sentence without words has an empty one, of score 0.

    A model that never saw such a sentence makes up a translation.

    Args:
        found: of fairseq's search, for each sentence, the best first.
        src_tokens: B×S, padded, EOS last.
    """
    words = src_tokens.ne(dictionary.pad()) & src_tokens.ne(dictionary.eos())
    filled = words.any(dim=1).tolist()
    if all(filled):
        return found
    return [
        hypotheses if has_words or not hypotheses else [_empty(hypotheses[0], dictionary.eos())]
        for hypotheses, has_words in zip(found, filled)
    ]


def _empty(hypothesis: dict[str, Any], eos: int) -> dict[str, Any]:
    """A hypothesis that is EOS alone; what is by position is cut to that."""
    tokens = hypothesis["tokens"].new_tensor([eos])
    scores = hypothesis["positional_scores"].new_zeros(1)
    empty = {**hypothesis, "tokens": tokens, "positional_scores": scores}
    empty["score"] = scores[0]
    if isinstance(hypothesis.get("attention"), Tensor) and hypothesis["attention"].dim() == 2:
        empty["attention"] = hypothesis["attention"][:, :1]  # S×T
    if "alignment" in hypothesis:
        empty["alignment"] = hypothesis["alignment"][:0]
    return empty


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


class Link(tuple[int, int]):
    """A link of an alignment, (source, target), that is its source where an index is wanted.

    fairseq's programs print alignments as pairs, but where they replace an unknown word they look
    for the source word at `alignment[target]` itself, which a pair is no index for.
    """

    def __index__(self) -> int:
        return self[0]


def build_replacing(
    build: Callable[..., Any], models: Any, args: Any, *more: Any, **kw: Any
) -> Any:
    """Builds a search; if unknown words are to be replaced it aligns, asked to or not.

    Args:
        build: of fairseq's task.
        args: fairseq's options of the search; they decide what is printed, and stay as they are.
        *more: for `build`.
        **kw: for `build`.

    Raises:
        UserError: alignments of another form are wanted as well.
    """
    if getattr(args, "replace_unk", None) is None or getattr(args, "score_reference", False):
        return build(models, args, *more, **kw)
    if getattr(args, "print_alignment", None) == "soft":
        raise UserError(
            "--replace-unk follows hard alignments: leave `soft` behind --print-alignment out"
        )
    args = copy.copy(args)
    with open_dict(args) if OmegaConf.is_config(args) else nullcontext():
        args.print_alignment = "hard"
    generator = build(models, args, *more, **kw)
    generator.extract_alignment = extract_links
    return generator


def extract_links(
    attention: Tensor, source: Tensor, target: Tensor, pad: int, eos: int
) -> list[Link]:
    """The link of each target word to the source word of most weight.

    Args:
        attention: T×S.
        source: S, padded.
        target: T, padded.
        eos: id of EOS.

    Returns:
        One a word of the target. A source without words has but EOS, at 0, to link to.
    """
    links = utils.extract_hard_alignment(attention, source, target, pad, eos)
    words = int((target.ne(pad) & target.ne(eos)).sum())
    return [Link(link) for link in links or ((0, word) for word in range(words))]
