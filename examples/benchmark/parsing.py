"""What `syntax-nmt parse` costs beside Stanza itself: throughput, scaling over workers, memory.

    python examples/benchmark/parsing.py words/train.en --lang en --stanza-dir stanza_resources

Throughput: the same lines go through a bare Stanza pipeline (its defaults, one thread, 2,000 lines
a call, nothing written) and through the whole of `parse` in this process (parts, checksums, CoNLL-U
on disk), in turns; processor time is reported, which a busy machine disturbs least. Scaling: lines
a second by the clock once all workers are at work; it needs a quiet machine. Memory: the peak of a
process of its own over a tenth of the lines and over all of them.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import stanza
import torch

from syntax_nmt.data.text_files import read_lines
from syntax_nmt.parsing.models import StanzaModels, find_models
from syntax_nmt.preparation.annotation.annotate import Resources, annotate_file
from syntax_nmt.preparation.annotation.annotator import StanzaAnnotator

LINES_A_CALL = 2000


def main() -> None:
    """Runs what is asked for and prints it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("text", type=Path, help="words separated by spaces, a sentence a line")
    parser.add_argument("--lang", default="en")
    parser.add_argument("--stanza-dir", type=Path, help="folder of models (default: Stanza's)")
    parser.add_argument("--kind", choices=("dependencies", "constituents"), default="dependencies")
    parser.add_argument("--lines", type=int, default=4000, help="lines of a throughput run")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2, help="processes of the scaling run")
    parser.add_argument("--memory-lines", type=int, default=20_000)
    parser.add_argument("--only", choices=("throughput", "scaling", "memory", "peak"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    models = find_models(args.kind, args.lang, args.stanza_dir)
    with tempfile.TemporaryDirectory() as folder:
        if args.only in (None, "throughput"):
            measure_throughput(models, args, Path(folder))
        if args.only in (None, "scaling"):
            measure_scaling(models, args, Path(folder))
        if args.only in (None, "memory"):
            measure_memory(args)
        if args.only == "peak":
            annotate_file(
                lines_of(args.text, args.lines, Path(folder)),
                Path(folder) / "out",
                StanzaAnnotator(models),
            )
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def lines_of(text: Path, lines: int, folder: Path) -> Path:
    """A file with lines of a text, which begins again where it ends.

    Args:
        lines: how many lines are wanted.
        folder: where the file goes.
    """
    path = folder / f"{lines}.txt"
    source = itertools.chain.from_iterable(read_lines(text) for _ in itertools.count())
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(f"{line}\n" for line in itertools.islice(source, lines))
    return path


def measure_throughput(models: StanzaModels, args: argparse.Namespace, folder: Path) -> None:
    """Prints sentences a second of bare Stanza and of `parse`, and their ratio."""
    text = lines_of(args.text, args.lines, folder)
    sentences = [line.split() for line in read_lines(text) if line]
    calls = range(0, len(sentences), LINES_A_CALL)
    pipeline = bare_pipeline(models)
    annotator = StanzaAnnotator(models)
    annotator.load()

    def bare() -> None:
        for first in calls:
            pipeline(sentences[first : first + LINES_A_CALL])

    def ours() -> None:
        annotate_file(text, folder / "out", annotator)

    bare_rates, our_rates = [], []
    for _ in range(args.repeats):
        bare_rates.append(len(sentences) / processor_seconds(bare))
        our_rates.append(len(sentences) / processor_seconds(ours))
    ratios = [our / stock for our, stock in zip(our_rates, bare_rates)]
    print(
        f"one worker, {args.lines:,} lines: bare Stanza {statistics.median(bare_rates):.1f} "
        f"sentences/s, parse {statistics.median(our_rates):.1f}: ratio "
        f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
    )


def bare_pipeline(models: StanzaModels) -> Any:
    """Stanza's own pipeline of the same models, as its documentation has it.

    Args:
        models: of the parser; from files.
    """
    folder = str(models.stanza_dir or models.files[0][1].parent)
    return stanza.Pipeline(
        lang=models.lang,
        dir=folder,
        processors=",".join(models.processors),
        tokenize_pretokenized=True,
        allow_unknown_language=True,
        download_method=None,
        use_gpu=False,
        verbose=False,
        depparse_check_requirements=False,
        **{name: str(path) for name, path in models.files},
    )


def processor_seconds(work: Callable[[], None]) -> float:
    """Processor time of a call, in seconds.

    Args:
        work: what to call.
    """
    began = time.process_time()
    work()
    return time.process_time() - began


def measure_scaling(models: StanzaModels, args: argparse.Namespace, folder: Path) -> None:
    """Prints lines a second of one and of several workers, starting times left out."""
    annotator = StanzaAnnotator(models)
    short, long = (lines_of(args.text, lines, folder) for lines in (args.lines, 3 * args.lines))
    rates = {}
    for workers in (1, args.workers):
        seconds = {}
        for text in (short, long):
            began = time.monotonic()
            # Parts so small that every worker has several of the short text.
            annotate_file(text, folder / "out", annotator, Resources(workers, part_size=500))
            seconds[text] = time.monotonic() - began
        rates[workers] = 2 * args.lines / (seconds[long] - seconds[short])
    print(
        f"scaling: 1 worker {rates[1]:.1f} lines/s, {args.workers} workers "
        f"{rates[args.workers]:.1f}: factor {rates[args.workers] / rates[1]:.2f}"
    )


def measure_memory(args: argparse.Namespace) -> None:
    """Prints the peak memory of a tenth of the lines and of all of them."""
    peaks = []
    for lines in (args.memory_lines // 10, args.memory_lines):
        command = [sys.executable, __file__, str(args.text), "--lang", args.lang]
        command += ["--kind", args.kind, "--only", "peak", "--lines", str(lines)]
        if args.stanza_dir is not None:
            command += ["--stanza-dir", str(args.stanza_dir)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout) / 1024)
    print(
        f"peak memory: {args.memory_lines // 10:,} lines {peaks[0]:.0f} MiB, "
        f"{args.memory_lines:,} lines {peaks[1]:.0f} MiB"
    )


if __name__ == "__main__":
    main()
