"""`syntax-nmt inspect`: what a data-bin folder holds, and whether it is right."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from syntax_nmt.arguments import natural_int
from syntax_nmt.data.manifest import NAME as MANIFEST
from syntax_nmt.data.text_files import check_writable
from syntax_nmt.inspection.data_inspection import Inspection, inspect_data
from syntax_nmt.inspection.data_report import json_report, text_report
from syntax_nmt.inspection.data_samples import draw_samples, sample_split
from syntax_nmt.reporting.output import STDOUT, open_output
from syntax_nmt.scoring.parallel_text import add_subwords_argument

EXAMPLE = "syntax-nmt inspect data-bin --samples 3 --json figures.json"

DESCRIPTION = """\
Looks through a data-bin folder: sentences, subwords and words of every split; of dependency trees,
phrases and chunks how many there are and what they are like; some sentences drawn. All files are
compared with their checksums, and side files with their texts: what is wrong is named on stderr,
one line each, and the exit status is then 1.

arc length   mean distance in words between a word and its head, the root left out
projective   share of trees in which no arc crosses another or spans the root
depth        mean over trees of the most arcs between a word and the root
outside      share of words outside every chunk
~            about: unknown subwords do not tell where words begin and end
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    add = parser.add_argument
    add("databin", metavar="DATABIN", help="folder that `prepare` or fairseq-preprocess wrote")
    add(
        "--samples", metavar="N", type=natural_int, default=3, help="sentences to draw (default: 3)"
    )
    add("--split", metavar="SPLIT", help="draw these (default: valid, else test, else train)")
    add("--seed", metavar="N", type=natural_int, default=1, help="chooses the samples (default: 1)")
    add(
        "--words",
        metavar="DIR",
        help="folder of the tokenised text and its side files: compares the side files' checksums, "
        "too, with those of what was binarised",
    )
    add_subwords_argument(parser)
    add("--json", metavar="FILE", help="write the figures here; - is stdout, with nothing else")


def run(args: argparse.Namespace) -> None:
    """Reports, then names what is wrong.

    Raises:
        UserError: it is no data-bin folder, or has no such split.
        SystemExit: something is wrong with the data.
    """
    if args.json not in (None, STDOUT):
        check_writable(Path(args.json), *_inputs(args.databin), *_inputs(args.words))
    found = inspect_data(args.databin, args.subwords, args.words)
    drawn = sample_split(found.texts, args.split) if args.samples or args.split else []
    if args.json != STDOUT:
        with open_output(STDOUT) as stream:
            stream.write(text_report(found))
            if args.samples and drawn:
                stream.write("\n" + draw_samples(drawn, args.samples, args.seed))
    if args.json is not None:
        with open_output(args.json) as stream:
            stream.write(json_report(found))
    _name_faults(found)


def _inputs(folder: str | None) -> list[Path]:
    """What may be read, and must stay; figures of another time may go."""
    files = [] if folder is None else [path for path in Path(folder).glob("*") if path.is_file()]
    return [path for path in files if path.suffix != ".json" or path.name == MANIFEST]


def _name_faults(found: Inspection) -> None:
    for kind, messages in (("warning", found.warnings), ("error", found.problems)):
        for message in messages:
            print(f"syntax-nmt: {kind}: {' '.join(message.split())}", file=sys.stderr)
    if found.problems:
        raise SystemExit(1)
