"""An exported model in CTranslate2 beside the same one in fairseq: time, and size of the files.

python examples/benchmark/exported.py --size base --threads 1 2
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

import ctranslate2
import torch
from fairseq.dataclass.configs import GenerationConfig
from fairseq.models.transformer import TransformerModel
from fairseq.tasks import FairseqTask
from random_sentences import make_batches, write_dictionaries
from sizes import SIZES
from systems import build, silence

from syntax_nmt.export.ctranslate2_model import Converted, convert
from syntax_nmt.export.stock_transformer import stock_transformer
from syntax_nmt.reporting.findings import markdown_lines

LENGTH = 26  # of every translation: a random model has no notion of an end
QUANTIZATIONS = (None, "int8")


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=SIZES, default="base")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--sentences", type=int, default=16, help="of one batch")
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    silence()
    sizes = SIZES[args.size]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_dictionaries(folder, sizes.vocabulary)
        system = build("transformer", [], folder, sizes, "cpu", "float32")
        model, options = stock_transformer(system.model, system.model.args, system.task)
        for quantization in QUANTIZATIONS:
            into = folder / (quantization or "float32")
            into.mkdir()
            convert(Converted(model, model, options), system.task, quantization, into)
            size = (into / "model.bin").stat().st_size
            print(f"{into.name}: model.bin has {size / 2**20:.1f} MiB")
        dictionary = system.task.source_dictionary
        (batch,) = make_batches(dictionary, sizes.length, args.sentences, 1)
        print()
        head = ["threads", "fairseq, seconds", "float32", "int8"]
        rows = (row(system.task, model, folder, batch, each, args) for each in args.threads)
        for line in markdown_lines(chain([head], rows)):
            print(line, flush=True)


def row(
    task: FairseqTask,
    model: TransformerModel,
    folder: Path,
    batch: dict[str, Any],
    threads: int,
    args: argparse.Namespace,
) -> list[str]:
    """The cells of a number of threads: fairseq's time, and how many times as fast others are.

    The engines take turns; the ratios are those within a round, and their median counts.

    Args:
        model: fairseq's.
        folder: has those of CTranslate2.
        threads: of each engine.
        args: of the command line.
    """
    torch.set_num_threads(threads)
    search = GenerationConfig(beam=args.beam, min_len=LENGTH, max_len_b=LENGTH)
    generator = task.build_generator([model.eval()], search)
    pad = task.source_dictionary.pad()
    sources = [
        [task.source_dictionary[i] for i in row[row.ne(pad)][:-1].tolist()]
        for row in batch["net_input"]["src_tokens"]
    ]
    lengths = {"min_decoding_length": LENGTH, "max_decoding_length": LENGTH}

    def translated(translator: ctranslate2.Translator) -> Callable[[], Any]:
        return lambda: translator.translate_batch(sources, beam_size=args.beam, **lengths)

    works = [lambda: task.inference_step(generator, [model], batch)]
    for quantization in QUANTIZATIONS:
        path = str(folder / (quantization or "float32"))
        translator = ctranslate2.Translator(path, intra_threads=threads, compute_type="default")
        works.append(translated(translator))
    rounds = [[seconds(work) for work in works] for _ in range(args.repeats + 1)][1:]
    ratios = [median(round_[0] / round_[i] for round_ in rounds) for i in (1, 2)]
    figures = [median(round_[0] for round_ in rounds), *ratios]
    return [str(threads), *(f"{figure:.2f}" for figure in figures)]


def seconds(work: Callable[[], Any]) -> float:
    """By the clock, as CTranslate2 has threads of its own."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
