"""Updates on the batches that fairseq-train makes of a data folder, whose shapes change.

    python examples/benchmark/varied.py prepared/data-bin --size base --device cuda --dtype bfloat16
    python examples/benchmark/varied.py prepared/data-bin --program    # fairseq-train itself

The folder is one of `syntax-nmt prepare`, with the annotation that the systems read. The first
pass over the batches, in which a GPU sees every shape for the first time, is reported apart from
later ones, in which the systems take turns; a batch that does not count goes before it. The batches
are those of the training set with `--max-tokens`, collated with the annotation that the system
reads. With `--program` every system is trained by `fairseq-train`, once and one after the other;
its log gives words a second, after the tenth update.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from fairseq import utils
from measure import Work, interleaved
from sizes import Sizes, add_size_arguments, sizes_of
from speed import COMPARISONS
from systems import (
    BenchmarkedSystem,
    add_device_arguments,
    build,
    check_architectures,
    check_device,
    command_of,
    is_ours,
    silence,
)
from works import System

import syntax_nmt
from syntax_nmt.data.annotation.columns import loading_options
from syntax_nmt.methods.method import TRANSFORMER
from syntax_nmt.models.presets import LINES
from syntax_nmt.reporting.findings import markdown_lines

WARM = 10  # updates of fairseq-train that are not counted
NEEDS = {line.arch: line.needs for line in LINES if not line.variant}


def main() -> None:
    """Measures and prints."""
    args = arguments()
    sizes = sizes_of(args)
    measured = by_program(args, sizes) if args.program else by_passes(args, sizes)
    for line in markdown_lines(measured):
        print(line, flush=True)


def arguments() -> argparse.Namespace:
    """The command line's."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("data", type=Path, help="data-bin folder")
    add(
        "--arch",
        nargs="+",
        default=list(COMPARISONS[TRANSFORMER]),
        help="the first is the baseline; a method loads the annotation of its recipe",
    )
    add_size_arguments(parser)
    add("--max-tokens", type=int, default=8192, help="of a batch")
    add(
        "--batches", type=int, default=20, help="in a pass, or updates of --program after the tenth"
    )
    add("--passes", type=int, help="after the first (default: 3)")
    add_device_arguments(parser)
    add("--attention-kernels", default="auto", choices=["auto", "torch"])
    add("--program", action="store_true", help="run fairseq-train, with --fp16 on a GPU")
    add("--workers", type=int, help="of --program, that load batches (default: 1)")
    args = parser.parse_args()
    check_device(parser, args.device)
    check_architectures(parser, args.arch)
    if args.program and (args.passes is not None or args.dtype != "float32"):
        parser.error("--program makes no passes, and takes --fp16 on a GPU: omit --passes, --dtype")
    if not args.program and args.workers is not None:
        parser.error("--workers are those of fairseq-train: add --program")
    args.passes = 3 if args.passes is None else args.passes
    args.workers = 1 if args.workers is None else args.workers
    return args


def languages_of(data: Path) -> list[str]:
    """The options of fairseq-train for the languages of a data folder."""
    texts = sorted(path.name.split(".") for path in data.glob("train.*-*.*.bin"))
    pairs = {parts[1] for parts in texts}
    if len(pairs) != 1:
        raise SystemExit(f"error: {data}: give a data-bin folder with one training set")
    source, target = pairs.pop().split("-")
    return ["-s", source, "-t", target]


def by_passes(args: argparse.Namespace, sizes: Sizes) -> Iterator[tuple[str, ...]]:
    """The head of the table, then a row for each system; the systems take turns.

    Args:
        args: the command line's.
    """
    silence()
    systems = [built(name, args, sizes) for name in args.arch]
    batches = {}
    for system in systems:
        before, *batches[system.name] = batches_of(system, args)
        system.train([before])  # else the first of them pays for what the libraries load

    def work(system: System) -> None:
        some = batches[system.name]
        system.train([{**batch, "net_input": dict(batch["net_input"])} for batch in some])

    first = [timed(work, system) for system in systems]
    later = interleaved(work, systems, args.passes, args.device)
    some = batches[systems[0].name]
    shapes = {(batch["net_input"]["src_tokens"].shape, batch["target"].shape) for batch in some}
    yield (
        f"{len(some)} batches, {len(shapes)} shapes", "first pass, tokens/s", "time",
        "later, tokens/s", "time", "range",
    )  # fmt: skip
    tokens = sum(batch["ntokens"] for batch in some)
    for system, once, seconds in zip(systems, first, later):
        ratios = [taken / of_baseline for taken, of_baseline in zip(seconds, later[0])]
        yield (
            f"`{system.name}`", f"{tokens / once:,.0f}", f"{once / first[0]:.2f}",
            f"{tokens / statistics.median(seconds):,.0f}", f"{statistics.median(ratios):.2f}",
            f"{min(ratios):.2f} to {max(ratios):.2f}",
        )  # fmt: skip


def options_of(name: str, args: argparse.Namespace) -> list[str]:
    """Of the data: its languages, and of its annotation what the system is trained with."""
    languages = languages_of(args.data)
    if not is_ours(name):
        return languages
    loads = loading_options(NEEDS.get(name, ()))
    return [*languages, *loads, "--attention-kernels", args.attention_kernels]


def built(name: str, args: argparse.Namespace, sizes: Sizes) -> BenchmarkedSystem:
    """A system on the vocabulary of the data folder."""
    return build(name, options_of(name, args), args.data, sizes, args.device, args.dtype)


def batches_of(system: BenchmarkedSystem, args: argparse.Namespace) -> list[dict[str, Any]]:
    """The first batches of an epoch and one before them, the same for all systems."""
    task = system.task
    task.load_dataset("train")
    iterator = task.get_batch_iterator(
        task.dataset("train"), max_tokens=args.max_tokens, seed=1, num_workers=0
    )
    found = []
    for batch in iterator.next_epoch_itr(shuffle=True):
        found.append(utils.move_to_cuda(batch) if args.device == "cuda" else batch)
        if len(found) == 1 + args.batches:
            break
    return found


def timed(work: Work, system: System) -> float:
    """Seconds of a pass."""
    start = time.perf_counter()
    work(system)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - start


def by_program(args: argparse.Namespace, sizes: Sizes) -> Iterator[tuple[str, ...]]:
    """The head of the table, then a row for each system.

    Args:
        args: the command line's.
    """
    yield "fairseq-train", "words/s", "time"
    baseline = 0.0
    for name in args.arch:
        rate = words_per_second(name, args, sizes)
        baseline = baseline or rate
        yield f"`{name}`", f"{rate:,.0f}", f"{baseline / rate:.2f}"


def words_per_second(name: str, args: argparse.Namespace, sizes: Sizes) -> float:
    """Of a training, from fairseq's own log."""
    where = ["--fp16"] if args.device == "cuda" else ["--cpu"]
    command = [
        sys.executable, "-m", "fairseq_cli.train", *command_of(name, args.data, sizes),
        *options_of(name, args), *where, "--user-dir", str(syntax_nmt.FOLDER), "--no-save",
        "--disable-validation", "--max-tokens", str(args.max_tokens), "--seed", "1",
        "--max-update", str(WARM + args.batches), "--log-format", "json", "--log-interval", "1",
        "--clip-norm", "1.0", "--num-workers", str(args.workers),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"error: fairseq-train of {name}:\n{done.stderr[-2000:]}")
    updates = []
    for line in (done.stdout + done.stderr).splitlines():
        _, is_update, figures = line.partition("| INFO | train_inner | ")
        if is_update:
            updates.append(json.loads(figures))
    counted = [(float(update["wpb"]), float(update["wps"])) for update in updates[WARM:]]
    return sum(words for words, _ in counted) / sum(words / rate for words, rate in counted)


if __name__ == "__main__":
    main()
