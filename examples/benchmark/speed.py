"""Training and decoding speed of an architecture relative to another, interleaved in one run.

    python examples/benchmark/speed.py --arch dependency_transformer --against transformer

Both models have the same sizes, read the same random sentences and start from the same weights.
Their measurements alternate, so that whatever slows the machine slows both; the ratio is taken
within each pair and its median is reported with the range. With --count nothing is timed, and the
floating-point operations of all matrix products are counted instead.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from fairseq import options, tasks, utils
from fairseq.data import Dictionary, LanguagePairDataset
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.tasks import FairseqTask
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import syntax_nmt  # noqa: F401  registers its architectures

EOS, FIRST_WORD = 2, 4
CRITERIONS = {
    "dependency_transformer": "dependency_cross_entropy",
    "latent_phrase_transformer": "synchronous_cross_entropy",
}
STOCK_CRITERION = "label_smoothed_cross_entropy"


@dataclass
class System:
    """One model with all that training and decoding it takes."""

    name: str
    task: FairseqTask
    model: torch.nn.Module
    criterion: torch.nn.Module
    optimizer: torch.optim.Optimizer
    translator: torch.nn.Module  # another one: fairseq's switch to generation cannot be undone
    generator: Any


def build(name: str, folder: Path, args: argparse.Namespace) -> System:
    """Builds a system as fairseq's command line would.

    Args:
        name: the architecture.
        folder: has the dictionaries.
        args: the sizes.
    """
    ours = ARCH_MODEL_REGISTRY[name].__module__.startswith("syntax_nmt.")
    method = next((method for method in CRITERIONS if name.startswith(method)), None)
    command = [str(folder), "-s", "src", "-t", "tgt", "--arch", name]
    command += ["--task", "syntax_translation" if ours else "translation"]
    command += ["--criterion", CRITERIONS[method] if method else STOCK_CRITERION]
    command += ["--label-smoothing", "0.1", "--share-all-embeddings"]
    for side in ("encoder", "decoder"):
        command += [f"--{side}-embed-dim", args.width, f"--{side}-ffn-embed-dim", 4 * args.width]
        command += [f"--{side}-layers", args.layers, f"--{side}-attention-heads", args.heads]
    parser = options.get_training_parser()
    cfg = convert_namespace_to_omegaconf(options.parse_args_and_arch(parser, [*map(str, command)]))
    task = tasks.setup_task(cfg.task)
    torch.manual_seed(1)
    model = task.build_model(cfg.model).to(args.device)
    criterion = task.build_criterion(cfg.criterion)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98))
    torch.manual_seed(1)
    translator = task.build_model(cfg.model).to(args.device)
    translator.make_generation_fast_(need_attn=False)
    search = Namespace(beam=args.beam, max_len_a=1, max_len_b=5)
    generator = task.build_generator([translator], search)
    return System(name, task, model, criterion, optimizer, translator, generator)


def write_dictionaries(folder: Path, words: int) -> None:
    """Writes the same vocabulary for both sides.

    Args:
        folder: where to.
        words: its size.
    """
    dictionary = Dictionary()
    for index in range(words - len(dictionary)):
        dictionary.add_symbol(f"w{index}")
    for language in ("src", "tgt"):
        dictionary.save(str(folder / f"dict.{language}.txt"))


def make_batches(dictionary: Dictionary, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Random sentences around the mean length, with random trees, in batches of similar lengths.

    Args:
        dictionary: of both sides.
        args: the sizes.
    """
    generator = torch.Generator().manual_seed(1)
    spread = max(1, args.length // 4)
    batches = []
    for index in range(args.batches):
        mean = args.length - spread + index * 2 * spread // max(1, args.batches - 1)
        lengths = torch.randint(mean - 1, mean + 2, (2, args.sentences), generator=generator)
        sides = []
        for row in lengths.clamp(min=2).tolist():
            side = [
                torch.randint(FIRST_WORD, len(dictionary), (n,), generator=generator) for n in row
            ]
            for tokens in side:
                tokens[-1] = EOS
            sides.append(side)
        dataset = LanguagePairDataset(
            sides[0], [len(s) for s in sides[0]], dictionary,
            sides[1], [len(s) for s in sides[1]], dictionary,
        )  # fmt: skip
        batch = dataset.collater([dataset[i] for i in range(args.sentences)])
        batch["heads"] = random_heads(batch["net_input"]["src_tokens"], dictionary.pad(), generator)
        batches.append(utils.move_to_cuda(batch) if args.device == "cuda" else batch)
    return batches


def random_heads(tokens: torch.Tensor, pad: int, generator: torch.Generator) -> torch.Tensor:
    """Head columns of random trees, B×S: the first word is the root, each other hangs to its left.

    Args:
        tokens: B×S, padded on the left.
        pad: the padding symbol.
        generator: of random numbers.
    """
    columns = torch.arange(tokens.size(1)).expand_as(tokens)
    first = tokens.eq(pad).sum(dim=1, keepdim=True)
    offset = (columns - first).clamp(min=0)
    heads = first + (torch.rand(tokens.shape, generator=generator) * offset).long()
    return heads.masked_fill(tokens.eq(pad) | tokens.eq(EOS), -1)


def train(system: System, batches: list[dict[str, Any]]) -> None:
    """One update for each batch.

    Args:
        system: the system.
        batches: the data.
    """
    system.model.train()
    for batch in batches:
        system.optimizer.zero_grad(set_to_none=True)
        loss, sample_size, _ = system.criterion(system.model, batch)
        (loss / sample_size).backward()
        torch.nn.utils.clip_grad_norm_(system.model.parameters(), 1.0)
        system.optimizer.step()


def decode(system: System, batches: list[dict[str, Any]]) -> None:
    """Beam search for each batch, to the maximal length if the model does not end before.

    Args:
        system: the system.
        batches: the data.
    """
    for batch in batches:
        system.task.inference_step(system.generator, [system.translator], batch)


def seconds(work: Callable[[], None], device: str) -> float:
    """Wall-clock time of `work`.

    Args:
        work: what to time.
        device: whose queue is waited for.
    """
    start = time.perf_counter()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def compare(
    work: Callable[[System, list[dict[str, Any]]], None],
    systems: tuple[System, System],
    batches: list[dict[str, Any]],
    args: argparse.Namespace,
) -> dict[str, Any]:
    """Times both systems in turn, after a round that does not count.

    Args:
        work: :func:`train` or :func:`decode`.
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
            elapsed = seconds(lambda s=system: work(s, batches), args.device)  # type: ignore[misc]
            if repeat:
                times[system.name].append(elapsed)
    ratios = [b / a for a, b in zip(times[systems[0].name], times[systems[1].name])]
    return {
        "seconds": times,
        "relative_speed": statistics.median(ratios),
        "range": [min(ratios), max(ratios)],
    }


def operations(
    work: Callable[[System, list[dict[str, Any]]], None],
    systems: tuple[System, System],
    batches: list[dict[str, Any]],
) -> dict[str, Any]:
    """Counts the floating-point operations of both systems.

    Args:
        work: :func:`train` or :func:`decode`.
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


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--arch", default="dependency_transformer", help="what is measured")
    parser.add_argument("--against", default="transformer", help="relative to what")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--threads", type=int, default=1, help="of torch on a CPU")
    parser.add_argument("--width", type=int, default=256, help="C; the FFN is four times as wide")
    parser.add_argument("--layers", type=int, default=3, help="on each side")
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--length", type=int, default=20, help="mean length of a sentence")
    parser.add_argument("--sentences", type=int, default=64, help="in a batch")
    parser.add_argument("--batches", type=int, default=4, help="in a measurement")
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--count", action="store_true", help="count operations, time nothing")
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    with tempfile.TemporaryDirectory() as folder:
        write_dictionaries(Path(folder), args.vocabulary)
        systems = (build(args.arch, Path(folder), args), build(args.against, Path(folder), args))
    batches = make_batches(systems[0].task.source_dictionary, args)
    results: dict[str, Any] = {"settings": vars(args)}
    for name, run, data in (("training", train, batches), ("decoding", decode, batches[:2])):
        if args.count:
            results[name] = operations(run, systems, data)
        else:
            results[name] = compare(run, systems, data, args)
    if args.json:
        print(json.dumps(results, indent=1))
        return
    for work in ("training", "decoding"):
        result = results[work]
        if args.count:
            ratio = result["relative_operations"]
            print(f"{work}: {args.arch} takes {ratio:.3f} times the operations of {args.against}")
            continue
        low, high = result["range"]
        print(
            f"{work}: {args.arch} runs at {result['relative_speed']:.3f} of the speed of "
            f"{args.against} ({low:.3f} to {high:.3f} in {args.repeats} pairs)"
        )


if __name__ == "__main__":
    main()
