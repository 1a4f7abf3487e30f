"""The highest point of a system's memory, in a process of its own; prints bytes."""

import argparse
import shlex
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import torch
from measure import peak_memory
from random_sentences import write_dictionaries
from sizes import Sizes, add_size_arguments, sizes_of
from systems import build
from works import WORKS, load


def memory_of(name: str, more: str, work: str, sizes: Sizes, args: argparse.Namespace) -> int:
    """Runs this file and gives what it prints.

    Args:
        more: further options of fairseq-train.
        work: one of `WORKS`.
        sizes: of the system and the batches.
        args: has `device`, `dtype` and `threads`.
    """
    command = [sys.executable, __file__, "--arch", name, f"--arch-options={more}", "--work", work]
    command += [f"--{field}={value}" for field, value in asdict(sizes).items()]
    command += [f"--{option}={getattr(args, option)}" for option in ("device", "dtype", "threads")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(command)} failed:\n{done.stderr}")
    return int(done.stdout.split()[-1])


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", required=True)
    parser.add_argument("--arch-options", default="")
    parser.add_argument("--work", required=True, choices=WORKS)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--threads", type=int, default=1)
    add_size_arguments(parser)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    sizes = sizes_of(args)
    with tempfile.TemporaryDirectory() as folder:
        write_dictionaries(Path(folder), sizes.vocabulary)
        more = args.arch_options.split()
        system = build(args.arch, more, Path(folder), sizes, args.device, args.dtype)
    # Two batches: the second finds the optimizer's state in place.
    data = load(args.work, system.task.source_dictionary, sizes, 2, args.device)
    print(peak_memory(data.work, system, args.device))


if __name__ == "__main__":
    main()
