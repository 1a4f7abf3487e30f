"""`syntax-nmt plot chunks`: the chunks of a sentence, or their attention."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from syntax_nmt.commands.plots.sentence_choice import add_sentence_argument, chosen, chosen_parallel
from syntax_nmt.data.chunks import OUTSIDE, Chunk
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.text.joints import joined_hyphens, plain_hyphen

if TYPE_CHECKING:  # help starts without matplotlib and torch
    from matplotlib.figure import Figure

    from syntax_nmt.scoring.chunks.chunk_report import ChunkWords

DESCRIPTION = """\
The chunks of --hypothesis, of --gold, or both, below the words of --target; or, with --alignments,
the weights of the attention of chunks to source words.
"""

_REFERENCE = "reference"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.description = DESCRIPTION
    add = parser.add_argument
    add("--target", metavar="FILE", help="the words, one sentence a line")
    add("--hypothesis", metavar="FILE", help="chunks (IOB2), as `syntax-nmt chunks` writes them")
    add("--gold", metavar="FILE", help="reference chunks (IOB2)")
    add("--alignments", metavar="FILE", help="what `syntax-nmt chunks --alignments` wrote")
    add_sentence_argument(parser)


def figure(args: argparse.Namespace) -> Figure:
    """Draws the picture of a command line.

    Raises:
        UserError: options or files cannot be used, or the sentence has no chunks.
    """
    if args.alignments:
        if args.target or args.hypothesis or args.gold:
            raise UserError("--alignments has words and chunks of its own: leave the others out")
        return _attention(args)
    if not args.target or not (args.hypothesis or args.gold):
        raise UserError("give --target with --hypothesis or --gold, or --alignments")
    return _segmentation(args)


def _segmentation(args: argparse.Namespace) -> Figure:
    from syntax_nmt.pictures.plots.chunk_strips import draw_chunks
    from syntax_nmt.scoring.chunks.chunk_file import read_chunk_file

    texts = [line.split() for line in read_lines(args.target)]
    columns: list[tuple[str, Sequence]] = [(args.target, texts)]
    paths = {"model": args.hypothesis, _REFERENCE: args.gold}
    files = {name: read_chunk_file(path) for name, path in paths.items() if path}
    columns += [(file.path, file.chunks) for file in files.values()]
    words, *found = chosen_parallel(columns, args.sentence)
    rows: dict[str, tuple[Chunk, ...]] = {}
    for (name, file), chunks in zip(files.items(), found):
        file.check_words([len(text) for text in texts], args.target)
        if chunks is None:
            raise UserError(
                f"{file.path}:{args.sentence}: the sentence has no chunks: choose another "
                "--sentence"
            )
        rows[name] = chunks

    both = args.hypothesis and args.gold
    return draw_chunks(words, rows, _REFERENCE if both else None, args.title)


def _attention(args: argparse.Namespace) -> Figure:
    from syntax_nmt.pictures.plots.attention_panels import Panel, draw_attention
    from syntax_nmt.scoring.chunks.chunk_report import ChunkAttention

    where = f"{args.alignments}:{args.sentence}"
    line = chosen(read_lines(args.alignments), args.sentence, args.alignments)
    try:
        sentence = ChunkAttention.from_json(json.loads(line))
        source = [plain_hyphen(word) for word in sentence.source]
        chunks = [_shown(chunk) for chunk in sentence.chunks]
        weights = np.array(sentence.attention, dtype=float).reshape(len(chunks), len(source))
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"{where}: is not what `syntax-nmt chunks --alignments` writes: give its file"
        ) from error
    if not weights.size:
        raise UserError(f"{where}: the sentence has no chunks: choose another --sentence")

    return draw_attention([Panel("", weights)], chunks, source, "chunks", "source", args.title)


def _shown(chunk: ChunkWords) -> str:
    text = joined_hyphens(chunk.words)
    return text if chunk.tag == OUTSIDE else f"[{chunk.tag} {text}]"
