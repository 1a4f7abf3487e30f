"""Time and memory of one training step on one long sentence, in a process of its own for each.

python examples/benchmark/long_sentences.py --words 1000 2000 5000
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from measure import peak_memory, timed
from quiet import silence
from random_sentences import Corpus, make_batches, write_dictionaries
from sizes import SIZES
from systems import BenchmarkedSystem, build

ARCHITECTURES = ("latent_phrase_transformer", "rnn_search_cgru", "bi_scale_rnn")
MIB = 2**20
_NOT_SHORTER = [f"--max-{side}-positions=100000" for side in ("source", "target")]


def measure(name: str, words: int) -> None:
    """Prints a row of the table.

    Args:
        words: of the sentence, on both sides.
    """
    silence()
    torch.set_num_threads(1)
    sizes = SIZES["tiny"]
    with tempfile.TemporaryDirectory() as folder:
        write_dictionaries(Path(folder), sizes.vocabulary)
        system = build(name, _NOT_SHORTER, Path(folder), sizes, "cpu", "float32")
    corpus = Corpus(sizes.vocabulary, 4 * words // 3, 1, 1)  # a single batch is of short ones
    batches = make_batches(system.task.source_dictionary, corpus)
    seconds: list[float] = []

    def train(system: BenchmarkedSystem) -> None:
        seconds.append(timed(lambda: system.train(batches), "cpu"))

    memory = peak_memory(train, system, "cpu")
    longest = batches[0]["net_input"]["src_tokens"].size(1)
    print(f"| `{name}` | {longest:,} | {seconds[0]:.1f} | {memory / MIB:,.0f} |")


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--arch", nargs="+", default=ARCHITECTURES)
    parser.add_argument("--words", nargs="+", type=int, default=[1000, 2000])
    parser.add_argument("--row", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.row:
        measure(args.arch[0], args.words[0])
        return
    print("| system | words | seconds | MiB |\n|---|---|---|---|")
    for name in args.arch:
        for words in args.words:
            command = [sys.executable, __file__, "--row", "--arch", name, "--words", str(words)]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
