"""`syntax-nmt translate`: translates text with a model that `syntax-nmt train` trained."""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path

from syntax_nmt.arguments import natural_int
from syntax_nmt.data.data_bin_names import check_name
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.output import STDOUT, open_output, tell

EXAMPLE = "syntax-nmt translate prepared heads raw/test.en > test.de"
TAKES_MORE = True  # what follows -- is fairseq's
DESCRIPTION = """\
Translates raw text, a sentence a line, by fairseq-interactive: text is segmented as the training
text was, and parsed if the model reads parses. Options after -- go to fairseq-interactive.
"""
_LINES_AT_ONCE = 64
_WARNING = re.compile(r"[^\t|]*\| WARNING \| syntax_nmt\.[\w.]+ \| (.+)")  # fairseq's form
# What prints other lines than translations, or several for a line of the text.
_OTHER_OUTPUT = (
    "--nbest",
    "--print-alignment",
    "--print-factors",
    "--print-step",
    "--retain-iter-history",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.description = DESCRIPTION
    parser.add_argument("prepared", type=Path, help="folder that `syntax-nmt prepare` wrote")
    parser.add_argument("method", metavar="METHOD", help="one that was trained by syntax-nmt train")
    text = "raw text, plain or .gz (default: standard input)"
    parser.add_argument("text", nargs="?", type=Path, metavar="TEXT", help=text)
    parser.add_argument(
        "--seed", type=natural_int, help="which training of several seeds to translate with"
    )
    parser.add_argument("--name", help="as given to syntax-nmt train")
    parser.add_argument(
        "--dry-run", action="store_true", help="print fairseq's command line, and run nothing"
    )


def run(args: argparse.Namespace) -> None:
    """Prints a translation for each line; an empty one for lines that fairseq is told to skip.

    Raises:
        UserError: the method is unknown, not trained, or reads what no parser gives; or fairseq
            is to print more than translations.
    """
    from syntax_nmt import FOLDER
    from syntax_nmt.preparation.fairseq_programs import lines_of
    from syntax_nmt.preparation.training_commands import (
        named_method,
        training_threads,
        translates_typed_text,
        typed_command,
        wrapped,
    )
    from syntax_nmt.preparation.training_data import TrainingData
    from syntax_nmt.preparation.trainings import checkpoints, system_name

    data = TrainingData.of(args.prepared)
    method = named_method(data, args.method)
    if not translates_typed_text(data, method):
        lacking, way = "tells of no way to cut and parse typed text", ""
        if data.takes_typed_text:
            reads = " and ".join(kind.description for kind in method.reads)
            lacking = f"has no parser, and {method.save_dir} reads {reads}"
            way = (
                "; for typed text run syntax-nmt prepare again with --stanza-dir, or --parser, or "
                f"write {data.parser_config} (docs/data.md) where parses were given"
            )
        raise UserError(f"{data.folder}: {lacking}: syntax-nmt train translates its test sets{way}")
    if args.text is not None and (args.text.is_dir() or not args.text.exists()):
        raise UserError(f"{args.text}: no such file: give raw text, or none for standard input")
    for option in (each.partition("=")[0] for each in args.more):
        if option in _OTHER_OUTPUT and not args.dry_run:
            raise UserError(
                f"{option}: this command prints a translation for each line and no more: give it "
                "to fairseq-interactive itself, whose command line --dry-run prints"
            )
    if args.name is not None:
        check_name(args.name, "--name")
    folder = checkpoints(data, system_name(method, args.name), args.seed)
    command = typed_command(data, method, FOLDER, folder)
    path = Path(command[command.index("--path") + 1])
    # A pipe can be opened once alone, and perhaps by this process alone.
    piped = args.text is not None and not args.text.is_file()
    source = ["--input", str(args.text)] if args.text is not None and not piped else []
    command += [*source, "--buffer-size", str(_LINES_AT_ONCE), "--beam", "5", *args.more]
    if args.dry_run:
        tell(wrapped(command))
        return
    if not path.is_file():
        without_seed = checkpoints(data, system_name(method, args.name), None)
        remedy = _remedy(args, method.save_dir, without_seed, path.name)
        raise UserError(f"{path}: no such checkpoint: {remedy}")
    with open_output(STDOUT) as out, open(args.text, "rb") if piped else nullcontext() as stdin:
        printed = lines_of(command, training_threads(data), errors="after", stdin=stdin)
        for translation in translations(printed):
            out.write(translation)
            out.flush()


def _remedy(args: argparse.Namespace, method: str, without_seed: Path, checkpoint: str) -> str:
    """What to do where a checkpoint is missing: name the seeds that are there, or train it."""
    if args.seed is not None and (without_seed / checkpoint).is_file():
        return "it was trained without --seeds: leave --seed out"
    seeds = sorted(without_seed.glob(f"seed*/{checkpoint}"))
    if seeds:
        return f"give --seed {seeds[0].parent.name.removeprefix('seed')}"
    command = f"syntax-nmt train {args.prepared} {method}"
    command += "" if args.name is None else f" --name {args.name}"
    return f"train it by {command}" + ("" if args.seed is None else f" --seeds {args.seed}")


def translations(printed: Iterable[str]) -> Iterator[str]:
    """The translation of each line of the text; empty for lines without one.

    stderr names these lines, and has the warnings of this package.

    Args:
        printed: lines of fairseq-interactive, and what it logs.
    """
    from syntax_nmt.task.batches import SKIPPED_LINE

    done = 0  # lines of the text
    missing: list[int] = []
    reasons: dict[int, str] = {}
    warned: set[str] = set()
    for line in printed:
        skipped, warning = SKIPPED_LINE.match(line), _WARNING.match(line)
        if skipped is not None:
            reasons[int(skipped[2])] = skipped[1]
        elif warning is not None and warning[1] not in warned:
            warned.add(warning[1])
            print(f"warning: {warning[1]}", file=sys.stderr)
        elif line.startswith("D-"):
            before, _, translation = line.removeprefix("D-").split("\t", 2)
            missing += range(done + 1, int(before) + 1)
            yield "\n" * (int(before) - done) + translation
            done = int(before) + 1
    last = max(reasons, default=0)
    missing += range(done + 1, last + 1)
    yield "\n" * (last - done)
    for number in missing:
        said = reasons.get(number, f"line {number} has no translation")
        print(f"warning: {said}", file=sys.stderr)
