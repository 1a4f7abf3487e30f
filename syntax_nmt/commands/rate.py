"""`syntax-nmt rate`: a blind sheet for human judgement, and what the marks say."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from syntax_nmt.arguments import add_files, add_numbers, natural_int, positive_int
from syntax_nmt.commands.shared.findings import (
    add_findings_arguments,
    findings_outputs,
    write_findings,
)
from syntax_nmt.data.text_files import UNKNOWN_BYTES, write_unless_same
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.output import check_outputs, tell
from syntax_nmt.reporting.result import json_text

EXAMPLE = (
    "syntax-nmt rate --source test.en --reference test.de --system base base.1.txt --system ours "
    "ours.1.txt --sentences 100 --destdir sheet\n"
    "  syntax-nmt rate --key sheet/key.json anna.tsv bert.tsv"
)

DESCRIPTION = """\
With --system, draws sentences and writes their translations, shuffled and without names, into
--destdir: sheet.tsv for a spreadsheet, sheet.html for a browser, which saves the marks as a file,
and key.json, which raters must not see. With --key, reads the marks of raters, a file each, and
prints means, differences from the first system with tests over sentences, and the agreement of
raters (Cohen's kappa). Marks are adequacy and fluency from 0 to 5, under and over (something is
missing, or there too often) 0 or 1.
"""

_SENTENCES = 50
_WRITING = ("system", "source", "reference", "sentences", "seed", "destdir")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    group = parser.add_argument_group("a sheet to fill in")
    group.add_argument(
        "--system",
        action="append",
        nargs=2,
        default=[],
        metavar=("NAME", "FILE"),
        help="a system and its translations, of one run, in any form that score reads. Repeat; "
        "the baseline first",
    )
    add_files(
        group,
        source="the sentences, in words",
        reference="their translations by a person, which raters see (default: they see none)",
    )
    add_numbers(
        group,
        positive_int,
        sentences=f"how many sentences are drawn (default: {_SENTENCES})",
    )
    add_numbers(group, natural_int, seed="of the draw and of the orders (default: 1)")
    group.add_argument("--destdir", metavar="DIR", type=Path, help="folder to write to")
    group = parser.add_argument_group("filled sheets")
    group.add_argument("marks", nargs="*", metavar="MARKS", help="a file of each rater, TSV")
    add_files(group, key="key.json of the sheet")
    add_findings_arguments(group)


def run(args: argparse.Namespace) -> None:
    """Writes a sheet, or reads marks.

    Raises:
        UserError: options of both, files that are damaged or do not go together, or a sheet would
            replace another one.
    """
    given = [name for name in _WRITING if getattr(args, name) not in (None, [])]
    if args.key is not None:
        if given:
            raise UserError(f"--{given[0]} is of a new sheet, --key of a filled one: leave one out")
        _read(args)
        return
    for name in ("json", "format"):
        if getattr(args, name) is not None:
            raise UserError(f"--{name} is of filled sheets: give their --key, or leave it out")
    if args.marks:
        raise UserError(f"{args.marks[0]}: marks need the key of their sheet: give --key")
    for name in ("system", "source", "destdir"):
        if name not in given:
            raise UserError(f"--{name} is missing: it takes --system, --source and --destdir")
    _write(args)


def _write(args: argparse.Namespace) -> None:
    # Load sacrebleu, which --help does without, and matplotlib.
    from syntax_nmt.pictures.report_page.page import rating_html
    from syntax_nmt.scoring.rating_sheet import Sheet
    from syntax_nmt.scoring.translations.evaluation_set import TestSet

    systems: dict[str, list[str]] = {}
    for name, path in args.system:
        systems.setdefault(name, []).append(path)
    outputs = {name: args.destdir / name for name in ("sheet.tsv", "sheet.html", "key.json")}
    given = [path for path in (args.source, args.reference) if path is not None]
    inputs = [*given, *(path for paths in systems.values() for path in paths)]
    check_outputs(map(str, outputs.values()), inputs)
    test_set = TestSet.read(systems, [args.reference or args.source], args.source, quiet=True)
    shown = args.reference is not None
    seed = 1 if args.seed is None else args.seed
    sheet = Sheet.draw(test_set, args.sentences or _SENTENCES, seed, shown)
    contents = (sheet.tsv(), rating_html(sheet), json_text(sheet.key().to_json()))
    texts = dict(zip(outputs.values(), contents))
    _refuse_other_sheet(texts)
    for path, text in texts.items():
        write_unless_same(path, text)
    count = f"{len(sheet.items)} translations of {len(sheet.sentences())} sentences"
    tell(f"{count}: give raters {outputs['sheet.html']} or {outputs['sheet.tsv']}")
    tell(f"then: syntax-nmt rate --key {outputs['key.json']} MARKS …")


def _refuse_other_sheet(texts: Mapping[Path, str]) -> None:
    """Refuses files that would be replaced by others: no marks go with another key.

    Args:
        texts: what is to be written to each file.

    Raises:
        UserError: a file is there with another content.
    """
    for path, text in texts.items():
        if path.is_file() and path.read_bytes() != text.encode("utf-8", UNKNOWN_BYTES):
            raise UserError(f"{path}: is of another sheet, or marked: give a new --destdir")


def _read(args: argparse.Namespace) -> None:
    from syntax_nmt.scoring.rating_sheet import Key
    from syntax_nmt.scoring.ratings import TESTS, rate, rater_names, read_marks
    from syntax_nmt.scoring.translations.paired_tests import SignificanceTests

    check_outputs(findings_outputs(args), [args.key, *args.marks])
    if not args.marks:
        raise UserError("no marks: give the file of each rater")
    key = Key.read(args.key)
    names = rater_names(args.marks)
    marks = {name: read_marks(path, key) for name, path in zip(names, args.marks)}
    found = rate(key, marks, SignificanceTests(TESTS))
    write_findings(found, found.findings(), args, stdout_is_free=True)
