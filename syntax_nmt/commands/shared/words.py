"""The options of `syntax-nmt score`, `compare` and `report` for words by bucket."""

import argparse
from collections.abc import Sequence

from syntax_nmt.arguments import add_files, add_numbers, positive_int
from syntax_nmt.commands.shared.checks import require_companion_options
from syntax_nmt.commands.shared.models import add_base_argument
from syntax_nmt.commands.shared.test_sets import named_files
from syntax_nmt.scoring.translations.evaluation_set import TestSet
from syntax_nmt.scoring.words.buckets import KINDS
from syntax_nmt.scoring.words.settings import LEAST_WORDS, WordSettings

_FILES = ("reference_conllu", "source_conllu", "links", "training_text")
_NEEDS = {
    name: ("words_by",)
    for name in (*_FILES, "hypothesis_conllu", "bits", "links_base", "least_words")
}


def add_word_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the kinds of buckets, and the files that they need."""
    group = parser.add_argument_group("words by bucket")
    add = group.add_argument
    add(
        "--words-by",
        nargs="+",
        choices=KINDS,
        default=[],
        metavar="BY",
        help="precision, recall and F1 of the words of each bucket, in the words of --tokenize; "
        f"some of {', '.join(KINDS)}. distance: from a word to its head, 1 of neighbours; depth: "
        "arcs to the root; frequency: in the training text; seen: whether it is there",
    )
    add_files(
        group,
        reference_conllu="trees of the reference, for all kinds but frequency and seen; "
        "syntax-nmt parse writes them",
    )
    add(
        "--hypothesis-conllu",
        action="append",
        nargs="+",
        default=[],
        metavar=("NAME FILE", "FILE"),
        help="trees of a system's translations by the same parser, a file for each of its runs "
        "(default: a word has the label that it has in the reference)",
    )
    add(
        "--bits",
        action="append",
        nargs="+",
        default=[],
        metavar=("NAME FILE", "FILE"),
        help="also the bits of the reference's words by a system that is forced to them, the fewer "
        "the better: for each of its runs a file that syntax-nmt likelihood wrote",
    )
    add_files(
        group,
        source_conllu="trees of the source: words of the reference are in the buckets of the "
        "source words that --links links them to",
        links="word links, source-target, of the words of --source-conllu and of the reference "
        "in the words of --tokenize, in any format that syntax-nmt align reads",
    )
    add_base_argument(group, "--links-base", "--links, if its format does not say it")
    add_files(
        group,
        training_text="the target side of the training text, one sentence a line, for frequency "
        "and seen",
    )
    add_numbers(
        group,
        positive_int,
        least_words="a bucket with fewer words of the reference has no interval and no test "
        f"(default: {LEAST_WORDS})",
    )


def files_of_words(args: argparse.Namespace) -> list[str]:
    """The files that words by bucket are read from, none of which may be written."""
    named = [path for _, *paths in (*args.hypothesis_conllu, *args.bits) for path in paths]
    given = [getattr(args, name) for name in _FILES]
    return [*named, *(path for path in given if path is not None)]


def word_settings(args: argparse.Namespace, test_set: TestSet) -> WordSettings | None:
    """The settings of a command line; None = no words by bucket.

    Args:
        test_set: what is scored.

    Raises:
        UserError: options that do not go together.
    """
    if not args.words_by:
        require_companion_options(args, _NEEDS)
        return None
    names: Sequence[str] = [system.name for system in test_set.systems]
    return WordSettings(
        by=args.words_by,
        tokenize=args.tokenize,
        lowercase=args.lowercase,
        reference_conllu=args.reference_conllu,
        hypothesis_conllu=named_files("--hypothesis-conllu", args.hypothesis_conllu, names, ()),
        bits=named_files("--bits", args.bits, names, ()),
        source_conllu=args.source_conllu,
        links=args.links,
        links_base=args.links_base or 0,
        training_text=args.training_text,
        least_words=args.least_words or LEAST_WORDS,
    )
