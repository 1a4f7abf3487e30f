"""`syntax-nmt parse`: dependency trees of a tokenised text, with Stanza, offline."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from syntax_nmt.data.text_files import NEWLINE_ONLY, check_writable, read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.dependencies import loaded_parser
from syntax_nmt.parsing.models import find_models
from syntax_nmt.preprocess.annotation.executor import open_executor, ordered_results
from syntax_nmt.preprocess.annotation.shards import (
    ParseOptions,
    Shard,
    cut_shards,
    merge_shards,
    parse_shard,
    remove_work,
)

EXAMPLE = (
    "syntax-nmt parse --lang en --input words/train.en --output words/train.en.conllu "
    "--stanza-dir stanza_resources --workers 4"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `syntax-nmt parse`.

    Args:
        parser: the subcommand's parser.
    """
    parser.add_argument("--lang", required=True, help="language of the text, such as en")
    parser.add_argument(
        "--input",
        type=Path,
        required=True,
        help="the text: words separated by spaces, a sentence a line; may be .gz",
    )
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        help="the CoNLL-U file; sentences without a parse are marked '# parse = none'",
    )
    parser.add_argument(
        "--shard-size",
        type=int,
        default=2000,
        help="lines kept at a time, so that a killed run goes on (default: %(default)s)",
    )
    add_parser_arguments(parser)


def add_parser_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say which parser runs how, for every command that parses.

    Args:
        parser: the subcommand's parser.
    """
    parser.add_argument(
        "--stanza-dir",
        type=Path,
        help="folder with tagger.pt and parser.pt, or in Stanza's own layout (default: Stanza's)",
    )
    parser.add_argument("--pos-model", type=Path, help="file of a Stanza tagger")
    parser.add_argument("--depparse-model", type=Path, help="file of a Stanza dependency parser")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N (default: cpu)")
    parser.add_argument(
        "--max-words",
        type=int,
        default=250,
        help="longer sentences get no parse; memory grows with the square of the length "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--batch-size", type=int, default=1000, help="words in a batch (default: %(default)s)"
    )
    parser.add_argument(
        "--workers", type=int, default=1, help="processes, one thread each (default: %(default)s)"
    )


def parse_options(args: argparse.Namespace, lang: str) -> ParseOptions:
    """What the options of :func:`add_parser_arguments` say, checked.

    Args:
        args: the parsed options.
        lang: language of the text.

    Raises:
        UserError: when models are missing or a number is out of range.
    """
    for option in ("max_words", "batch_size", "workers"):
        if getattr(args, option) < 1:
            name = option.replace("_", "-")
            raise UserError(f"--{name} {getattr(args, option)}: must be 1 or more")
    models = find_models(lang, args.stanza_dir, args.pos_model, args.depparse_model)
    return ParseOptions(models, args.device, args.max_words, args.batch_size)


def run(args: argparse.Namespace) -> None:
    """Parses one file and reports what could not be parsed.

    Args:
        args: the options of :func:`add_arguments`.
    """
    options = parse_options(args, args.lang)
    counts = parse_file(args.input, args.output, options, args.workers, args.shard_size)
    print(f"{args.output}: {describe(counts)}", file=sys.stderr)


def parse_file(
    text: Path, output: Path, options: ParseOptions, workers: int = 1, shard_size: int = 2000
) -> Counter[str]:
    """Parses a text into CoNLL-U, one block a line; killed and called again, it goes on.

    Finished pieces wait in a folder beside the output, `OUTPUT.parts`, until all are there.

    Args:
        text: words separated by spaces, a sentence a line; may be `.gz`.
        output: the CoNLL-U file.
        options: how to parse.
        workers: processes.
        shard_size: lines in a piece.

    Returns:
        Counts of lines: `lines`, `parsed`, `empty`, `too long`, `failed`, and `reused` of an
        earlier run.

    Raises:
        UserError: for text that cannot be read, an output that cannot be written (found before
            models are loaded), or models that do not load.
    """
    if shard_size < 1:
        raise UserError(f"--shard-size {shard_size}: must be 1 or more")
    lines = sum(1 for _ in read_lines(text, NEWLINE_ONLY))
    check_writable(output)
    work = output.with_name(output.name + ".parts")
    files: list[Path] = []

    def shards() -> Iterator[Shard]:
        for shard in cut_shards(text, work, options, shard_size):
            files.append(shard.file)
            yield shard

    counts: Counter[str] = Counter(lines=0)
    in_flight = 1 if workers == 1 else 2 * workers
    if workers == 1:  # models that do not load are reported before the progress bar starts
        loaded_parser(options.models, options.device, options.batch_size)
    with (
        open_executor(workers) as executor,
        tqdm(total=lines, desc=f"parsing {text.name}", unit="line", disable=None) as bar,
    ):
        for done in ordered_results(executor, parse_shard, shards(), in_flight):
            counts.update(done)
            bar.update(done["lines"])
    merge_shards(files, lines, output)
    remove_work(work)
    return counts


def describe(counts: Counter[str]) -> str:
    """What was parsed and what was not, in words.

    Args:
        counts: of :func:`parse_file`.
    """
    share = counts["parsed"] / counts["lines"] if counts["lines"] else 1.0
    text = f"{counts['lines']:,} lines, {counts['parsed']:,} parsed ({share:.2%})"
    reasons = [f"{counts[kind]:,} {kind}" for kind in ("empty", "too long", "failed")]
    return f"{text}; no parse: {', '.join(reasons)}"
