"""Raw text into the pieces that a model reads, on both sides, the way of fairseq-interactive."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairseq.data import encoders
from fairseq.tasks import FairseqTask

from syntax_nmt.data.text import MODES
from syntax_nmt.errors import UserError


@dataclass(frozen=True)
class Segment:
    """Cuts lines of one side into pieces.

    Attributes:
        tokenizer: fairseq's or ours, whose `encode` is that side's; None = words are cut already.
        bpe: fairseq's; None = words are not cut.
    """

    tokenizer: Any = None
    bpe: Any = None

    def __call__(self, line: str) -> tuple[str, ...]:
        """The pieces of a line.

        Args:
            line: raw text, or words, or pieces separated by spaces.
        """
        for step in (self.tokenizer, self.bpe):
            if step is not None:
                line = step.encode(line)
        return tuple(line.split())


# The file that each way of cutting subwords needs.
_FILES = {
    "sentencepiece": "sentencepiece_model",
    "subword_nmt": "bpe_codes",
    "fastbpe": "bpe_codes",
}
_BOTH = ("tokenizer", "segmenter")


def add_segmentation_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds how text is segmented: the options of fairseq-interactive that matter for it."""
    group = parser.add_argument_group("segmenting the text, as the data-bin folder was")
    add = group.add_argument
    add("--segmented", action="store_true", help="the text is segmented already")
    add(
        "--tokenizer",
        choices=sorted(encoders.TOKENIZER_REGISTRY),
        help="syntax_words for what `syntax-nmt prepare` was given raw (default: the text is "
        "tokenised already)",
    )
    for side in ("source", "target"):
        add(f"--{side}-tokenizer", choices=MODES, help="of syntax_words, as for prepare")
        add(f"--{side}-segmenter", metavar="FILE", help="of syntax_words, for mode stanza")
    add("--moses-no-dash-splits", action="store_true", help="of --tokenizer moses")
    add("--moses-no-escape", action="store_true", help="of --tokenizer moses")
    add("--bpe", choices=list(_FILES), help="how words are cut (default: they are not)")
    add("--sentencepiece-model", metavar="FILE", help="of --bpe sentencepiece, for both sides")
    add("--bpe-codes", metavar="FILE", help="of --bpe subword_nmt or fastbpe, for both sides")


def check_segmentation(args: argparse.Namespace) -> None:
    """Refuses options that do not go together, before a model is loaded.

    Raises:
        UserError: says which.
    """
    if args.segmented and (args.tokenizer or args.bpe):
        option = "--tokenizer" if args.tokenizer else "--bpe"
        raise UserError(f"{option} and --segmented exclude each other: leave one out")
    if not (args.segmented or args.tokenizer or args.bpe):
        raise UserError(
            "how is the text to be segmented? Give --bpe (and --tokenizer for raw text) as for "
            "fairseq-interactive, or --segmented if it is cut into pieces already"
        )
    if args.tokenizer != "syntax_words":
        for side in ("source", "target"):
            for name in _BOTH:
                if getattr(args, f"{side}_{name}"):
                    raise UserError(f"--{side}-{name} is an option of --tokenizer syntax_words")
    for bpe, name in _FILES.items():
        value, option = getattr(args, name), f"--{name.replace('_', '-')}"
        if bpe == args.bpe and value is None:
            raise UserError(f"--bpe {bpe} needs its model: add {option}")
        if value is not None and _FILES.get(args.bpe) != name:
            raise UserError(f"{option} without --bpe {bpe}: add it")
        if value is not None and not Path(value).is_file():
            raise UserError(f"{option} {value}: no such file")


def segmenters(args: argparse.Namespace, task: FairseqTask) -> tuple[Segment, Segment]:
    """What cuts source lines, and what cuts target lines, into pieces.

    fairseq's tokenizers cut the source alone. The target's is the same one with the sides swapped.

    Args:
        task: knows the languages.

    Raises:
        UserError: a tokenizer or a model of subwords does not load.
    """
    if args.segmented:
        return Segment(), Segment()
    cfg: Any = task.cfg
    languages = {"source": cfg.source_lang, "target": cfg.target_lang}
    try:
        bpe = encoders.build_bpe(args)
        source = encoders.build_tokenizer(_facing(args, languages, "source", "target"))
        target = encoders.build_tokenizer(_facing(args, languages, "target", "source"))
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())
        given = [getattr(args, name, None) for name in ("sentencepiece_model", "bpe_codes")]
        files = " ".join(str(path) for path in given if path is not None)
        raise UserError(
            f"the text cannot be segmented: {reason}: check --bpe and --tokenizer {files}".rstrip()
        ) from error
    return Segment(source, bpe), Segment(target, bpe)


def _facing(
    args: argparse.Namespace, languages: dict[str, str], side: str, other: str
) -> argparse.Namespace:
    """The options with `side` as the side that is encoded."""
    options = argparse.Namespace(**vars(args))
    for place, given in (("source", side), ("target", other)):
        setattr(options, f"{place}_lang", languages[given])
        for name in _BOTH:
            setattr(options, f"{place}_{name}", getattr(args, f"{given}_{name}"))
    return options
