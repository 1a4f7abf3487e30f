"""Hooks of the task for fairseq's search: its preparation with our decoders, and `--replace-unk`,
which replaces an unknown word by the source word that it attends to most.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from fairseq import utils
from fairseq.data import Dictionary
from fairseq.search import DiverseBeamSearch, Sampling
from fairseq.sequence_generator import SequenceGenerator, SequenceGeneratorWithAlignment
from fairseq.sequence_scorer import SequenceScorer
from omegaconf import OmegaConf, open_dict
from torch import Tensor, nn

from syntax_nmt.backbone.extended_stack import ExtendedStack
from syntax_nmt.data.batch import Batch, source_tokens
from syntax_nmt.errors import UserError, exits_in_fairseq_programs
from syntax_nmt.task.annotation_inputs import AnnotationInputs
from syntax_nmt.task.hypothesis_factors import Hypothesis, add_factors, check_factors, print_factors
from syntax_nmt.task.typed_input import TypedInput


class SearchHooks:
    """Part of a task of fairseq: to list before its class.

    Attributes:
        inputs: gives models the annotation that they declare.
        typed: text typed into `fairseq-interactive` and the Python interface.
        gives_factors: whether hypotheses have the factors of their words.
    """

    cfg: Any
    src_dict: Dictionary
    inputs: AnnotationInputs
    typed: TypedInput
    gives_factors = False

    def build_generator(self, models: Sequence[nn.Module], args: Any, *more: Any, **kw: Any) -> Any:
        """Builds the generator or scorer; with `--replace-unk` a search also aligns.

        Args:
            args: fairseq's options of the search.
            *more: as of fairseq's own task.
            **kw: as of fairseq's own task.

        Raises:
            UserError: alignments of another form are wanted as well; one line says so.
        """
        with exits_in_fairseq_programs():
            build = super().build_generator  # type: ignore[misc]
            return build_replacing(build, models, args, *more, **kw)

    def inference_step(
        self,
        generator: Any,
        models: Sequence[nn.Module],
        sample: Batch,
        prefix_tokens: Tensor | None = None,
        constraints: Tensor | None = None,
    ) -> Any:
        """Generates for one batch, or scores it.

        Annotation of the source comes from annotation files (`--load-…`), otherwise from parsers
        (`--parser-config`). Annotation of the target is used to score references, never in a
        search.

        Args:
            generator: fairseq's generator or scorer.
            prefix_tokens: B×T', forced at the start of the output.
            constraints: of a constrained search.

        Raises:
            UserError: a parser does not load, or constraints or references are wanted and missing;
                or `--print-factors` has nothing to print; one line says so.
        """
        scores = isinstance(generator, SequenceScorer)
        with exits_in_fairseq_programs():
            check_given(generator, sample, constraints)
            if self.cfg.print_factors:
                check_factors(models)
            sample = self.inputs.for_inference(models, sample, self.typed.pieces_of_batch, scores)
        ids = sample.get("id")  # before they change; typed text has none
        sample = renumber_for_diverse_beams(generator, sample)
        with prepared_for(generator, models):
            search = super().inference_step  # type: ignore[misc]
            found = search(generator, models, sample, prefix_tokens, constraints)
        free = prefix_tokens is None and constraints is None
        if isinstance(generator, SequenceGenerator) and free:
            found = empty_hypotheses(found, source_tokens(sample), self.src_dict)
        if self.cfg.print_factors or self.gives_factors:
            with exits_in_fairseq_programs():
                best = found if self.gives_factors else [each[:1] for each in found]
                add_factors(models, sample, best, self)
        if self.cfg.print_factors:
            numbers = self.typed.numbers_of_batch() if ids is None else ids.tolist()
            print_factors(numbers, found)
        return found


@contextmanager
def prepared_for(generator: Any, models: Sequence[nn.Module]) -> Iterator[None]:
    """Within the context, our decoders know the beam size and whether attention weights are needed.

    Joint scores (`joint_score` of a decoder) are omitted in sampling, whose top-p needs
    probabilities that add up to 1, and in an ensemble in which some models have none: these models
    would outweigh the others in the mean of the probabilities.

    Args:
        generator: fairseq's generator or scorer.
    """
    beam_size = getattr(generator, "beam_size", 1)
    aligns = isinstance(generator, SequenceGeneratorWithAlignment)
    need_attn = aligns or getattr(generator, "compute_alignment", False)  # fairseq's scorer
    # It still adds up the weights of an ensemble: all models must have them.
    need_attn = need_attn or (isinstance(generator, SequenceScorer) and len(models) > 1)
    every_decoder: list[Any] = [getattr(model, "decoder", None) for model in models]
    decoders = [decoder for decoder in every_decoder if hasattr(decoder, "prepare_for_search")]
    joint = [d for d in every_decoder if isinstance(d, ExtendedStack) and d.joint_score]
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


def empty_hypotheses(
    found: list[list[Hypothesis]], src_tokens: Tensor, dictionary: Dictionary
) -> list[list[Hypothesis]]:
    """The hypotheses of a batch; a sentence without words gets an empty one of score 0.

    A model invents a translation of such a sentence if it has never seen one.

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


def _empty(hypothesis: Hypothesis, eos: int) -> Hypothesis:
    """A hypothesis with only EOS; values by position are cut accordingly."""
    tokens = hypothesis["tokens"].new_tensor([eos])
    scores = hypothesis["positional_scores"].new_zeros(1)
    empty = {**hypothesis, "tokens": tokens, "positional_scores": scores}
    empty["score"] = scores[0]
    if isinstance(hypothesis.get("attention"), Tensor) and hypothesis["attention"].dim() == 2:
        empty["attention"] = hypothesis["attention"][:, :1]  # S×T
    if "alignment" in hypothesis:
        empty["alignment"] = hypothesis["alignment"][:0]
    return empty


def check_given(generator: Any, sample: Batch, constraints: Tensor | None) -> None:
    """Refuses a constrained search without constraints, and scoring without targets.

    Args:
        generator: fairseq's generator or scorer.
        constraints: those of the batch; None = it has none.

    Raises:
        UserError: says which program reads them.
    """
    search = getattr(generator, "search", None)
    if constraints is None and getattr(search, "supports_constraints", False):
        raise UserError(
            "--constraints: the text has none here: fairseq-interactive reads constraints, behind "
            "tabs on each line of its input; otherwise leave the option out"
        )
    if isinstance(generator, SequenceScorer) and sample.get("target") is None:
        raise UserError(
            "--score-reference: the text has no references here: fairseq-generate scores those of "
            "a data folder; otherwise leave the option out"
        )


def renumber_for_diverse_beams(generator: Any, sample: Batch) -> Batch:
    """A batch whose sentences a search with diverse groups can distinguish.

    fairseq's search stores the output of the groups by the position of a sentence in the batch, but
    looks it up by the number of the sentence in its text. Batches of `fairseq-interactive` have no
    such numbers, and the position is taken for both.

    Args:
        generator: fairseq's generator or scorer.
    """
    diverse = isinstance(getattr(generator, "search", None), DiverseBeamSearch)
    if not diverse or "id" not in sample:
        return sample
    return {**sample, "id": torch.arange(len(sample["id"]), device=sample["id"].device)}


class Link(tuple[int, int]):
    """An alignment link (source, target) that, used as an index, gives its source.

    fairseq's programs print alignments as pairs, but to replace an unknown word they use
    `alignment[target]` itself as index of the source word, and a pair is no index.
    """

    def __index__(self) -> int:
        return self[0]


def build_replacing(
    build: Callable[..., Any], models: Any, args: Any, *more: Any, **kw: Any
) -> Any:
    """Builds a search; with `--replace-unk` it always aligns.

    Args:
        build: of fairseq's task.
        args: fairseq's options of the search; they decide what is printed, and are not changed.
        *more: for `build`.
        **kw: for `build`.

    Raises:
        UserError: another form of alignments is also requested.
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
    """The link of each target word to the source word with the largest weight.

    Args:
        attention: T×S.
        source: S, padded.
        target: T, padded.
        eos: id of EOS.

    Returns:
        one link per target word. A source without words has only EOS, at 0.
    """
    links = utils.extract_hard_alignment(attention, source, target, pad, eos)
    words = int((target.ne(pad) & target.ne(eos)).sum())
    return [Link(link) for link in links or ((0, word) for word in range(words))]
