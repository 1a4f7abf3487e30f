"""`syntax-nmt report`: writes one HTML page about one or more trained models."""

import argparse
import sys
from functools import partial

from syntax_nmt.arguments import natural_int, sentence_numbers
from syntax_nmt.commands.word_options import add_word_arguments, files_of_words, word_settings
from syntax_nmt.pictures.report_page.report_data import ReportData, report_data
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
from syntax_nmt.scoring.translations.system_files import STRUCTURE_OPTIONS, add_named_file_arguments

EXAMPLE = (
    "syntax-nmt report --system baseline base.gen --system ours ours.gen --reference test.de "
    "--source pieces/test.en --log baseline base.log --log ours ours.log --output report.html\n"
    "  syntax-nmt report ours.gen --reference test.de --dependencies ours.gen ours.conllu "
    "--dependencies reference test.en.conllu"
)

DESCRIPTION = """\
One HTML page: scores with intervals, comparison with the first system, scores by length, words by
bucket, training curves, and sentences with their translations and structures. It is one file that
loads nothing, for any browser, screen width and paper.
"""
_SAMPLES = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    add_test_set_arguments(parser)
    add_named_file_arguments(parser)
    _add_sample_arguments(parser)
    add_length_arguments(parser)
    add_word_arguments(parser)
    add_sampling_arguments(parser)
    add_metric_arguments(parser)
    group = parser.add_argument_group("what to write")
    add = group.add_argument
    add("--output", default="report.html", metavar="FILE", help="the page (default: %(default)s)")
    add("--title", metavar="TEXT", help="title of the page (default: the systems' names)")
    add_digits_argument(group)


def _add_sample_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("sentences to show")
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--samples",
        type=natural_int,
        default=_SAMPLES,
        metavar="N",
        help="number of sentences, from short to long; each is the one of "
        "its length that the systems translate most differently, by chrF (default: %(default)s)",
    )
    either.add_argument(
        "--sentences",
        type=sentence_numbers,
        metavar="LIST",
        help="show these sentences, counted from 1, such as 3,17",
    )


def run(args: argparse.Namespace) -> None:
    """Reads, measures, draws and writes.

    Raises:
        UserError: files that are damaged or do not go together.
    """
    _check_output(args)
    data = report_data(args, partial(word_settings, args))
    # These load matplotlib.
    from syntax_nmt.pictures.report_page.page import page_html
    from syntax_nmt.pictures.report_page.picture import Pictures

    names = [system["name"] for system in data.scores["systems"]]
    title = args.title or ", ".join(names)
    pictures = Pictures()
    html = page_html(data, pictures, title, args.width, _how_chosen(args, data))
    with open_output(args.output) as stream:
        stream.write(html)
    for note in pictures.notes():
        print(f"note: {note}", file=sys.stderr)
    if args.output != STDOUT:
        counts = {"system": len(names), "sample": len(data.samples)}
        counted = ", ".join(f"{n} {one if n == 1 else one + 's'}" for one, n in counts.items())
        print(f"{args.output}: {counted}", file=sys.stderr)


def _how_chosen(args: argparse.Namespace, data: ReportData) -> str:
    """Says how samples were chosen, because they are not random."""
    if args.sentences is not None:
        return "Sentences chosen by hand."
    wanted = "which the systems translate most differently, by chrF"
    if data.comparison is None:
        wanted = "whose chrF is in the middle"
    return f"Of each of {len(data.samples)} groups of equal size by length the sentence {wanted}."


def _check_output(args: argparse.Namespace) -> None:
    named = [
        path
        for option in ("log", *STRUCTURE_OPTIONS)
        for _, *paths in getattr(args, option)
        for path in paths
    ]
    check_outputs([args.output], [*files_of_test_set(args), *files_of_words(args), *named])
