"""Segments raw text into the pieces that a model reads, on both sides.

A note on stderr warns of text that does not look like the training text.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairseq.data import encoders
from fairseq.tasks import FairseqTask

from syntax_nmt.arguments import flag
from syntax_nmt.data.prepared_text import TextSegmentation, prepared_folder, read_segmentation
from syntax_nmt.data.subwords import NO_SUBWORDS, SENTENCEPIECE
from syntax_nmt.data.text_fit import CUT_TWICE, SWAPPED, UNCUT, UNKNOWN, TextFit
from syntax_nmt.errors import UserError


@dataclass(frozen=True)
class Segment:
    """Segments lines of one side into pieces.

    Attributes:
        tokenizer: fairseq's or ours, whose `encode` is that side's; None = the input is words.
        bpe: fairseq's; None = words are not segmented.
        scheme: how pieces mark words, one of `subwords.SCHEMES`; None = detected from the text.
    """

    tokenizer: Any = None
    bpe: Any = None
    scheme: str | None = None

    def __call__(self, line: str) -> tuple[str, ...]:
        """The pieces of a line of raw text, of words, or of pieces separated by spaces."""
        for step in (self.tokenizer, self.bpe):
            if step is not None:
                line = step.encode(line)
        return tuple(line.split())


# The file option of each subword scheme.
_FILES = {
    "sentencepiece": "sentencepiece_model",
    "subword_nmt": "bpe_codes",
    "fastbpe": "bpe_codes",
}


def add_segmentation_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of segmentation, for text not prepared by `syntax-nmt prepare`."""
    group = parser.add_argument_group(
        "segmenting the text (default: as `syntax-nmt prepare` did for DATABIN)"
    )
    add = group.add_argument
    add("--segmented", action="store_true", help="the text is already segmented")
    add(
        "--tokenizer",
        choices=sorted(encoders.TOKENIZER_REGISTRY),
        help="as for fairseq-interactive (default with --bpe: the text is already tokenised)",
    )
    add("--bpe", choices=list(_FILES), help="subwords (default with --tokenizer: none)")
    add(
        "--sentencepiece-model", metavar="FILE", help="model of --bpe sentencepiece, for both sides"
    )
    add("--bpe-codes", metavar="FILE", help="codes of --bpe subword_nmt or fastbpe, for both sides")


def check_segmentation(args: argparse.Namespace) -> None:
    """Refuses incompatible options, before a model is loaded.

    Raises:
        UserError: options are incompatible, or the segmentation is unknown.
    """
    if args.segmented and (args.tokenizer or args.bpe):
        option = "--tokenizer" if args.tokenizer else "--bpe"
        raise UserError(f"{option} and --segmented exclude each other: leave one out")
    for bpe, name in _FILES.items():
        value, option = getattr(args, name), flag(name)
        if bpe == args.bpe and value is None:
            raise UserError(f"--bpe {bpe} needs its model: add {option}")
        if value is not None and _FILES.get(args.bpe) != name:
            raise UserError(f"{option} without --bpe {bpe}: add it")
        if value is not None and not Path(value).is_file():
            raise UserError(f"{option} {value}: no such file")
    if not (args.segmented or args.tokenizer or args.bpe):
        read_segmentation(prepared_folder(Path(args.databin))[0])


def segmenters(args: argparse.Namespace, task: FairseqTask) -> tuple[Segment, Segment]:
    """The segmenters of source lines and of target lines.

    fairseq's tokenizers encode only the source. The target's tokenizer is the same with the sides
    swapped.

    Raises:
        UserError: a tokenizer or a model of subwords does not load, or the prepared folder is of
            other languages.
    """
    if args.segmented:
        return Segment(), Segment()
    cfg: Any = task.cfg
    source, target = cfg.source_lang, cfg.target_lang
    if args.tokenizer or args.bpe:
        given = {name: getattr(args, name) for name in ("tokenizer", "bpe", *_FILES.values())}
        scheme = SENTENCEPIECE if args.bpe == "sentencepiece" else None
        return _segment(given, source, target, scheme), _segment(given, target, source, scheme)
    folder, _ = prepared_folder(Path(args.databin))
    languages = read_segmentation(folder)
    for language in (source, target):
        if language not in languages:
            raise UserError(
                f"{folder}: holds {', '.join(languages)}, the model translates {source} to "
                f"{target}: give the folder that it was trained with"
            )
    return (
        _as_prepared(languages[source], languages[target], source, target),
        _as_prepared(languages[target], languages[source], target, source),
    )


def _as_prepared(
    own: TextSegmentation, other: TextSegmentation, language: str, other_language: str
) -> Segment:
    """From fairseq's options, which encode one language and decode the other."""
    options = {
        "tokenizer": "syntax_words",
        "source_tokenizer": own.tokenizer,
        "source_segmenter": own.segmenter,
        "target_tokenizer": other.tokenizer,
        "target_segmenter": other.segmenter,
    }
    model = own.sentencepiece_model  # each side may have its own, or none
    if model is None:
        return _segment({**options, "bpe": None}, language, other_language, NO_SUBWORDS)
    options |= {"bpe": "sentencepiece", "sentencepiece_model": str(model)}
    return _segment(options, language, other_language, SENTENCEPIECE)


def _segment(options: Mapping[str, Any], language: str, other: str, scheme: str | None) -> Segment:
    args = argparse.Namespace(**options, source_lang=language, target_lang=other)
    try:
        return Segment(encoders.build_tokenizer(args), encoders.build_bpe(args), scheme)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())
        files = " ".join(str(options[name]) for name in set(_FILES.values()) if options.get(name))
        raise UserError(
            f"the text cannot be segmented: {reason}: check --bpe and --tokenizer {files}".rstrip()
        ) from error


_OTHER_DIRECTION = "give the text of the other language, or a model of the other direction"
_OTHER_TEXT = "give text of that language, segmented as the training text was"

# Of `trees --input`, which takes pieces.
ADVICE_ON_PIECES = {
    UNCUT: "give it in pieces, as `syntax-nmt prepare` writes them to pieces/",
    UNKNOWN: _OTHER_TEXT,
    SWAPPED: _OTHER_DIRECTION,
}


def forcing_advice(args: argparse.Namespace) -> dict[str, str]:
    """Advice for text that looks wrong, from the segmentation options."""
    return {
        CUT_TWICE: "add --segmented",
        UNCUT: "leave --segmented out" if args.segmented else "add --bpe and its model",
        UNKNOWN: _OTHER_TEXT,
        SWAPPED: _OTHER_DIRECTION,
    }


def note_unfit(
    task: FairseqTask,
    name: str,
    lines: Sequence[str],
    pieces: Sequence[Sequence[str]],
    advice: Mapping[str, str],
    target: bool = False,
) -> None:
    """Warns on stderr if a text does not look like the training text.

    Args:
        lines: before segmentation.
        pieces: the model's pieces of each line.
        advice: as of :meth:`TextFit.problem`.
        target: whether they are of the target language.
    """
    cfg: Any = task.cfg
    dictionaries = task.source_dictionary, task.target_dictionary
    fit = TextFit(Path(cfg.data), (cfg.source_lang, cfg.target_lang), dictionaries)
    problem = fit.problem(lines, pieces, advice, target)
    if problem is not None:
        print(f"note: {name} {problem}", file=sys.stderr)
