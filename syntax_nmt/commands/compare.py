"""`syntax-nmt compare`: tests whether systems differ from the baseline by more than chance."""

import argparse
from functools import partial

from syntax_nmt.arguments import (
    add_files,
    add_flags,
    add_numbers,
    argument,
    ascending_numbers,
    positive_int,
)
from syntax_nmt.commands.shared.checks import require_companion_options
from syntax_nmt.commands.shared.findings import (
    add_digits_argument,
    add_findings_arguments,
    findings_outputs,
    write_findings,
)
from syntax_nmt.commands.shared.metrics import (
    METRIC_NEEDS,
    add_metric_arguments,
    add_significance_arguments,
    metric_set,
    significance_tests,
)
from syntax_nmt.commands.shared.test_sets import (
    add_test_set_arguments,
    files_of_test_set,
    read_test_set,
)
from syntax_nmt.commands.shared.words import add_word_arguments, files_of_words, word_settings
from syntax_nmt.reporting.output import check_outputs
from syntax_nmt.scoring.evaluation import compare
from syntax_nmt.scoring.sentence_groups import EDGES, KINDS, LEAST_SENTENCES, GroupSettings
from syntax_nmt.scoring.translations.lengths import LengthLimit

EXAMPLE = (
    "syntax-nmt compare stock.gen dependency.gen --reference test.de\n"
    "  syntax-nmt compare --system baseline base.*.gen --system ours ours.*.gen --reference "
    "test.de --metrics bleu ter --json comparison.json\n"
    "  syntax-nmt compare --system baseline base.*.gen --system ours ours.*.gen --reference "
    "test.de --words-by deprel distance --source-conllu test.en.conllu --links test.align\n"
    "  syntax-nmt compare --system baseline base.*.gen --system ours ours.*.gen --reference "
    "test.de --by length distance --conllu test.en.conllu"
)

DESCRIPTION = """\
Compares each system with the first, the baseline: the difference of scores, and the probability of
a difference as large by chance. Three tests ask whether these models differ on other sentences:
paired bootstrap resampling and paired approximate randomisation, as in sacrebleu (but trials that
equal the difference count), and the sign test of Collins et al. (2005), which replaces one sentence
of the baseline at a time. With several training seeds, scores are means over seeds. Welch's t-test
over seeds, which needs three or more seeds of both systems, and the 95 % interval of the difference
over seeds and sentences ask whether the method differs with other seeds. --words-by asks the same
of the words of each bucket; its p-values are adjusted over the buckets of a table (Holm). --by
compares within groups of sentences, and tests whether a gain is larger in one than in the others.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    add_test_set_arguments(parser)
    _add_cut_arguments(parser)
    _add_group_arguments(parser)
    add_word_arguments(parser)
    add_significance_arguments(parser)
    add_metric_arguments(parser)
    group = parser.add_argument_group("what to write")
    add_findings_arguments(group)
    add_digits_argument(group)
    add_flags(group, verbose="also print the scores of each run of systems that have several")


def _add_cut_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("translations that run away")
    group.add_argument(
        "--cut",
        type=argument(LengthLimit.of),
        metavar="RATIO,WORDS",
        help="cut translations to RATIO × source words + WORDS, such as "
        "1.5,5, before scoring, like a search with a smaller --max-len-a and --max-len-b",
    )
    add_files(
        group,
        source="the source text, to count translations longer than 1.5 × source words + 5, and "
        "for --cut (default: the S- lines of fairseq-generate, if there are any)",
    )


def _add_group_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("groups of sentences")
    add = group.add_argument
    edges = "; ".join(f"{kind} {','.join(map(str, each))}" for kind, each in EDGES.items())
    add(
        "--by",
        nargs="+",
        choices=KINDS,
        default=[],
        metavar="BY",
        help="also compare within groups of sentences, and test whether gains differ between "
        f"them: some of {', '.join(KINDS)}. length: words of --conllu, or else of --source; depth: "
        "arcs between the deepest word and the root; distance: of the longest arc; relation: "
        "whether a tree has one of --relations",
    )
    add_files(group, conllu="trees of the sentences, of their source or of the reference")
    add("--relations", nargs="+", default=[], metavar="REL", help="for --by relation")
    add(
        "--bins",
        type=partial(ascending_numbers, least=1),
        metavar="LIST",
        help="where a group of --by ends and the next begins, if it is one kind of numbers "
        f"(default: {edges})",
    )
    add_numbers(
        group,
        positive_int,
        least_sentences="a group with fewer, or with fewer others, is not tested "
        f"(default: {LEAST_SENTENCES})",
    )


def _group_settings(args: argparse.Namespace) -> GroupSettings | None:
    if not args.by:
        return None
    return GroupSettings(
        args.by, args.conllu, args.relations, args.bins, args.least_sentences or LEAST_SENTENCES
    )


def run(args: argparse.Namespace) -> None:
    """Compares what the command line names.

    Raises:
        UserError: options that do nothing, fewer than two systems, or files that are damaged or
            do not go together.
    """
    of_groups = ("conllu", "relations", "bins", "least_sentences")
    require_companion_options(args, METRIC_NEEDS | dict.fromkeys(of_groups, ("by",)))
    inputs = [*files_of_test_set(args), *files_of_words(args), args.conllu]
    check_outputs(findings_outputs(args), inputs)
    test_set = read_test_set(args)
    words, groups = word_settings(args, test_set), _group_settings(args)
    found = compare(
        test_set,
        metric_set(args, test_set),
        significance_tests(args, test_set),
        cut=args.cut,
        words=words,
        groups=groups,
    )
    write_findings(
        found, found.findings(args.width, of_runs=args.verbose), args, stdout_is_free=True
    )
