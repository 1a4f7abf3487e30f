"""Warns on stderr if a text does not look like the training text, with advice."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairseq.tasks import FairseqTask

from syntax_nmt.data.text_fit import CUT_TWICE, SWAPPED, UNCUT, UNKNOWN, TextFit

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
