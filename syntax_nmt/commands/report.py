"""`syntax-nmt report`: writes one HTML page about one or more trained models."""

import argparse
import sys

from syntax_nmt.arguments import add_numbers, natural_int, sentence_numbers
from syntax_nmt.commands.shared.checks import require_companion_options
from syntax_nmt.commands.shared.findings import add_digits_argument
from syntax_nmt.commands.shared.metrics import (
    METRIC_NEEDS,
    add_length_arguments,
    add_metric_arguments,
    add_significance_arguments,
    length_bins,
    metric_set,
    significance_tests,
)
from syntax_nmt.commands.shared.models import add_base_argument
from syntax_nmt.commands.shared.test_sets import (
    add_test_set_arguments,
    files_of_test_set,
    named_files,
    read_test_set,
)
from syntax_nmt.commands.shared.words import add_word_arguments, files_of_words, word_settings
from syntax_nmt.data.text_columns import counted
from syntax_nmt.errors import note
from syntax_nmt.pictures.report_page.report_data import CHRF, ReportData, SampleChoice, report_data
from syntax_nmt.pictures.report_page.structures import KINDS, REFERENCE
from syntax_nmt.reporting.output import STDOUT, check_outputs, open_output

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
_BASES = ("hypothesis_base", "gold_base")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    add_test_set_arguments(parser)
    _add_named_file_arguments(parser)
    _add_sample_arguments(parser)
    add_length_arguments(parser)
    add_word_arguments(parser)
    add_significance_arguments(parser)
    add_metric_arguments(parser)
    group = parser.add_argument_group("what to write")
    add = group.add_argument
    add("--output", default="report.html", metavar="FILE", help="the page (default: %(default)s)")
    add("--title", metavar="TEXT", help="title of the page (default: the systems' names)")
    add_digits_argument(group)


def _add_named_file_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options, each of which may be given once for each system."""
    group = parser.add_argument_group("further files of a system (NAME: as in the tables)")
    structures = parser.add_argument_group(
        f"structures of the sentences, one a sentence; {REFERENCE} as NAME: gold structures, which "
        f"the systems' are compared with where their words are the same"
    )
    _add(group, "--log", ("NAME FILE", "FILE"), "output of fairseq-train; several are several "
         "seeds. If a training was interrupted and resumed, join its logs into one file first, "
         "oldest first (cat)")  # fmt: skip
    _add(structures, "--dependencies", ("NAME", "FILE"), "dependency trees in CoNLL-U")
    _add(structures, "--constituents", ("NAME", "FILE"), "bracketed trees, one a line")
    _add(structures, "--alignments", ("NAME FILE", "SOURCE TARGET"), "links i-j; and the two "
         "texts whose words they link (default: the source and the translation)")  # fmt: skip
    _add(structures, "--chunks", ("NAME FILE", "TEXT"), "chunk tags, as syntax-nmt chunks "
         "writes them; and the text that has been chunked (default: the translation)")  # fmt: skip
    add_base_argument(structures, "--hypothesis-base", "the alignments of systems")
    add_base_argument(structures, "--gold-base", f"the alignments of {REFERENCE}")


def _add(group: argparse._ArgumentGroup, option: str, values: tuple[str, str], what: str) -> None:
    group.add_argument(option, action="append", nargs="+", default=[], metavar=values, help=what)


def _add_sample_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("sentences to show")
    either = group.add_mutually_exclusive_group()
    add_numbers(
        either,
        natural_int,
        samples=(
            _SAMPLES,
            "number of sentences, from short to long; each is the one of "
            "its length that the systems translate most differently, by chrF",
        ),
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
        UserError: options that do nothing, or files that are damaged or do not go together.
    """
    require_companion_options(args, METRIC_NEEDS | dict.fromkeys(_BASES, ("alignments",)))
    _check_output(args)
    data = read_report(args)
    # These load matplotlib.
    from syntax_nmt.pictures.report_page.page import page_html
    from syntax_nmt.pictures.report_page.picture import Pictures

    names = [system.name for system in data.scores.systems]
    title = args.title or ", ".join(names)
    pictures = Pictures()
    html = page_html(data, pictures, title, args.width, _how_chosen(args, data))
    with open_output(args.output) as stream:
        stream.write(html)
    for text in pictures.notes():
        note(text)
    if args.output != STDOUT:
        counts = {"system": len(names), "sample": len(data.samples)}
        said = ", ".join(counted(number, one) for one, number in counts.items())
        print(f"{args.output}: {said}", file=sys.stderr)


def read_report(args: argparse.Namespace) -> ReportData:
    """Reads and measures what the command line names.

    Raises:
        UserError: as of :func:`report_data`; or of a system's files.
    """
    test_set = read_test_set(args)
    names = [system.name for system in test_set.systems]
    return report_data(
        test_set,
        metric_set(args, test_set, CHRF),
        significance_tests(args, test_set),
        SampleChoice(args.samples, args.sentences),
        bins=length_bins(args, test_set),
        logs=named_files("--log", args.log, names, ()),
        structures={
            kind: named_files(f"--{kind}", getattr(args, kind), [*names, REFERENCE], numbers)
            for kind, numbers in KINDS.items()
        },
        bases=(args.hypothesis_base or 0, args.gold_base or 0),
        words=word_settings(args, test_set),
    )


def _how_chosen(args: argparse.Namespace, data: ReportData) -> str:
    """Says how samples were chosen, because they are not random."""
    if args.sentences is not None:
        return "Sentences chosen by hand."
    wanted = "on which the systems differ most (chrF)"
    if data.comparison is None:
        wanted = "whose chrF is in the middle"
    groups = counted(len(data.samples), "length group")
    return f"From each of {groups}, the sentence {wanted}."


def _check_output(args: argparse.Namespace) -> None:
    named = [
        path for option in ("log", *KINDS) for _, *paths in getattr(args, option) for path in paths
    ]
    check_outputs([args.output], [*files_of_test_set(args), *files_of_words(args), *named])
