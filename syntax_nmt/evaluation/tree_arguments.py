"""The options of `syntax-nmt trees`, and which of them go together."""

from __future__ import annotations

import argparse

from syntax_nmt.arguments import add_files, add_flags, positive_int, sentence_numbers
from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.base.options import (
    GEN_SUBSET,
    SOURCE,
    TARGET,
    add_batch_arguments,
    add_model_arguments,
    add_subwords_argument,
    refuse_beside_hypothesis,
)
from syntax_nmt.evaluation.dependencies.selection import Selection
from syntax_nmt.option_names import flag
from syntax_nmt.reporting.findings import add_findings_arguments, findings_outputs
from syntax_nmt.reporting.output import STDOUT, check_outputs

DEPENDENCIES, CONSTITUENTS = "dependencies", "constituents"

# What only one kind of trees has.
_OPTIONS = {
    DEPENDENCIES: ("conllu", "no_punctuation", "words", "known_words"),
    CONSTITUENTS: ("trees", "collins", "side", "layer", "translations"),
}


def add_tree_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    _add_input(parser)
    _add_dependencies(parser)
    _add_constituents(parser)
    _add_output(parser)
    add_batch_arguments(parser.add_argument_group("running the model"), 12000, "sentences")


def _add_input(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to parse")
    add = group.add_argument
    add_model_arguments(group)
    add(
        "--kind",
        choices=(DEPENDENCIES, CONSTITUENTS),
        default=DEPENDENCIES,
        help="which trees (default: %(default)s)",
    )
    add(
        "--gen-subset",
        metavar="SPLIT",
        default=GEN_SUBSET,
        help="split to parse (default: %(default)s)",
    )
    add("--input", metavar="FILE", help="parse this segmented source text instead of a split")
    add_files(
        group,
        segmented="the segmented text that the split was made from; it tells the words where the "
        "split has unknown subwords",
    )
    add_subwords_argument(group)
    add_files(
        group,
        hypothesis="score or draw these trees instead: CoNLL-U, or bracketed trees, one a line",
    )


def _add_dependencies(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(f"--kind {DEPENDENCIES}")
    add = group.add_argument
    add("--conllu", metavar="FILE", help="reference parses, one sentence a block: prints UAS")
    add_flags(group, no_punctuation="leave punctuation (of the reference) out of UAS")
    add(
        "--words",
        metavar="LEAST-MOST",
        help="score only sentences of this number of words, such as 20-30, the paper's",
    )
    add_flags(
        group, known_words="score sentences only that have no unknown token, as the paper does"
    )


def _add_constituents(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(f"--kind {CONSTITUENTS}")
    add = group.add_argument
    add(
        "--side",
        choices=(SOURCE, TARGET),
        help="trees of the source (default), or of the translations, which the model is forced to",
    )
    add_files(group, translations="the segmented translations of --input, for --side target")
    add(
        "--layer",
        metavar="N",
        type=int,
        help="whose distances are taken, counted from 0, the lowest (default: 0)",
    )
    add(
        "--trees",
        metavar="GOLD",
        help="gold trees in brackets, one a line, () where there is none: prints bracket F1",
    )
    add_flags(
        group,
        collins="delete what evalb's COLLINS.prm deletes: words that are tagged , : `` '' or . in "
        "the gold tree, and brackets labelled TOP",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to write")
    add = group.add_argument
    add_files(
        group, output="write the trees here (default: stdout, unless a drawing or figures take it)"
    )
    add_findings_arguments(group, default="stderr")
    add(
        "--draw",
        metavar="N",
        type=positive_int,
        default=0,
        help="draw the first N trees to stdout; ✗ marks words whose head in the reference is "
        "another, and says which, or brackets that the gold tree has not",
    )
    add(
        "--sentences",
        metavar="LIST",
        type=sentence_numbers,
        default=[],
        help="draw these sentences, counted from 1: 3,17",
    )


def check_tree_arguments(args: argparse.Namespace, draws: bool) -> None:
    """Refuses what does not go together, before anything is loaded.

    Args:
        draws: whether trees are drawn.

    Raises:
        UserError: says what.
    """
    _check_kind(args)
    if args.hypothesis:
        _check_without_model(args, draws)
    elif not args.databin or not args.path:
        raise UserError(
            "give DATABIN and the checkpoint's --path, or parses to score as --hypothesis"
        )
    if args.input and args.segmented:
        raise UserError("--input is segmented text itself: leave --segmented out")
    _check_translations(args)
    if args.no_punctuation and not args.conllu:
        raise UserError("--no-punctuation is about UAS: add the reference as --conllu")
    for option in ("words", "known_words"):
        if getattr(args, option) and not args.conllu:
            raise UserError(f"{flag(option)} is about UAS: add the reference as --conllu")
    Selection.of(args)
    if args.known_words and args.hypothesis:
        raise UserError("--known-words needs the model, and --hypothesis comes without one")
    if args.collins and not args.trees:
        raise UserError("--collins is about bracket F1: add the gold trees as --trees")
    names = ("input", "segmented", "hypothesis", "conllu", "trees", "translations", "path")
    outputs = [*findings_outputs(args), args.output, STDOUT if draws else None]
    check_outputs(outputs, [getattr(args, name) for name in names])


def _check_kind(args: argparse.Namespace) -> None:
    for kind, options in _OPTIONS.items():
        for option in options:
            value = getattr(args, option)
            if kind != args.kind and value is not None and value is not False:
                raise UserError(
                    f"{flag(option)} is about {kind}: add --kind {kind}, or leave it out"
                )


def _check_without_model(args: argparse.Namespace, draws: bool) -> None:
    refuse_beside_hypothesis(args, ("input", "side", "layer"))
    if not (args.conllu or args.trees or draws or args.output):
        gold = "--conllu" if args.kind == DEPENDENCIES else "--trees"
        raise UserError(f"--hypothesis alone does nothing: add {gold}, --draw or --sentences")


def _check_translations(args: argparse.Namespace) -> None:
    if args.translations and not (args.input and args.side == TARGET):
        raise UserError(
            f"--translations is about --input and --side {TARGET}: add them, or leave it out"
        )
    if args.side == TARGET and args.input and not args.translations:
        raise UserError(
            f"--side {TARGET} parses translations: give those of --input as --translations"
        )
