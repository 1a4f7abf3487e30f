"""What the methods cost beside stock fairseq: time, memory, operations; interleaved in one run.

    python examples/benchmark/speed.py                                    # all methods, small
    python examples/benchmark/speed.py --size base --device cuda --dtype bfloat16
    python examples/benchmark/speed.py --arch phrase_transformer --against transformer

All systems have the same sizes, read the same random sentences and start from the same seed. Their
measurements take turns, so that whatever slows the machine slows all; ratios are taken within a
round and their median is reported with the range.
"""

import argparse
import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from measure import interleaved, kernels, operations, processor, summary
from peak_memory import memory_of
from peers import build_peers
from random_sentences import write_dictionaries
from sizes import Sizes, add_size_arguments, sizes_of
from systems import add_device_arguments, build, check_architectures, check_device, silence
from works import WORKS, Load, System, load

from syntax_nmt.methods.method import RNN, TRANSFORMER
from syntax_nmt.models.presets import LINES
from syntax_nmt.reporting.findings import markdown_lines

MIB, BILLION = 2**20, 10**9
# Methods on a Transformer encoder under a conditional GRU, and the losses that are theirs.
PARTS = {
    "heads": "--supervised-layer -1 --child-weight 0.4 --parent-weight 0.4",
    "phrases": "--phrase-segmentation ngram --phrase-attention",
    "latent": "--latent-phrase-layers 2",
    "relation": "--relation-kernels 3:96 --relation-hidden-dim 128",
    "bi_scale": "--bi-scale --boundary-weight 1 --chunk-tag-weight 1",
}
TOGETHER = "syntax_hybrid+all"
PEERS = "peers"  # the same Transformer in other toolkits, too


def _of_family(family: str) -> dict[str, str]:
    """The architectures of a family with an own line of training."""
    return {line.arch: "" for line in LINES if line.family == family}


# The systems of a comparison, each with further options; the first is what the others are
# compared with. What follows a plus sign tells systems of one architecture apart.
COMPARISONS: dict[str, dict[str, str]] = {
    "transformer": {"transformer": "", **_of_family(TRANSFORMER)},
    PEERS: {"transformer": "", "syntax_transformer": ""},
    "biases": {
        "syntax_transformer": "",
        **{
            f"syntax_transformer+{bias}": f"--position-bias {bias}"
            for bias in ("decay", "alibi", "t5")
        },
        "pascal_transformer": "",
    },
    "lstm": {"lstm": "--encoder-bidirectional", "rnn_search": "", "rnn_search_cgru": ""},
    "rnn": {"rnn_search_cgru": "", **_of_family(RNN)},
    "hybrid": {
        name: f"--conditional-gru {more}"
        for name, more in {
            "syntax_hybrid": "",
            **{f"syntax_hybrid+{part}": more for part, more in PARTS.items()},
            TOGETHER: " ".join(PARTS.values()),
        }.items()
    },
}


def main() -> None:
    """Measures and prints."""
    silence()
    args = arguments()
    torch.set_num_threads(args.threads)
    if args.arch:
        comparisons = {args.against: dict.fromkeys([args.against, *args.arch], "")}
    else:
        comparisons = {name: COMPARISONS[name] for name in args.compare}
    sizes = sizes_of(args)
    results = {"settings": settings(args, sizes), "comparisons": {}}
    for name, systems in comparisons.items():
        results["comparisons"][name] = compare(systems, sizes, args, with_peers=name == PEERS)
        if args.json:
            args.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


def arguments() -> argparse.Namespace:
    """The command line's."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    groups = "groups of systems to compare (default: all)"
    add("--compare", nargs="+", choices=COMPARISONS, help=groups)
    add("--arch", nargs="+", help="measure these architectures instead of --compare's groups")
    add("--against", help="the architecture to compare --arch with (default: transformer)")
    add_size_arguments(parser)
    add("--works", nargs="+", default=list(WORKS), choices=WORKS, help="what is measured")
    add("--batches", type=int, default=2, help="batches in one measurement")
    add("--repeats", type=int, default=5, help="measurements of each system")
    add_device_arguments(parser)
    add("--threads", type=int, default=1, help="of torch on a CPU")
    add("--count", action="store_true", help="count operations and kernels, time nothing")
    add("--memory", action="store_true", help="measure peak memory, too")
    add("--json", type=Path, help="write all figures there")
    args = parser.parse_args()
    check_device(parser, args.device)
    if args.arch and args.compare:
        parser.error("--compare names groups, --arch architectures: give one of them")
    if args.against and not args.arch:
        parser.error("--against is what --arch is compared with: add --arch")
    if not args.arch:
        args.compare = args.compare or list(COMPARISONS)
    args.against = args.against or "transformer"
    check_architectures(parser, [args.against, *(args.arch or [])])
    if args.arch and args.against in args.arch:
        parser.error(f"--arch and --against are the same: {args.against}")
    return args


def settings(args: argparse.Namespace, sizes: Sizes) -> dict[str, Any]:
    """What repeats the run.

    Args:
        args: the command line's.
    """
    given = {name: value for name, value in vars(args).items() if name != "json"}
    return {
        **given,
        **asdict(sizes),
        "torch": torch.__version__,
        "syntax_nmt": version("syntax-nmt"),
        "processor": processor(args.device),
    }


def compare(
    chosen: dict[str, str], sizes: Sizes, args: argparse.Namespace, with_peers: bool
) -> dict[str, dict[str, dict[str, Any]]]:
    """Measures systems side by side, and prints a table of each work.

    Args:
        chosen: options by architecture; the first is the baseline.
        args: the command line's.
        with_peers: beside them those of other toolkits.

    Returns:
        the figures of each work and system.
    """
    with tempfile.TemporaryDirectory() as folder:
        write_dictionaries(Path(folder), sizes.vocabulary)
        built = [
            build(name, more.split(), Path(folder), sizes, args.device, args.dtype)
            for name, more in chosen.items()
        ]
    dictionary = built[0].task.source_dictionary
    systems: list[System] = [*built]
    if with_peers:
        systems += build_peers(sizes, dictionary, args.device, args.dtype)
    figures = {}
    for work in args.works:
        data = load(work, dictionary, sizes, args.batches, args.device)
        figures[work] = measure(data, systems, args)
        if args.memory:
            for name, more in chosen.items():
                figures[work][name]["peak_memory"] = memory_of(name, more, work, sizes, args)
        print_table(work, data, figures[work])
        print_sum(figures[work])
    return figures


def print_sum(figures: dict[str, dict[str, Any]]) -> None:
    """Prints what a system of all parts costs beside what they add one by one, if there is one.

    Args:
        figures: by system; the first is the baseline.
    """
    if TOGETHER not in figures or "relative_time" not in figures[TOGETHER]:
        return
    added = sum(figures[f"syntax_hybrid+{part}"]["relative_time"] - 1 for part in PARTS)
    together = figures[TOGETHER]["relative_time"]
    print(f"all parts together {together:.2f}; 1 and what each adds alone: {1 + added:.2f}")


def measure(
    data: Load, systems: list[System], args: argparse.Namespace
) -> dict[str, dict[str, Any]]:
    """The figures of one work.

    Args:
        data: what is done.
        systems: who does it; the first is the baseline.
        args: the command line's.
    """
    figures: dict[str, dict[str, Any]] = {
        system.name: {"parameters": system.parameters} for system in systems
    }
    if args.count:
        for system in systems:
            figures[system.name]["operations"] = operations(data.work, system)
            figures[system.name]["kernels"] = kernels(data.work, system)
        return figures
    seconds = interleaved(data.work, systems, args.repeats, args.device)
    for system, taken in zip(systems, seconds):
        figures[system.name].update(summary(taken, seconds[0], data.items))
    return figures


def print_table(title: str, data: Load, figures: Mapping[str, Mapping[str, Any]]) -> None:
    """Prints a row for each system; columns without a figure of the first are left out.

    Args:
        title: what was measured.
        figures: by system; the first is the baseline.
    """
    baseline = next(iter(figures.values()))
    rows = {name: cells(of_system, data.unit, baseline) for name, of_system in figures.items()}
    columns = list(next(iter(rows.values())))
    table = [[title, *columns]]
    table += [[f"`{name}`", *(row.get(each, "") for each in columns)] for name, row in rows.items()]
    print("", *markdown_lines(table), sep="\n", flush=True)


def cells(figures: Mapping[str, Any], unit: str, baseline: Mapping[str, Any]) -> dict[str, str]:
    """The cells of a system, by column.

    Args:
        unit: of what was done.
        baseline: the figures of the first system.
    """
    row = {"parameters": f"{figures['parameters'] / 10**6:.1f} M"}
    if "per_second" in figures:
        row[f"{unit}/s"] = f"{figures['per_second']:,.{0 if figures['per_second'] > 99 else 1}f}"
        row["time"] = f"{figures['relative_time']:.2f}"
        row["range"] = "{:.2f} to {:.2f}".format(*figures["relative_time_range"])
    if "operations" in figures:
        row["10⁹ operations"] = f"{figures['operations'] / BILLION:,.1f}"
        row["ratio"] = f"{figures['operations'] / baseline['operations']:.2f}"
        row["kernels"] = f"{figures['kernels']:,}"
        row["of the first"] = f"{figures['kernels'] / baseline['kernels']:.2f}"
    if "peak_memory" in figures:
        row["peak MiB"] = f"{figures['peak_memory'] / MIB:,.0f}"
    return row


if __name__ == "__main__":
    main()
