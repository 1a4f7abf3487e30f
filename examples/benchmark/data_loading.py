"""What annotation costs in data loading: an epoch's batches, and opening a million sentences.

Both measurements use synthetic data in a temporary folder, written in fairseq's own format. The
epoch is timed stock and with annotation, stretch by stretch and in turns, so that a busy
machine disturbs all alike. Processor time is reported: the sum over stretches of the median round
and of the fastest one, which a busy machine disturbs least. "stock, again" shows the noise.

    python examples/benchmark/data_loading.py
    python examples/benchmark/data_loading.py --sentences 200000 --repeats 9 --tokens 4096
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from fairseq.data import Dictionary, LanguagePairDataset
from fairseq.data.indexed_dataset import (
    MMapIndexedDataset,
    MMapIndexedDatasetBuilder,
    data_file_path,
    index_file_path,
)
from torch.utils.data import DataLoader

from syntax_nmt.data.annotation import CHUNKS, HEADS, KINDS, PHRASES
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.binarised_annotation import open_annotation
from syntax_nmt.data.collation import collate_phrases
from syntax_nmt.data.manifest import AnnotationFile, Fingerprint, write_manifest
from syntax_nmt.data.projection import NO_ANNOTATION
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.data.syntax_dataset import SyntaxDataset

SOURCE, TARGET = "train.de-en.de", "train.de-en.en"
TEXT = {HEADS.side: SOURCE, CHUNKS.side: TARGET}
VOCABULARY = 32_000
STRETCH = 20  # batches timed at a time, long enough to be past fairseq's cache of items


def main() -> None:
    """Runs both measurements and prints them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sentences", type=int, default=50_000, help="sentences of the epoch")
    parser.add_argument("--open-sentences", type=int, default=1_000_000, help="sentences to open")
    parser.add_argument("--words", type=int, default=25, help="mean length in subwords")
    parser.add_argument("--tokens", type=int, default=4096, help="--max-tokens of a batch")
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        write_corpus(Path(folder), args.sentences, args.words)
        measure_epoch(Path(folder), args.tokens, args.repeats)
    with tempfile.TemporaryDirectory() as folder:
        write_corpus(Path(folder), args.open_sentences, args.words)
        measure_opening(Path(folder), args.repeats)


def write_corpus(folder: Path, sentences: int, words: int) -> None:
    """Tokens of both sides, all three annotation files and their manifest.

    Args:
        sentences: how many.
        words: mean length in subwords; lengths are spread as in news text.
    """
    rng = np.random.default_rng(1)
    sizes = {
        name: np.clip(rng.gamma(3, words / 3, sentences), 1, 250).astype(np.int64)
        for name in (SOURCE, TARGET)
    }
    for name, lengths in sizes.items():
        tokens = rng.integers(4, VOCABULARY, int(lengths.sum()) + sentences)
        tokens[np.cumsum(lengths + 1) - 1] = 2
        write_rows(folder / name, tokens, lengths + 1, np.uint16)
    unparsed = RaggedArray.from_rows([[NO_ANNOTATION]] * sentences)
    ngrams = collate_phrases(unparsed, np.arange(sentences), sizes[SOURCE]).numpy()
    rows = {
        HEADS: rng.integers(0, np.repeat(sizes[SOURCE], sizes[SOURCE])),
        PHRASES: ngrams[ngrams > 0],
        CHUNKS: rng.integers(0, 12, int(sizes[TARGET].sum())),
    }
    lengths_of = {
        HEADS: sizes[SOURCE],
        PHRASES: (ngrams > 0).sum(axis=1),
        CHUNKS: sizes[TARGET],
    }
    tags = "".join(f"T{tag}\n" for tag in range(11))
    (folder / "dict.chunks.txt").write_text(tags)
    for kind, values in rows.items():
        write_rows(folder / name_of(kind), values, lengths_of[kind], np.int32)
    write_manifest(folder, {name_of(kind): entry(folder, kind, sentences) for kind in rows})


def name_of(kind: AnnotationKind) -> str:
    """The annotation file without its ending."""
    return f"{TEXT[kind.side]}.{kind.name}"


def write_rows(prefix: Path, values: np.ndarray, sizes: np.ndarray, dtype: type) -> None:
    """Writes an mmap dataset in one go.

    Args:
        prefix: the files without their ending.
        values: all rows end to end.
        sizes: the length of each.
        dtype: the number type in the file.
    """
    builder = MMapIndexedDatasetBuilder(data_file_path(str(prefix)), dtype=dtype)
    builder.finalize(index_file_path(str(prefix)))
    Path(data_file_path(str(prefix))).write_bytes(values.astype(dtype).tobytes())
    with MMapIndexedDataset.Index.writer(index_file_path(str(prefix)), dtype) as index:
        index.write(sizes.tolist())


def entry(folder: Path, kind: AnnotationKind, sentences: int) -> AnnotationFile:
    """The manifest's entry of one annotation file."""
    names = [
        f"{prefix}{ending}"
        for prefix in (name_of(kind), TEXT[kind.side])
        for ending in (".bin", ".idx")
    ]
    if kind.labels_file is not None:
        names.append(kind.labels_file)
    files = {name: Fingerprint.of(folder / name) for name in names}
    return AnnotationFile(sentences, sentences, "synthetic", Fingerprint(0, ""), files)


def open_pairs(folder: Path) -> LanguagePairDataset:
    """The stock dataset, as fairseq's translation task builds it."""
    dictionary = Dictionary()
    for symbol in range(VOCABULARY - len(dictionary)):
        dictionary.add_symbol(str(symbol))
    source, target = (MMapIndexedDataset(str(folder / name)) for name in (SOURCE, TARGET))
    return LanguagePairDataset(
        source, source.sizes, dictionary, target, target.sizes, dictionary, shuffle=False
    )


def open_all(
    folder: Path, pairs: LanguagePairDataset, kinds: Sequence[AnnotationKind]
) -> SyntaxDataset:
    """The stock dataset with annotation, checksums verified.

    Args:
        kinds: what to open.
    """
    sizes = {SOURCE: pairs.src_sizes, TARGET: pairs.tgt_sizes}
    return SyntaxDataset(
        pairs,
        [open_annotation(folder / TEXT[kind.side], kind, sizes[TEXT[kind.side]]) for kind in kinds],
    )


def measure_epoch(folder: Path, max_tokens: int, repeats: int) -> None:
    """Times reading and collating every batch, and prints each variant beside the stock one.

    Args:
        max_tokens: size of a batch.
        repeats: how often each variant runs over each stretch of the epoch.
    """
    pairs = open_pairs(folder)
    variants = {
        "stock": pairs,
        "stock, again": pairs,
        "wrapped, empty": SyntaxDataset(pairs),
        **{f"with {kind.name}": open_all(folder, pairs, [kind]) for kind in KINDS},
        "with all": open_all(folder, pairs, KINDS),
    }
    batches = pairs.batch_by_size(pairs.ordered_indices(), max_tokens=max_tokens)
    medians, fastest = dict.fromkeys(variants, 0.0), dict.fromkeys(variants, 0.0)
    for first in range(0, len(batches), STRETCH):
        stretch = batches[first : first + STRETCH]
        for name, times in time_stretch(variants, stretch, repeats).items():
            medians[name] += statistics.median(times)
            fastest[name] += min(times)
    print(f"{len(pairs)} sentences, {len(batches)} batches of {max_tokens} tokens, µs a sentence")
    for name in variants:
        columns = (
            f"{label} {totals[name] * 1e6 / len(pairs):7.2f} "
            f"({totals[name] / totals['stock'] - 1:+.2%})"
            for label, totals in (("median", medians), ("fastest", fastest))
        )
        print(f"  {name:15} " + "   ".join(columns))


def time_stretch(
    variants: dict[str, LanguagePairDataset | SyntaxDataset], batches: list, repeats: int
) -> dict[str, list[float]]:
    """Seconds of processor time that each variant takes for some batches, round by round.

    Args:
        variants: what to read from, by name.
        batches: sentence indices of each batch.
        repeats: rounds; every round runs every variant, in an order of its own.
    """
    times: dict[str, list[float]] = {name: [] for name in variants}
    order = list(variants)
    shuffler = random.Random(len(batches[0]))
    for _ in range(repeats + 1):
        shuffler.shuffle(order)
        for name in order:
            times[name].append(time_batches(variants[name], batches))
    # The first round brought the data into the caches.
    return {name: measured[1:] for name, measured in times.items()}


def time_batches(dataset: LanguagePairDataset | SyntaxDataset, batches: list) -> float:
    """Seconds of processor time for reading and collating batches.

    Args:
        dataset: what to read from.
        batches: sentence indices of each batch.
    """
    loader = DataLoader(dataset, batch_sampler=batches, collate_fn=dataset.collater)
    start = time.process_time()
    for _ in loader:
        pass
    return time.process_time() - start


def measure_opening(folder: Path, repeats: int) -> None:
    """Times opening with and without checksums and ranges, and prints the medians.

    Args:
        repeats: how often.
    """
    pairs = open_pairs(folder)
    sizes = {SOURCE: pairs.src_sizes, TARGET: pairs.tgt_sizes}
    print(f"opening {len(pairs)} sentences")
    for kind in KINDS:
        name = TEXT[kind.side]
        for verify in (True, False):
            measured = []
            for _ in range(repeats):
                start = time.perf_counter()
                open_annotation(folder / name, kind, sizes[name], verify=verify)
                measured.append(time.perf_counter() - start)
            print(
                f"  {kind.name:8} {'with' if verify else 'without':7} checksums and ranges "
                f"{statistics.median(measured) * 1e3:7.1f} ms"
            )


if __name__ == "__main__":
    main()
