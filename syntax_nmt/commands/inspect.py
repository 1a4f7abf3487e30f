"""`syntax-nmt inspect`: shows the content of a data-bin folder and checks it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syntax_nmt.arguments import add_numbers, natural_int
from syntax_nmt.commands.shared.models import add_subwords_argument, scheme_of
from syntax_nmt.data.manifest import NAME as MANIFEST
from syntax_nmt.data.prepared_text import prepared_folder, training_folders
from syntax_nmt.data.text_files import check_writable
from syntax_nmt.reporting.output import STDOUT, open_output

if TYPE_CHECKING:  # the command starts without torch and fairseq
    from syntax_nmt.inspection.data_inspection import Inspection

EXAMPLE = "syntax-nmt inspect data-bin --samples 3 --json figures.json"

DESCRIPTION = """\
Reports on a data-bin folder: sentences, subwords and words of every split; numbers and properties
of dependency trees, phrases and chunks; drawings of some sentences. It compares all files with
their checksums, and annotation files with their texts. Errors go to stderr, one per line, and the
exit status is then 1.

arc length   mean distance in words between a word and its head, without the root
projective   share of trees in which no arc crosses another or spans the root
depth        mean over trees of the most arcs between a word and the root
outside      share of words outside every chunk
~            about: unknown subwords hide where words begin and end
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    add = parser.add_argument
    add(
        "databin",
        type=Path,
        metavar="DATABIN",
        help="folder that `prepare` or fairseq-preprocess wrote; several, as fairseq reads them by "
        "turns, with : between them",
    )
    add_numbers(parser, natural_int, samples=(3, "sentences to draw"))
    add(
        "--split",
        metavar="SPLIT",
        help="split to draw from (default: valid, else test, else train)",
    )
    add_numbers(parser, natural_int, seed=(1, "random seed of the samples"))
    add(
        "--words",
        type=Path,
        metavar="DIR",
        help="folder of the tokenised text and its annotation files: also compares the annotation "
        "files with the checksums of the binarised ones",
    )
    add_subwords_argument(parser)
    add("--json", metavar="FILE", help="write the figures here; - is stdout, for the figures only")


def run(args: argparse.Namespace) -> None:
    """Reports, then lists errors.

    Raises:
        UserError: it is no data-bin folder, or has no such split.
        SystemExit: something is wrong with the data.
    """
    from syntax_nmt.inspection.data_inspection import compare_folders, inspect_data
    from syntax_nmt.inspection.data_report import json_report, text_report
    from syntax_nmt.inspection.data_samples import draw_samples, sample_split

    folders = [prepared_folder(each)[1] for each in training_folders(args.databin)]
    if args.json not in (None, STDOUT):
        inputs = [path for folder in (*folders, args.words) for path in _inputs(folder)]
        check_writable(Path(args.json), *inputs)
    found = [inspect_data(folder, scheme_of(args), args.words) for folder in folders]
    compare_folders(found)
    # Validation and test text stand in the first.
    drawn = sample_split(found[0].texts, args.split) if args.samples or args.split else []
    if args.json != STDOUT:
        with open_output(STDOUT) as stream:
            stream.write("\n".join(map(text_report, found)))
            if args.samples and drawn:
                stream.write("\n" + draw_samples(drawn, args.samples, args.seed))
    if args.json is not None:
        with open_output(args.json) as stream:
            stream.write(json_report(found))
    _name_faults(found)


def _inputs(folder: Path | None) -> list[Path]:
    """The inputs, which must not be overwritten; older figures may be."""
    files = [] if folder is None else [path for path in folder.glob("*") if path.is_file()]
    return [path for path in files if path.suffix != ".json" or path.name == MANIFEST]


def _name_faults(found: Sequence[Inspection]) -> None:
    messages = [("warning", text) for each in found for text in each.warnings]
    messages += [("error", text) for each in found for text in each.problems]
    for kind, text in messages:
        print(f"syntax-nmt: {kind}: {' '.join(text.split())}", file=sys.stderr)
    if any(each.problems for each in found):
        raise SystemExit(1)
