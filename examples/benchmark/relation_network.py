"""Memory and time of the pair computation of a relation network, against its naive form.

    python examples/benchmark/relation_network.py

The naive form lays both words of every pair of a padded batch side by side and keeps every layer of
the MLP for the backward pass. Memory is measured at 50, 100 and 200 words, each in a process of its
own: what autograd keeps, and how much the process grows; once with everything computed again in the
backward pass and once with what is kept by default. Time is the processor's, forward and backward,
on sentences of 5 to 25 words, in turns.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from torch import Tensor

from syntax_nmt.methods.relation_network.convolutions import SLOPE
from syntax_nmt.methods.relation_network.propagation import GraphPropagation

MIB = 2**20
NAIVE, DEFAULT = -1, 2**16  # pairs that are kept; of the default width


def naive(network: GraphPropagation, words: Tensor, padding: Tensor) -> Tensor:
    """The mean message of each word, from pairs laid side by side.

    Args:
        words: B×S×D.
        padding: B×S, True = pad.

    Returns:
        B×S×H.
    """
    length = words.size(1)
    pairs = torch.cat(
        [
            words.unsqueeze(2).expand(-1, -1, length, -1),
            words.unsqueeze(1).expand(-1, length, -1, -1),
        ],
        dim=3,
    )
    of_pair = network.of_pair
    weight = torch.cat([of_pair.first.weight, of_pair.second.weight], dim=1)
    message = F.leaky_relu(F.linear(pairs, weight, of_pair.first.bias), SLOPE)
    for layer in network.hidden:
        message = F.leaky_relu(layer(message), SLOPE)
    real = (~padding).to(words)
    return (message * real[:, None, :, None]).sum(dim=2) / real.sum(dim=1)[:, None, None]


def run(network: GraphPropagation, form: int, words: Tensor, sizes: list[int]) -> Tensor:
    """One forward pass.

    Args:
        form: `NAIVE`, or anything else for the layer's own.
        words: N×D.
        sizes: words of each sentence.
    """
    if form != NAIVE:
        return network(words, sizes)
    padded = torch.nn.utils.rnn.pad_sequence(words.split(sizes), batch_first=True)
    columns = torch.arange(padded.size(1))
    return naive(network, padded, columns >= torch.tensor(sizes).unsqueeze(1))


def measure_memory(form: int, length: int, args: argparse.Namespace) -> None:
    """Prints what one forward and backward pass takes, in MiB; for a process of its own.

    Args:
        form: `NAIVE`, or how many pairs are kept.
        length: words of each sentence.
    """
    torch.manual_seed(1)
    network = GraphPropagation(args.width, args.width, kept_pairs=max(form, 0))
    network(torch.randn(3, args.width), [3]).sum().backward()
    words = torch.randn(args.long_sentences * length, args.width, requires_grad=True)
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        out = run(network, form, words, [length] * args.long_sentences)
    out.sum().backward()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"{sum(kept.values()) / MIB:.1f} {grown * 1024 / MIB:.1f}")


def measure_time(args: argparse.Namespace) -> dict[str, float]:
    """Seconds of a forward and backward pass over ragged sentences, the median of some."""
    draw = random.Random(1)
    sizes = sorted(draw.randint(5, 25) for _ in range(args.sentences))
    words = torch.randn(sum(sizes), args.width, requires_grad=True)
    forms = {"naive": NAIVE, "computed again": 0, "kept": DEFAULT}
    seconds: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(args.repeats + 1):
        for name, form in forms.items():
            network = GraphPropagation(args.width, args.width, kept_pairs=max(form, 0))
            start = time.process_time()
            run(network, form, words, sizes).sum().backward()
            seconds[name].append(time.process_time() - start)
    return {name: statistics.median(found[1:]) for name, found in seconds.items()}


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--width", type=int, default=256, help="of words and of the MLP")
    parser.add_argument("--sentences", type=int, default=80, help="in a batch that is timed")
    parser.add_argument("--long-sentences", type=int, default=4, help="in a batch of one length")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--memory", nargs=2, type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.memory:
        form, length = args.memory
        measure_memory(form, length, args)
        return
    print("words  form             kept for backward  process grows by (MiB)")
    sizes = ["--width", str(args.width), "--long-sentences", str(args.long_sentences)]
    for length in (50, 100, 200):
        for name, form in (("naive", NAIVE), ("computed again", 0), ("by default", DEFAULT)):
            command = [sys.executable, __file__, *sizes, "--memory", str(form), str(length)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            kept, grown = done.stdout.split()
            print(f"{length:5}  {name:15}  {kept:>17}  {grown:>21}")
    seconds = measure_time(args)
    for name, found in seconds.items():
        print(f"{name}: {found:.2f} s, {found / seconds['naive']:.2f} of the naive form")


if __name__ == "__main__":
    main()
