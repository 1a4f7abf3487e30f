"""Cost relative to stock fairseq as sentences get longer, batches larger and models wider.

    python examples/benchmark/scaling.py --over length --arch dependency_transformer
    python examples/benchmark/scaling.py --over batch width --arch relation_rnn \
        --against rnn_search_cgru

Each figure is the median time of the architecture in that of the other, interleaved in one run. A
batch keeps about the same number of tokens when its sentences get longer, as `--max-tokens` does.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from measure import interleaved, summary
from quiet import silence
from random_sentences import write_dictionaries
from sizes import Sizes, add_size_arguments, sizes_of
from systems import build
from works import WORKS, load

LENGTHS = (16, 32, 64, 128, 256, 512)
BATCHES = (1, 4, 16, 64, 256)
WIDTHS = (64, 128, 256, 512, 1024)


def main() -> None:
    """Measures and prints a table for each thing that is varied."""
    silence()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--over", nargs="+", default=["length", "batch", "width"], help="what is varied")
    add("--arch", nargs="+", default=["dependency_transformer", "phrase_transformer"])
    add("--against", default="transformer", help="relative to what")
    add_size_arguments(parser)
    add("--works", nargs="+", default=["training", "beam5"], choices=WORKS)
    add("--most", type=int, default=10**9, help="leave out values above this")
    add("--repeats", type=int, default=3)
    add("--device", default="cpu", choices=["cpu", "cuda"])
    add("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    add("--threads", type=int, default=1, help="of torch on a CPU")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    for over in args.over:
        print(f"\n| {over} | " + " | ".join(f"{a}, {w}" for a in args.arch for w in args.works))
        print("|---" * (1 + len(args.arch) * len(args.works)) + "|")
        for value, sizes in variants(sizes_of(args), over):
            if value <= args.most:
                cells = (f"{ratio:.2f}" for ratio in ratios(sizes, args))
                print(f"| {value} | " + " | ".join(cells) + " |", flush=True)


def variants(sizes: Sizes, over: str) -> list[tuple[int, Sizes]]:
    """Sizes that differ in one thing.

    Args:
        sizes: of everything else.
        over: `length`, `batch` or `width`.
    """
    if over == "length":
        tokens = sizes.length * sizes.sentences
        return [(n, replace(sizes, length=n, sentences=max(1, tokens // n))) for n in LENGTHS]
    if over == "batch":
        return [(n, replace(sizes, sentences=n)) for n in BATCHES]
    if over == "width":
        return [(n, replace(sizes, width=n, ffn=4 * n)) for n in WIDTHS]
    raise SystemExit(f"--over {over}: length, batch or width")


def ratios(sizes: Sizes, args: argparse.Namespace) -> list[float]:
    """The relative time of each architecture and work.

    Args:
        args: the command line's.
    """
    names = [args.against, *args.arch]
    with tempfile.TemporaryDirectory() as folder:
        write_dictionaries(Path(folder), sizes.vocabulary)
        systems = [build(n, [], Path(folder), sizes, args.device, args.dtype) for n in names]
    figures: dict[tuple[str, str], dict[str, Any]] = {}
    for work in args.works:
        data = load(work, systems[0], sizes, 1, args.device)
        seconds = interleaved(data.work, systems, args.repeats, args.device)
        for name, taken in zip(names, seconds):
            figures[name, work] = summary(taken, seconds[0], data.items)
    return [figures[arch, work]["relative_time"] for arch in args.arch for work in args.works]


if __name__ == "__main__":
    main()
