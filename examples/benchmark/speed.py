"""Training and decoding speed of an architecture relative to another, interleaved in one run.

    python examples/benchmark/speed.py --arch dependency_transformer --against transformer
    python examples/benchmark/speed.py --arch rnn_search_cgru --against lstm \
        --against-options=--encoder-bidirectional

Both models have the same sizes, read the same random sentences and start from the same weights.
Their measurements alternate, so that whatever slows the machine slows both; the ratio is taken
within each pair and its median is reported with the range. One thread of a CPU is measured by the
process's own time, which other programs change little. With --count nothing is timed, and the
floating-point operations of all matrix products are counted instead.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from fairseq import utils
from random_sentences import Corpus, make_batches, write_dictionaries
from systems import Sizes, System, build
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

Work = Callable[[System, list[dict[str, Any]]], None]


def seconds(work: Callable[[], None], args: argparse.Namespace) -> float:
    """Time of `work`: the process's own on one thread of a CPU, otherwise the clock's.

    Args:
        work: what to time.
        args: the device, whose queue is waited for, and the threads.
    """
    alone = args.device == "cpu" and args.threads == 1
    clock = time.process_time if alone else time.perf_counter
    start = clock()
    work()
    if args.device == "cuda":
        torch.cuda.synchronize()
    return clock() - start


def compare(
    work: Work,
    systems: tuple[System, System],
    batches: list[dict[str, Any]],
    args: argparse.Namespace,
) -> dict[str, Any]:
    """Times both systems in turn, after a round that does not count.

    Args:
        work: :meth:`System.train` or :meth:`System.decode`.
        systems: the two.
        batches: the data.
        args: the number of repeats.

    Returns:
        seconds of each repeat and system, and the speed of the first relative to the second.
    """
    times: dict[str, list[float]] = {system.name: [] for system in systems}
    for repeat in range(args.repeats + 1):
        # Each goes first every other time.
        for system in systems if repeat % 2 else systems[::-1]:
            elapsed = seconds(lambda s=system: work(s, batches), args)  # type: ignore[misc]
            if repeat:
                times[system.name].append(elapsed)
    ratios = [b / a for a, b in zip(times[systems[0].name], times[systems[1].name])]
    return {
        "seconds": times,
        "relative_speed": statistics.median(ratios),
        "range": [min(ratios), max(ratios)],
    }


def operations(
    work: Work, systems: tuple[System, System], batches: list[dict[str, Any]]
) -> dict[str, Any]:
    """Counts the floating-point operations of both systems.

    Args:
        work: :meth:`System.train` or :meth:`System.decode`.
        systems: the two.
        batches: the data.

    Returns:
        operations of each system, and those of the first relative to the second.
    """
    counts = {}
    for system in systems:
        # Written out as matrix products, attention is counted, too.
        with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
            work(system, batches)
        counts[system.name] = counter.get_total_flops()
    first, second = counts.values()
    return {"operations": counts, "relative_operations": first / second}


def arguments() -> argparse.Namespace:
    """The command line's."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--arch", default="dependency_transformer", help="what is measured")
    add("--against", default="transformer", help="relative to what")
    for name in ("arch", "against"):
        add(f"--{name}-options", default="", help="further options of fairseq-train, in one string")
    add("--device", default="cpu", choices=["cpu", "cuda"])
    add("--threads", type=int, default=1, help="of torch on a CPU")
    add("--width", type=int, default=256, help="C; the FFN is four times as wide")
    add("--layers", type=int, default=3, help="of Transformers, on each side")
    add("--heads", type=int, default=8)
    add("--vocabulary", type=int, default=8000)
    add("--length", type=int, default=20, help="mean length of a sentence")
    add("--sentences", type=int, default=64, help="in a batch")
    add("--batches", type=int, default=4, help="in a measurement")
    add("--beam", type=int, default=5)
    add("--repeats", type=int, default=9)
    add("--count", action="store_true", help="count operations, time nothing")
    add("--json", action="store_true", help="print all figures as JSON")
    args = parser.parse_args()
    if args.arch == args.against:
        parser.error("--arch and --against are the same")
    return args


def main() -> None:
    """Measures and prints."""
    args = arguments()
    torch.set_num_threads(args.threads)
    sizes = Sizes(args.width, args.layers, args.heads)
    corpus = Corpus(args.vocabulary, args.length, args.sentences, args.batches)
    with tempfile.TemporaryDirectory() as folder:
        write_dictionaries(Path(folder), args.vocabulary)
        first, second = (
            build(name, more.split(), Path(folder), sizes, args.beam, args.device)
            for name, more in (
                (args.arch, args.arch_options),
                (args.against, args.against_options),
            )
        )
    batches = make_batches(first.task.source_dictionary, corpus)
    if args.device == "cuda":
        batches = [utils.move_to_cuda(batch) for batch in batches]
    results: dict[str, Any] = {"settings": vars(args)}
    works = (("training", System.train, batches), ("decoding", System.decode, batches[:2]))
    for name, work, data in works:
        if args.count:
            results[name] = operations(work, (first, second), data)
        else:
            results[name] = compare(work, (first, second), data, args)
        if not args.json:
            print(f"{name}: {summary(results[name], args)}", flush=True)
    if args.json:
        print(json.dumps(results, indent=1))


def summary(result: dict[str, Any], args: argparse.Namespace) -> str:
    """A line for people.

    Args:
        result: of :func:`compare` or :func:`operations`.
        args: what was compared.
    """
    if args.count:
        ratio = result["relative_operations"]
        return f"{args.arch} takes {ratio:.3f} times the operations of {args.against}"
    low, high = result["range"]
    return (
        f"{args.arch} runs at {result['relative_speed']:.3f} of the speed of {args.against}, "
        f"{1 / result['relative_speed']:.3f} of its time "
        f"({low:.3f} to {high:.3f} of the speed in {args.repeats} pairs)"
    )


if __name__ == "__main__":
    main()
