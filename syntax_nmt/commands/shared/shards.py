"""Options of a corpus in shards, and the settings that their values make."""

import argparse

from syntax_nmt.arguments import add_flags, add_numbers, flag, natural_int, positive_int
from syntax_nmt.data.prepared_text import shard_folders
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.plan import Plan
from syntax_nmt.preparation.sharding import SAMPLE, Sharding

SHARD_NEEDS = {
    "sample": ("shard_size",),
    "only_shard": ("shard_size",),
    "append": ("shard_size",),
    "keep_parses": ("shard_size",),
}
"""Options that do nothing without another one."""


def add_shard_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `prepare`."""
    group = parser.add_argument_group("a corpus in shards, which fairseq reads one an epoch")
    add_numbers(
        group,
        positive_int,
        shard_size="cut the training text into shards of at most N lines, each a prepared folder "
        "(DESTDIR/shard0, shard1, …) that one worker makes from text to data-bin; intermediate "
        "files of training text are removed",
        sample="lines of training text that the vocabulary is made from, drawn by seed 1 (default: "
        f"{SAMPLE:,})",
    )
    add_numbers(
        group,
        natural_int,
        only_shard="prepare this shard alone, counted from 0, as in an array of jobs; without the "
        "option the same command then finishes all of them",
    )
    add_flags(
        group,
        append="add this training text to a corpus in shards, by its vocabulary and labels",
        keep_parses="keep what is parsed of training text, compressed, in the shards' words",
    )


def sharding(args: argparse.Namespace) -> Sharding | None:
    """The values of the options of :func:`add_shard_arguments`; None = one folder.

    Raises:
        UserError: options do not go together.
    """
    if args.shard_size is None:
        return None
    if args.linearised is not None or args.interleave is not None:
        raise UserError("--shard-size: parses as text are prepared in one folder: leave it out")
    for option in ("validpref", "testpref", "vocab_size", "sample", "feature_threshold"):
        if args.append and getattr(args, option) is not None:
            raise UserError(
                f"{flag(option)}: --append adds training text alone, by the vocabulary, labels and "
                "validation text of the corpus: leave it out"
            )
    return Sharding(
        args.shard_size, args.sample or SAMPLE, args.only_shard, args.append, args.keep_parses
    )


def refuse_other_layout(plan: Plan, in_shards: bool) -> None:
    """Refuses to make shards beside a single data-bin folder, or that beside shards.

    Raises:
        UserError: the folder has the other.
    """
    there = plan.data_bin if in_shards else next(iter(shard_folders(plan.folder)), None)
    if there is not None and there.exists():
        option = "leave out" if in_shards else "give"
        raise UserError(
            f"{there} is there, and a folder cannot hold both one data-bin and shards: {option} "
            "--shard-size, or give another --destdir"
        )
