"""Which attention kernels the Transformers run, by name: proof that the fused ones are taken.

    python examples/benchmark/kernels.py --size base --device cuda --dtype bfloat16

On a GPU it fails where one of our systems has no fused kernel in its training or in its search. On
a CPU the names are those of torch's operators; there is none for the gradient of a mask, which
latent phrases train by.
"""

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from measure import Work
from random_sentences import write_dictionaries
from sizes import add_size_arguments, sizes_of
from speed import COMPARISONS
from systems import BenchmarkedSystem, add_device_arguments, build, check_device, silence
from torch.profiler import ProfilerActivity, profile
from works import load

from syntax_nmt.reporting.findings import markdown_lines

WORKS = ("training", "beam5")
# Kernels of a GPU, and the operators of a CPU: flash, memory-efficient, cuDNN's.
FUSED = re.compile(r"flash|fmha|efficient_attention|cudnn.*(sdpa|attention)", re.IGNORECASE)


def main() -> None:
    """Profiles and prints a table."""
    silence()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_size_arguments(parser)
    add_device_arguments(parser)
    args = parser.parse_args()
    check_device(parser, args.device)
    missing: list[str] = []
    for line in markdown_lines(rows(args, missing)):
        print(line, flush=True)
    if missing and args.device == "cuda":
        raise SystemExit(f"error: no fused attention kernel: {'; '.join(missing)}")


def rows(args: argparse.Namespace, missing: list[str]) -> Iterator[tuple[str, str, str]]:
    """The head of the table, then a row for each system and work, as they are profiled.

    Args:
        args: the command line's.
        missing: gets the works that took no fused kernel.
    """
    sizes = sizes_of(args)
    yield "system", "work", "fused attention kernels, calls"
    for name in COMPARISONS["transformer"]:
        with tempfile.TemporaryDirectory() as folder:
            write_dictionaries(Path(folder), sizes.vocabulary)
            system = build(name, [], Path(folder), sizes, args.device, args.dtype)
        for work in WORKS:
            data = load(work, system.task.source_dictionary, sizes, 1, args.device)
            found = kernels(data.work, system, args.device)
            cell = ", ".join(f"`{kernel}` {calls}" for kernel, calls in found.most_common())
            yield f"`{name}`", work, cell or "none"
            if not found and name != "transformer":  # fairseq's own takes them in some calls only
                missing.append(f"{name} in {work}")


def kernels(work: Work, system: BenchmarkedSystem, device: str) -> Counter[str]:
    """How often each fused kernel ran.

    Args:
        work: what is done; once before, so that nothing is chosen while it is profiled.
    """
    work(system)
    activity = ProfilerActivity.CUDA if device == "cuda" else ProfilerActivity.CPU
    with profile(activities=[activity]) as profiled:
        work(system)
    names = (event.key for event in profiled.key_averages() for _ in range(event.count))
    # Of a templated kernel the name, without its arguments.
    return Counter(re.split(r"[<(]", name)[0] for name in names if FUSED.search(name))


if __name__ == "__main__":
    main()
