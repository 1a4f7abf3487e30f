"""Joins the parts of a parallel corpus and leaves out what is unfit for training.

Run by the dataset recipes as `python -m syntax_nmt.commands.recipes.clean`.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from syntax_nmt.arguments import add_numbers, positive_int
from syntax_nmt.commands.recipes.recipe_command import run_command
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.recipes.clean import (
    REASONS,
    CleanCorpus,
    Counts,
    Filter,
    Measure,
    fingerprint,
    read_pairs,
)
from syntax_nmt.reporting.output import tell

_LOWERCASE = {"source": (0,), "target": (1,), "both": (0, 1), None: ()}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    for side in ("source", "target"):
        parser.add_argument(f"--{side}-lang", required=True, help=f"{side} language")
        parser.add_argument(
            f"--{side}",
            type=Path,
            nargs="+",
            required=True,
            help=f"{side} side of each part, plain or .gz",
        )
        parser.add_argument(
            f"--{side}-tokenizer", help="how `syntax-nmt prepare` will tokenise its words"
        )
    parser.add_argument("--output", required=True, help="prefix of the files to write")
    add_numbers(parser, positive_int, max_words="longest side in words (default: any length)")
    parser.add_argument("--max-ratio", type=_ratio, help="greatest ratio of words (default: any)")
    parser.add_argument(
        "--lowercase", choices=("source", "target", "both"), help="sides to write in lower case"
    )
    parser.add_argument("--words", action="store_true", help="write words instead of the text")
    parser.add_argument(
        "--without", type=Path, nargs=2, help="source and target of pairs not to be trained on"
    )
    add_numbers(
        parser,
        positive_int,
        hold_out_every="every Nth pair that is kept goes to --hold-out instead",
    )
    parser.add_argument("--hold-out", help="prefix of the files for those")


def _ratio(text: str) -> float:
    """That of a longer to a shorter side: NaN would leave nothing out, less than 1 everything."""
    try:
        ratio = float(text)
    except ValueError:
        ratio = math.nan
    if not 1 <= ratio < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return ratio


def run(args: argparse.Namespace) -> None:
    """Writes the corpus and prints what was kept and what not.

    Raises:
        UserError: parts are not parallel or cannot be read, or nothing is left.
    """
    if len(args.source) != len(args.target):
        raise UserError(
            f"--source names {len(args.source)} files and --target {len(args.target)}: "
            "give one of each for every part"
        )
    if (args.hold_out_every is None) != (args.hold_out is None):
        raise UserError("--hold-out-every and --hold-out need each other: give both, or neither")
    measures = (
        Measure(args.source_lang, args.source_tokenizer),
        Measure(args.target_lang, args.target_tokenizer),
    )
    held = map(fingerprint, read_pairs(*args.without)) if args.without else ()
    corpus = CleanCorpus(
        (args.source_lang, args.target_lang),
        args.output,
        Filter(*measures, args.max_words, args.max_ratio, frozenset(held)),
        lowercase=_LOWERCASE[args.lowercase],
        words=measures if args.words else None,
        hold_out=(args.hold_out_every, args.hold_out) if args.hold_out_every else None,
    )
    parts = list(zip(args.source, args.target))
    tell("\n".join(_report(parts, corpus.write(parts), corpus.wanted)))


def _report(parts: Sequence[tuple[Path, Path]], counts: Counts, wanted: Filter) -> Iterator[str]:
    """A line for each part, and for what was kept, left out and held out."""
    for (source, target), pairs in zip(parts, counts.by_part):
        yield f"  {source.name}, {target.name}: {pairs:,} pairs"
    yield f"  kept {counts.kept:,} of {sum(counts.by_part):,} pairs"
    limits = {
        "long": f" ({wanted.max_words} words)",
        "ratio": f" ({wanted.max_ratio:g})" if wanted.max_ratio else "",
    }
    for reason, said in REASONS.items():
        if counts.left_out[reason]:
            yield f"  left out {counts.left_out[reason]:,}: {said}{limits.get(reason, '')}"
    if counts.held_out:
        yield f"  held out {counts.held_out:,} of those kept"


def main(argv: Sequence[str] | None = None) -> None:
    """The command.

    Args:
        argv: the arguments; those of the process by default.
    """
    run_command("clean", __doc__, add_arguments, run, argv)


if __name__ == "__main__":
    main()
