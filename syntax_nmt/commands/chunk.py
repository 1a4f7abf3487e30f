"""`syntax-nmt chunk`: base chunks by a tagger or by rules; trains the tagger, scores both."""

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from syntax_nmt.arguments import add_numbers, defaults_of, file_with_parts, flag, positive_int
from syntax_nmt.commands.shared.annotating import (
    BY,
    AnnotatorSettings,
    add_model_options,
    add_shard_options,
    add_worker_options,
    chunk_annotator,
    refuse_unused_models,
    run_annotation,
)
from syntax_nmt.commands.shared.checks import require_companion_options
from syntax_nmt.data.base_chunks import base_chunks
from syntax_nmt.data.chunks import OUTSIDE, ChunkedSentence, iob2_tags, read_chunks, read_conll2000
from syntax_nmt.data.constituents import read_trees
from syntax_nmt.data.text_files import check_writable, write_atomically
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.annotators.annotate import Resources, annotate_file, describe
from syntax_nmt.preparation.annotators.chunker_training import MAX_STEPS, train_chunker
from syntax_nmt.reporting.findings import Findings
from syntax_nmt.reporting.output import STDOUT, check_outputs, open_output
from syntax_nmt.reporting.result import json_text
from syntax_nmt.scoring.chunks.chunk_f1 import ChunkScores, chunk_f1

EXAMPLE = (
    "syntax-nmt chunk --lang en --train conll2000/train.txt --output chunker.pt\n"
    "  syntax-nmt chunk --lang en --input words/train.en --output words/train.en.chunks "
    "--chunk-model chunker.pt"
)
RESUMES = "input"
# Options that do nothing without others.
_NEEDS = {
    "json": ("score",),
    "output": ("input", "trees", "train"),
    "max_steps": ("train",),
    "num_shards": ("input",),
}
_SPACE = re.compile(r"\s")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `syntax-nmt chunk`."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--input",
        type=Path,
        help="chunk this text: words separated by spaces, one sentence per line; may be .gz",
    )
    what.add_argument(
        "--trees",
        type=Path,
        help="write the base chunks of these bracketed trees, one tree per line",
    )
    what.add_argument(
        "--train", type=Path, help="train a tagger on this text, in CoNLL-2000 columns"
    )
    what.add_argument(
        "--score", type=Path, help="compute chunk F1 against this text, in CoNLL-2000 columns"
    )
    parser.add_argument(
        "--output",
        type=file_with_parts,
        help="file for the chunks (IOB2 tags, one sentence per line, an empty line for no chunks) "
        "or for the trained tagger",
    )
    parser.add_argument(
        "--json", metavar="FILE", help="write the figures of --score here; - is stdout"
    )
    parser.add_argument("--lang", default="en", help="language of the text (default: en)")
    parser.add_argument(
        "--by",
        choices=BY,
        default=BY[0],
        help="a sequence tagger, or the rules of CoNLL-2000 on trees "
        "of the constituency parser (default: %(default)s)",
    )
    add_numbers(
        parser,
        positive_int,
        max_steps=f"maximal number of updates in training the tagger (default: {MAX_STEPS})",
    )
    _add_annotating(parser)


def _add_annotating(parser: argparse.ArgumentParser) -> None:
    """Adds the options of models and workers, which neither --train nor --trees needs."""
    add_model_options(parser, "chunks", "constituents")
    add_worker_options(parser)
    add_shard_options(parser)


def run(args: argparse.Namespace) -> None:
    """Chunks, trains or scores.

    Args:
        args: the options of :func:`add_arguments`.

    Raises:
        UserError: an option is missing, or a file or model cannot be used.
    """
    check_outputs([args.json], [args.score])
    require_companion_options(args, _NEEDS)
    if args.input is None and args.score is None:
        _refuse_annotating(args)
    elif args.by == "tagger":
        refuse_unused_models(args, "chunks")
    if args.score is not None:
        _write_scores(args, _score(args))
        return
    if args.output is None:
        raise UserError("--output is missing: the file to write")
    if args.train is not None:
        _train(args)
    elif args.trees is not None:
        print(f"{args.output}: {describe(chunk_trees(args.trees, args.output))}", file=sys.stderr)
    else:
        run_annotation(args, chunk_annotator(AnnotatorSettings.of(args), args.lang, args.by))


def _refuse_annotating(args: argparse.Namespace) -> None:
    usual = {**vars(defaults_of(_add_annotating)), "by": BY[0]}
    for name, value in usual.items():
        if getattr(args, name) != value:
            raise UserError(f"{flag(name)} does nothing without --input or --score: leave it out")


def chunk_trees(trees: Path, output: Path) -> Counter[str]:
    """Writes the base chunks of bracketed trees, line by line.

    Args:
        trees: one tree a line, `()` where there is none; may be `.gz`.
        output: IOB2 tags; an empty line where there is no tree.

    Returns:
        Counts of lines: `lines`, `annotated`, `empty` (without a tree).

    Raises:
        UserError: a line is no tree, or the output cannot be written.
    """
    check_writable(output, trees)
    counts: Counter[str] = Counter(lines=0)
    with write_atomically(output) as out:
        for tree in read_trees(trees):
            tags = [] if tree is None else iob2_tags(base_chunks(tree))
            out.write(" ".join(tags) + "\n")
            counts.update(("lines", "annotated" if tags else "empty"))
    return counts


def _train(args: argparse.Namespace) -> None:
    trained = train_chunker(
        args.train,
        args.output,
        lang=args.lang,
        max_steps=args.max_steps or MAX_STEPS,
        note=lambda line: print(line, file=sys.stderr),
    )
    f1 = "not scored" if trained.f1 is None else f"chunk F1 {trained.f1:.2f}"
    print(
        f"{args.output}: learnt from {trained.training_sentences:,} sentences, {f1} on "
        f"{trained.held_out_sentences:,} held out",
        file=sys.stderr,
    )


def _score(args: argparse.Namespace) -> ChunkScores:
    """The gold text is chunked like any other; a sentence that fails counts as without chunks."""
    gold = list(read_conll2000(args.score))
    chunker = chunk_annotator(AnnotatorSettings.of(args), args.lang, args.by)
    of_workers = Resources(args.workers, args.dask_scheduler, args.part_size)
    with tempfile.TemporaryDirectory() as folder:
        text, found = Path(folder) / "words", Path(folder) / "chunks"
        with write_atomically(text) as out:
            for sentence in gold:
                # A column may contain a no-break space, where the annotation would split it.
                out.write(" ".join(_SPACE.sub("_", word) for word in sentence.words) + "\n")
        annotate_file(text, found, chunker, of_workers)
        return chunk_f1((sentence.tags for sentence in gold), _filled(gold, found))


def _write_scores(args: argparse.Namespace, scores: ChunkScores) -> None:
    """The table goes to the stream that the figures do not use."""
    findings = Findings([scores.table()])
    print(findings.text(), end="", file=sys.stderr if args.json == STDOUT else sys.stdout)
    if args.json is not None:
        with open_output(args.json) as stream:
            stream.write(json_text(scores.figures().to_json()))


def _filled(gold: list[ChunkedSentence], found: Path) -> Iterator[list[str]]:
    for sentence, chunks in zip(gold, read_chunks(found)):
        yield [OUTSIDE] * len(sentence.words) if chunks is None else iob2_tags(chunks)
