"""`syntax-nmt chunks`: extracts chunks from a trained bi-scale decoder, and scores them."""

import argparse

from syntax_nmt.arguments import add_files, add_flags
from syntax_nmt.commands.shared.checks import refuse_beside_hypothesis
from syntax_nmt.commands.shared.findings import (
    add_findings_arguments,
    findings_outputs,
    write_findings,
)
from syntax_nmt.commands.shared.forcing import add_forcing_arguments, segmentation_of
from syntax_nmt.commands.shared.models import (
    add_model_arguments,
    add_subwords_argument,
    batch_limits,
    files_of_model,
    model_files,
    refuse_subwords_of_words,
    scheme_of,
)
from syntax_nmt.errors import UserError, errors_of
from syntax_nmt.reporting.output import STDOUT, check_outputs, write_lines
from syntax_nmt.scoring.chunks.chunk_report import (
    BRACKETS,
    CHUNK_FORMATS,
    IOB2,
    attention_lines,
    chunk_lines,
    chunk_report,
)
from syntax_nmt.scoring.chunks.chunked_corpus import ChunkedCorpus, GoldChunks, corpus_of_file

EXAMPLE = (
    "syntax-nmt chunks data-bin --path checkpoints/checkpoint_best.pt --source test.de "
    "--target test.output --chunk-format brackets"
)

DESCRIPTION = """\
Chunks of given translations (a model's output or references), which a bi-scale decoder finds by
forced decoding: boundaries as in a search, and the likeliest type of each chunk. They go to stdout
or --output, as IOB2 tags or bracketed text. With --score, boundary and tag accuracy are those of
the training log: each decision follows the gold boundaries, pieces are counted, and the end of the
sentence is included; F1 is conlleval's over the model's own chunks. With a model, --json also has
the loss of words by their position in a chunk. With --hypothesis the chunks come from a file, no
model is needed, and accuracies count words: boundaries at all words but the first, and types at the
first word of each gold chunk.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    group = parser.add_argument_group("what to chunk")
    add = group.add_argument
    add_model_arguments(group)
    add("--source", metavar="FILE", help="sentences, one a line")
    add("--target", metavar="FILE", help="their translations (with --hypothesis: its words)")
    add_subwords_argument(group)
    add_files(
        group,
        hypothesis="use these chunks in place of a model's: tags, one sentence per line, or "
        "CoNLL columns, where the second-last column may be the reference, as for conlleval",
    )
    add_flags(
        group,
        strict="refuse tags that are not IOB2, such as an I- tag that begins a chunk "
        "(default: read them as conlleval does)",
    )
    _add_output(parser)
    add_forcing_arguments(parser)


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to write")
    add = group.add_argument
    add(
        "--score",
        metavar="GOLD",
        help="reference chunks in the same formats, empty lines for no "
        "annotation; prints boundary accuracy, tag accuracy and F1",
    )
    add_files(
        group,
        output="write the chunks here (default: stdout, unless figures or --alignments go there "
        "or --hypothesis already has them in IOB2)",
    )
    add(
        "--chunk-format",
        choices=CHUNK_FORMATS,
        help=f"output format of chunks (default: {IOB2}; --format {BRACKETS} says the same)",
    )
    add_findings_arguments(group, default="stderr", others=CHUNK_FORMATS)
    add_files(
        group,
        alignments="write the attention of chunks to source words here, one JSON object per "
        "sentence: source, chunks, attention (one row per chunk)",
    )


def run(args: argparse.Namespace) -> None:
    """Chunks or reads, writes and scores.

    Raises:
        UserError: options that do not go together, or files that do not.
    """
    if args.format in CHUNK_FORMATS:  # 0.1.0 had no other form to choose
        args.chunk_format, args.format = args.chunk_format or args.format, None
    _check_options(args)
    score = GoldChunks(args.score, args.strict) if args.score else None
    if args.hypothesis:
        corpus = corpus_of_file(args.hypothesis, args.target, score, args.strict)
    else:
        corpus = _corpus_of_model(args, score)
    form = args.chunk_format or IOB2
    if args.hypothesis:
        _check_use(args, corpus)
    nothing_new = args.hypothesis and form == IOB2
    taken = STDOUT in (*findings_outputs(args), args.alignments)
    write_lines(args.output, chunk_lines(corpus, form), stdout_is_free=not (nothing_new or taken))
    if args.alignments:
        write_lines(args.alignments, attention_lines(corpus), stdout_is_free=False)
    write_findings(*chunk_report(corpus), args, stdout_is_free=False)


def _corpus_of_model(args: argparse.Namespace, score: GoldChunks | None) -> ChunkedCorpus:
    from syntax_nmt.inference.extraction.chunks import ChunkPredictor, corpus_of_model
    from syntax_nmt.inference.forced_model import ForcedModel

    model = ForcedModel.load(model_files(args), segmentation_of(args))
    with errors_of(args.path):
        predictor = ChunkPredictor(model.decoder, *batch_limits(args))
    text = model.text(args.source, args.target, scheme_of(args))
    return corpus_of_model(predictor, text, args.target, score, bool(args.alignments))


def _check_options(args: argparse.Namespace) -> None:
    """Refuses incompatible options before anything is loaded."""
    if args.hypothesis:
        refuse_beside_hypothesis(args, ("source", "alignments"))
        refuse_subwords_of_words(args)
    elif not (args.databin and args.path and args.source and args.target):
        raise UserError(
            "give DATABIN, the checkpoint's --path, --source and --target, or chunks as "
            "--hypothesis"
        )
    else:
        segmentation_of(args)
    inputs = [args.source, args.target, args.hypothesis, args.score, *files_of_model(args)]
    check_outputs([*findings_outputs(args), args.output, args.alignments], inputs)


def _check_use(args: argparse.Namespace, corpus: ChunkedCorpus) -> None:
    """Refuses errors that only the columns of the file show."""
    if args.chunk_format == BRACKETS and corpus.words is None:
        raise UserError("--chunk-format brackets needs the words of --hypothesis: add --target")
    wanted = args.output or any(findings_outputs(args)) or args.chunk_format == BRACKETS
    if corpus.gold is None and not wanted:
        raise UserError("--hypothesis alone does nothing: add --score or --chunk-format brackets")
