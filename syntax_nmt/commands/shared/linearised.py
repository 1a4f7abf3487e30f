"""Options of parses that become text, and the settings that their values make."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from syntax_nmt.arguments import add_numbers, flag, positive_int
from syntax_nmt.data.annotation import HEADS, PHRASES, TARGET_COLUMNS
from syntax_nmt.data.annotation.columns import check_columns
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.linearised import KEPT, LABELS, NO_WORDS, SHORT, WORDS, Form
from syntax_nmt.data.linearised_folder import (
    INTERLEAVED,
    MULTITASK,
    PARSED,
    PARSED_TARGET,
    WITH_SYMBOLS,
    option_of,
)
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.linearising import POSITIONS, Linearising

# Columns of the trees that are prepared.
_TAGS = tuple(column for column in TARGET_COLUMNS if column.format == HEADS.format)


def add_form_arguments(group: argparse._ActionsContainer, words: str) -> None:
    """Adds the options of the form of brackets.

    Args:
        words: the default of `--words`, as the help says it.
    """
    group.add_argument(
        "--words",
        choices=WORDS,
        help=f"whether the words stand between the brackets (default: {words})",
    )
    group.add_argument(
        "--labels",
        choices=LABELS,
        help="full: all of the tree, parts of speech included; short: categories without "
        f"functions, relations without subtypes; none: bare brackets (default: {SHORT})",
    )


def add_linearised_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `prepare`."""
    group = parser.add_argument_group("parses as text, for any model")
    add = group.add_argument
    add(
        "--linearised",
        choices=PARSED,
        help="multitask: <TR> source → target, and <PA> source → its parse; mixed: source and its "
        "parse, each → target; source: parse → target; target: source → parse of the target. "
        "Trees are constituents where there are PREF.LANG.trees or --constituents, otherwise "
        "dependencies; no annotation is binarised",
    )
    add(
        "--interleave",
        metavar="COLUMN",
        help="a tag before each word of the target, of this column of its CoNLL-U: "
        f"{', '.join(each.column for each in _TAGS)}; no annotation is binarised",
    )
    add_form_arguments(group, f"{NO_WORDS} for multitask, otherwise {KEPT}")
    add_numbers(
        group,
        positive_int,
        auxiliary_weight="how often each parse stands in the training text of "
        f"{MULTITASK} (default: 1)",
    )
    for side in ("source", "target"):
        add(
            f"--max-{side}-positions",
            type=positive_int,
            metavar="N",
            help=f"the option of the training: names longer {side} lines, which fairseq leaves out "
            f"(default: {POSITIONS})",
        )


def parsed_first(mode: str | None, source: str, target: str) -> tuple[str, str]:
    """The languages, first the one that is parsed.

    Args:
        mode: of :func:`linearised_as`; None = the source is parsed.
    """
    return (target, source) if mode in WITH_SYMBOLS else (source, target)


def linearised_as(args: argparse.Namespace) -> str | None:
    """The mode of a line's folder; None = its text has no symbols.

    Raises:
        UserError: it has both options.
    """
    if args.interleave is None:
        mode: str | None = args.linearised
        return mode
    if args.linearised is not None:
        raise UserError("--interleave and --linearised make another text each: leave one out")
    return INTERLEAVED


def form_of(args: argparse.Namespace, words: str, closing: bool) -> Form:
    """The form that the options of :func:`add_form_arguments` describe; `--words` is `words`
    by default.
    """
    return Form(args.words or words, args.labels or SHORT, closing)


def linearising(
    args: argparse.Namespace, given: Mapping[tuple[str, AnnotationKind], Path]
) -> Linearising | None:
    """How parses become text; None = they do not.

    Args:
        given: the annotation next to the raw text, by split and kind.

    Raises:
        UserError: options do not go together.
    """
    mode = linearised_as(args)
    if mode is None:
        return None
    refused = ["features", "target_features", "chunks", "target_parse", "target_constituents"]
    if mode == INTERLEAVED:
        refused.append("constituents")
    for option in refused:
        if getattr(args, option):
            raise UserError(
                f"{flag(option)} does nothing with {option_of(mode).split()[0]}, whose models read "
                "text alone: leave one out"
            )
    if args.auxiliary_weight and mode != MULTITASK:
        raise UserError(f"--auxiliary-weight is for --linearised {MULTITASK}: leave it out")
    form = form_of(args, NO_WORDS if mode == MULTITASK else KEPT, closing=mode == PARSED_TARGET)
    if form.words == NO_WORDS and mode != MULTITASK:
        raise UserError(
            f"--words {NO_WORDS} leaves nothing to translate with --linearised {mode}: leave it out"
        )
    constituents = args.constituents or ("train", PHRASES) in given
    positions = args.max_source_positions or POSITIONS, args.max_target_positions or POSITIONS
    if mode == INTERLEAVED:
        columns = check_columns(args.interleave, "--interleave", _TAGS)
        if len(columns) != 1:
            raise UserError(f"--interleave {args.interleave}: give one column")
        return Linearising(mode, form, HEADS, max_positions=positions, column=columns[0])
    kind: AnnotationKind = PHRASES if constituents else HEADS
    return Linearising(mode, form, kind, args.auxiliary_weight or 1, positions)
