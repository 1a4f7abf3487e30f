"""`syntax-nmt report`: one HTML page about a trained model, or several side by side."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from syntax_nmt.arguments import natural_int, sentence_numbers
from syntax_nmt.errors import UserError
from syntax_nmt.pictures.report_page.report_data import ReportData, measure, read_inputs
from syntax_nmt.reporting.findings import add_digits_argument
from syntax_nmt.reporting.output import STDOUT, check_outputs, open_output
from syntax_nmt.scoring.translations.evaluated_systems import (
    add_test_set_arguments,
    files_of_test_set,
)
from syntax_nmt.scoring.translations.options import (
    add_length_arguments,
    add_metric_arguments,
    add_sampling_arguments,
)
from syntax_nmt.scoring.translations.system_files import (
    STRUCTURE_OPTIONS,
    SYSTEM_OPTIONS,
    add_named_file_arguments,
)

if TYPE_CHECKING:
    from syntax_nmt.pictures.report_page.page import Page
    from syntax_nmt.pictures.report_page.picture import Pictures

EXAMPLE = (
    "syntax-nmt report --system baseline base.gen --system ours ours.gen --reference test.de "
    "--source pieces/test.en --log baseline base.log --log ours ours.log --output report.html\n"
    "  syntax-nmt report ours.gen --reference test.de --dependencies ours.gen ours.conllu "
    "--dependencies reference test.en.conllu --json report.json"
)

DESCRIPTION = """\
One HTML page: scores with intervals, comparison with the first system, scores by length, training
curves, and sentences with their translations and structures. It is one file that loads nothing, for
any browser, wide or narrow, on paper as well.
"""
_SAMPLES = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    add_test_set_arguments(parser)
    add_named_file_arguments(parser)
    _add_sample_arguments(parser)
    add_length_arguments(parser)
    add_sampling_arguments(parser)
    add_metric_arguments(parser)
    group = parser.add_argument_group("what to write")
    add = group.add_argument
    add("--output", default="report.html", metavar="FILE", help="the page (default: %(default)s)")
    add("--title", metavar="TEXT", help="title of the page (default: the systems' names)")
    add("--json", metavar="FILE", help="write all figures here; - is stdout")
    add_digits_argument(group)


def _add_sample_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("sentences to show")
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--samples",
        type=natural_int,
        default=_SAMPLES,
        metavar="N",
        help="number of sentences, from short to long; each is the one among those of its length "
        "that the systems translate most differently, by chrF (default: %(default)s)",
    )
    either.add_argument(
        "--sentences",
        type=sentence_numbers,
        metavar="LIST",
        help="these, counted from 1, such as 3,17",
    )


def run(args: argparse.Namespace) -> None:
    """Reads, measures, draws and writes.

    Raises:
        UserError: files that are damaged or do not go together.
    """
    _check_outputs(args)
    data = measure(args, read_inputs(args))
    names = [system.name for system in data.inputs.test_set.systems]
    title = args.title or ", ".join(names)
    from syntax_nmt.pictures.report_page.picture import Pictures

    pictures = Pictures()
    page = _page(args, data, title, pictures)
    with open_output(args.output) as stream:
        stream.write(page.html())
    if args.json is not None:
        with open_output(args.json) as stream:
            stream.write(json.dumps(data.json(title), indent=1, ensure_ascii=False) + "\n")
    for note in pictures.notes():
        print(f"note: {note}", file=sys.stderr)
    if args.output != STDOUT:
        counts = {"system": len(names), "sample": len(data.samples)}
        counted = ", ".join(f"{n} {one if n == 1 else one + 's'}" for one, n in counts.items())
        print(f"{args.output}: {counted}", file=sys.stderr)
    if page.failed:
        reasons = "; ".join(f"{section} ({reason})" for section, reason in page.failed.items())
        raise UserError(f"{args.output}: written without what could not be drawn: {reasons}")


class _Drawing:
    """Draws section after section; where one fails, the others are still there."""

    def __init__(self) -> None:
        self.failed: dict[str, str] = {}

    def of(self, section: str, draw: Callable[..., Any], *args: Any) -> Any:
        """What `draw` gives, or nothing where it fails.

        Args:
            section: its name, for the page.
            draw: makes pictures.
        """
        try:
            return draw(*args)
        except Exception as error:
            self.failed[section] = " ".join(f"{type(error).__name__}: {error}".split())
            return None


def _page(args: argparse.Namespace, data: ReportData, title: str, pictures: Pictures) -> Page:
    """Draws the pictures."""
    from syntax_nmt.pictures.report_page import score_pictures as draw
    from syntax_nmt.pictures.report_page.page import Page, ShownSample
    from syntax_nmt.pictures.report_page.structure_pictures import structure_groups

    inputs, drawing = data.inputs, _Drawing()
    samples = []
    for sample in data.samples:
        section = f"structures of sentence {sample.position + 1}"
        structures = inputs.structures, sample.position, pictures
        groups = drawing.of(section, structure_groups, *structures) or []
        samples.append(ShownSample(sample, groups, open=sample is data.samples[0]))
    lengths = None
    if "by_length" in data.scores:
        lengths = drawing.of("scores by length", draw.length_pictures, data.scores, pictures)
    return Page(
        title,
        data.scores,
        data.comparison,
        args.width,
        lengths or [],
        inputs.contrast,
        drawing.of("contrastive pairs", draw.contrast_picture, inputs.contrast, pictures),
        data.trainings,
        drawing.of("training", draw.training_pictures, inputs.logs, pictures) or [],
        samples,
        _how_chosen(args, data),
        drawing.failed,
    )


def _how_chosen(args: argparse.Namespace, data: ReportData) -> str:
    """Readers must know that samples are no random ones."""
    if args.sentences is not None:
        return "Sentences chosen by hand."
    wanted = "which the systems translate most differently, by chrF"
    if len(data.inputs.test_set.systems) == 1:
        wanted = "whose chrF is in the middle"
    return f"Of each of {len(data.samples)} groups of equal size by length the sentence {wanted}."


def _check_outputs(args: argparse.Namespace) -> None:
    named = [
        path
        for option in (*SYSTEM_OPTIONS, *STRUCTURE_OPTIONS)
        for _, *paths in getattr(args, option)
        for path in paths
    ]
    check_outputs([args.output, args.json], [*files_of_test_set(args), *named])
