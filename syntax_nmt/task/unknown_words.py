"""`--replace-unk`: a word for each unknown one, by the source word that it attends to most."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from fairseq import utils
from omegaconf import OmegaConf, open_dict
from torch import Tensor

from syntax_nmt.errors import UserError


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
