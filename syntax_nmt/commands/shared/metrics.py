"""The metrics, length groups and tests of `syntax-nmt score`, `compare` and `report`.

Options of metrics have sacrebleu's names.
"""

import argparse
from functools import partial

from sacrebleu.metrics import BLEU, CHRF

from syntax_nmt.arguments import add_files, add_flags, ascending_numbers, natural_int, positive_int
from syntax_nmt.commands.shared.test_sets import named_files
from syntax_nmt.errors import note
from syntax_nmt.scoring.translations.evaluation_set import (
    TestSet,
    note_if_tokenised,
    note_if_unspaced,
)
from syntax_nmt.scoring.translations.lengths import DEFAULT_EDGES, LengthBins
from syntax_nmt.scoring.translations.metrics import (
    BREVITIES,
    CLOSEST,
    DEFAULT_NAMES,
    NAMES,
    MetricSet,
    MetricSettings,
)
from syntax_nmt.scoring.translations.paired_tests import (
    BOOTSTRAP,
    RANDOMISATION,
    TESTS,
    USUAL_TESTS,
    SignificanceTests,
)
from syntax_nmt.scoring.translations.resampling import RESAMPLES, SEED, TRIALS
from syntax_nmt.scoring.translations.sentence_scores import SentenceScores
from syntax_nmt.scoring.word_order import word_order

_FEW = 100  # sentences
_OF_CHARACTERS = {"chrf", "char-bleu"}
_SENTENCE_SCORES, _OUTPUT_LINKS = "--sentence-scores", "--output-links"
METRIC_NEEDS = {
    "sentence_metric": ("sentence_scores",),
    "sentence_lower": ("sentence_scores",),
    "reference_links": ("output_links",),
    "output_links_base": ("output_links",),
    "reference_links_base": ("reference_links",),
    "ter_asian_support": ("ter_normalized",),
}
"""Options of :func:`add_metric_arguments` that do nothing without another, for
`require_companion_options`."""


def add_length_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the source text and the groups of lengths."""
    group = parser.add_argument_group("scores by length")
    add = group.add_argument
    add_files(
        group,
        source="text for the lengths, in tokens separated by spaces: the segmented "
        "source for lengths in subwords (default: the S- lines of fairseq-generate, if there are "
        "any, which are words unless fairseq was run without --bpe and --post-process)",
    )
    add(
        "--bins",
        type=partial(ascending_numbers, least=1),
        default=DEFAULT_EDGES,
        metavar="LIST",
        help="lengths at which one group ends and the next begins (default: "
        f"{','.join(map(str, DEFAULT_EDGES))})",
    )
    add_flags(
        group,
        upper_inclusive="a length of --bins belongs to the shorter sentences (≤10, 11–20, …) and "
        "not to the longer ones (<10, 10–19, …)",
    )


def length_bins(args: argparse.Namespace, test_set: TestSet) -> LengthBins:
    """The length groups of a command line; warns on stderr if no lengths are known."""
    if test_set.source is None:
        note("no scores by length: give the source text as --source")
    return LengthBins(args.bins, args.upper_inclusive)


def add_metric_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the choice of metrics and their options."""
    group = parser.add_argument_group("metrics (options as in sacrebleu)")
    add = group.add_argument
    add(
        "--metrics",
        "-m",
        nargs="+",
        choices=NAMES,
        default=DEFAULT_NAMES,
        metavar="METRIC",
        help=f"some of {', '.join(NAMES)} (default: {' '.join(DEFAULT_NAMES)})",
    )
    add(
        "--tokenize",
        "-tok",
        choices=tuple(BLEU.TOKENIZERS),
        help="tokeniser of BLEU, RIBES, Otem and Utem, none for text that is tokenised (default: "
        "13a)",
    )
    add("--lowercase", "-lc", action="store_true", help="BLEU, Otem and Utem ignore case")
    add(
        "--brevity",
        choices=BREVITIES,
        default=CLOSEST,
        help="the reference whose length the penalties of BLEU, character BLEU, Otem and Utem "
        "read: the one closest to the translation's, or the shortest, as in NIST's mteval "
        "(default: closest)",
    )
    add("--force", action="store_true", help="do not warn if the text looks tokenised")
    add(
        "--chrf-word-order",
        "-cw",
        type=natural_int,
        default=CHRF.WORD_ORDER,
        metavar="N",
        help="words in an n-gram of chrF; 2 is chrF++ (default: %(default)s)",
    )
    add_flags(
        group,
        ter_normalized="TER splits punctuation from words",
        ter_asian_support="TER also splits Chinese and Japanese into characters",
    )
    _add_order_arguments(parser)
    _add_sentence_score_arguments(parser)


def metric_set(args: argparse.Namespace, test_set: TestSet, *more: str) -> MetricSet:
    """The metrics of a command line.

    Warns on stderr if a text looks tokenised and BLEU would tokenise it again, or if it has no
    spaces between words and no tokeniser is chosen.

    Args:
        test_set: the texts to score.
        *more: metrics that are needed besides.

    Raises:
        UserError: the tokeniser needs something that is not installed.
    """
    settings = MetricSettings(
        tokenize=args.tokenize,
        lowercase=args.lowercase,
        brevity=args.brevity,
        chrf_word_order=args.chrf_word_order,
        ter_normalized=args.ter_normalized,
        ter_asian_support=args.ter_asian_support,
    )
    if not args.force and args.tokenize != "none" and "bleu" in args.metrics:
        note_if_tokenised(test_set)
    if not args.force and args.tokenize is None and set(args.metrics) - _OF_CHARACTERS:
        note_if_unspaced(test_set)
    given = [*_word_order(args, test_set), *_sentence_scores(args, test_set)]
    return MetricSet([*args.metrics, *more], settings, given)


def _add_order_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("order by word links: Kendall's τ and swapped pairs")
    group.add_argument(
        _OUTPUT_LINKS,
        action="append",
        nargs="+",
        default=[],
        metavar=("NAME FILE", "FILE"),
        help="a system by its name in the tables, and links of source words and words of its "
        "translations, one file for each run, in any format that syntax-nmt align reads. Repeat "
        "for each system",
    )
    add_files(
        group,
        reference_links="links of source and reference, whose order is the right one (default: the "
        "order of the source)",
    )
    for option in (_OUTPUT_LINKS, "--reference-links"):
        group.add_argument(
            f"{option}-base",
            type=int,
            choices=(0, 1),
            help=f"the number of the first word in {option}, if its format does not say it "
            "(default: 0)",
        )


def _word_order(args: argparse.Namespace, test_set: TestSet) -> list[SentenceScores]:
    if not args.output_links:
        return []
    names = [system.name for system in test_set.systems]
    files = named_files(_OUTPUT_LINKS, args.output_links, names, ())
    bases = (args.output_links_base or 0, args.reference_links_base or 0)
    return word_order(files, args.reference_links, test_set, bases)


def _add_sentence_score_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("a metric that was computed elsewhere, such as COMET")
    add = group.add_argument
    add(
        _SENTENCE_SCORES,
        action="append",
        nargs="+",
        default=[],
        metavar=("NAME FILE", "FILE"),
        help="a system by its name in the tables, and its sentence scores, one file for each run: "
        "one number per line, or the output of comet-score. Repeat for each system",
    )
    add(
        "--sentence-metric",
        metavar="NAME",
        help="name of the metric (default: COMET, or 'sentence score')",
    )
    add("--sentence-lower", action="store_true", help="lower is better, as for error rates")


def _sentence_scores(args: argparse.Namespace, test_set: TestSet) -> list[SentenceScores]:
    if not args.sentence_scores:
        return []
    names = [system.name for system in test_set.systems]
    files = named_files(_SENTENCE_SCORES, args.sentence_scores, names, ())
    lower = args.sentence_lower
    return [SentenceScores.read(files, test_set, args.sentence_metric, lower_is_better=lower)]


def add_significance_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the choice of tests and the numbers of their draws."""
    group = parser.add_argument_group("tests")
    for option, kind, default, what in (
        ("--resamples", positive_int, RESAMPLES, "resamples of the bootstrap and of intervals"),
        ("--trials", positive_int, TRIALS, "trials of approximate randomisation"),
        ("--seed", natural_int, SEED, "random seed of both"),
    ):
        text = f"{what} (default: {default})"
        group.add_argument(option, type=kind, default=default, metavar="N", help=text)
    group.add_argument(
        "--tests",
        nargs="+",
        choices=TESTS,
        default=USUAL_TESTS,
        metavar="TEST",
        help=f"some of {', '.join(TESTS)} (default: all but blocks, for which the files of each "
        "system must be in the order of their seeds)",
    )


def significance_tests(args: argparse.Namespace, test_set: TestSet) -> SignificanceTests:
    """The tests of a command line; warns on stderr if they mean little.

    Args:
        test_set: the texts to compare.
    """
    resampled = {BOOTSTRAP, RANDOMISATION}.intersection(args.tests)
    if len(test_set.systems) > 1 and test_set.sentences < _FEW and resampled:
        note(f"on {test_set.sentences} sentences the p-values of resampling mean little")
    return SignificanceTests(tuple(args.tests), args.resamples, args.trials, args.seed)
