"""`syntax-nmt align`: extracts, symmetrises and scores word alignments."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from syntax_nmt.arguments import add_files, add_flags, add_numbers, positive_int
from syntax_nmt.commands.shared.checks import refuse_beside_hypothesis, require_companion_options
from syntax_nmt.commands.shared.findings import (
    add_findings_arguments,
    findings_outputs,
    write_findings,
)
from syntax_nmt.commands.shared.forcing import add_forcing_arguments, segmentation_of
from syntax_nmt.commands.shared.models import (
    add_base_argument,
    add_model_arguments,
    add_subwords_argument,
    batch_limits,
    files_of_model,
    model_files,
    refuse_subwords_of_words,
    scheme_of,
)
from syntax_nmt.errors import UserError
from syntax_nmt.inference.settings import ModelFiles
from syntax_nmt.reporting.output import STDOUT, check_outputs, write_lines
from syntax_nmt.scoring.alignments.aligned_corpus import FORWARD, REVERSE, AlignedCorpus
from syntax_nmt.scoring.alignments.alignment import (
    flipped,
    format_alignment,
    read_alignments,
    read_gold,
)
from syntax_nmt.scoring.alignments.alignment_report import alignment_report
from syntax_nmt.scoring.alignments.symmetrisation import GROW_DIAG, METHODS
from syntax_nmt.scoring.parallel_text import SegmentedPairs, check_parallel, read_token_pairs

if TYPE_CHECKING:
    from syntax_nmt.inference.forced_decoding import ForcedDecoder
    from syntax_nmt.inference.forced_model import ForcedModel

EXAMPLE = (
    "syntax-nmt align data-bin --path checkpoints/checkpoint_best.pt --source pieces/test.src "
    "--target pieces/test.tgt --segmented --output test.forward --score test.align"
)

DESCRIPTION = """\
Word alignments by forced decoding: the cross-attention of one decoder layer, as the mean over its
heads, while the model reads a given translation. A target word is linked to the source word that it
attends to most. Attention is averaged over the pieces of a target word and summed over the pieces
of a source word; the end of the sentence is omitted. Alignments of both directions are symmetrised.
They go to stdout or --output as `i-j`, source-target, from 0 (Pharaoh); the alignment error rate
against --score goes to stderr and --json. With --hypothesis the alignments come from a file
instead, and no model is needed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    _add_input(parser)
    _add_reverse(parser)
    _add_output(parser)
    add_forcing_arguments(parser)


def _add_input(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to align")
    add = group.add_argument
    add_model_arguments(group)
    add("--source", metavar="FILE", help="sentences, one a line")
    add("--target", metavar="FILE", help="their translations")
    add_numbers(
        group,
        int,
        layer="decoder layer, counted from 0 at the bottom or from -1 at the top (default: -2, or "
        "the only one)",
    )
    add_numbers(group, positive_int, heads="average over the first N heads (default: all)")
    add_subwords_argument(group)
    add_files(
        group,
        hypothesis="use these alignments in place of a model's, in any format that --score takes",
    )
    add_base_argument(group, "--hypothesis-base", "--hypothesis and --reverse")


def _add_reverse(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the other direction")
    add = group.add_argument
    either = group.add_mutually_exclusive_group()
    add_files(
        either,
        reverse_path="checkpoint of a model of the opposite direction",
        reverse="or its alignments, as written by this command: its "
        "source language comes first in each link",
    )
    add(
        "--reverse-databin",
        metavar="DIR",
        help="data folder of the reverse model (default: DATABIN)",
    )
    add_files(
        group,
        reverse_parser_config="parser configuration of the reverse model, like --parser-config",
    )
    add_flags(
        group,
        reverse_in_order="the links of --reverse have the source language of "
        "--path first, as some aligners write them",
    )
    add(
        "--symmetrise",
        choices=METHODS,
        help=f"how to combine both directions (default: {GROW_DIAG})",
    )
    add_flags(
        group,
        strict="grow-diag adds a neighbour only if both of its words are unaligned "
        "(default: if one of them is, as in Moses)",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to write")
    add = group.add_argument
    add(
        "--score",
        metavar="GOLD",
        help="gold alignments; prints alignment error rate, precision and recall. Pharaoh's "
        "format (one sentence per line: sure links i-j, possible ones ipj, i?j or i-j-P, without "
        "scores), NAACL's (one link per line: sentence i j S or P; `7 0 0` where the last "
        "sentence, 7, has no links), GIZA++'s A3.final, or fairseq's A- lines",
    )
    add_base_argument(group, "--gold-base", "the gold alignments")
    add_files(
        group,
        output="write the alignments here (default: stdout, unless figures go "
        "there or --hypothesis already has them)",
    )
    add_findings_arguments(group, default="stderr")


def run(args: argparse.Namespace) -> None:
    """Aligns or reads, symmetrises, writes and scores.

    Raises:
        UserError: options that do not go together, or files that do not.
    """
    _check_options(args)
    gold = read_gold(args.score, args.gold_base or 0) if args.score else None
    corpus = _corpus_of_files(args) if args.hypothesis else _corpus_of_models(args)
    if args.reverse:
        links = read_alignments(args.reverse, args.hypothesis_base or 0)
        in_order = links if args.reverse_in_order else list(map(flipped, links))
        corpus.add_file(REVERSE, args.reverse, in_order)
    if not len(corpus):
        raise UserError(f"{corpus.name}: is empty: give a sentence a line")
    if gold is not None:
        check_parallel(args.score, len(gold), corpus.name, len(corpus), "sentences")
    if args.reverse or args.reverse_path:
        corpus.add_symmetrised(args.symmetrise or GROW_DIAG, args.strict)
    nothing_new = args.hypothesis and not args.reverse
    taken = nothing_new or STDOUT in findings_outputs(args)
    lines = (f"{format_alignment(links)}\n" for links in corpus.result)
    write_lines(args.output, lines, stdout_is_free=not taken)
    write_findings(*alignment_report(corpus, gold, args.score), args, stdout_is_free=False)


def _corpus_of_files(args: argparse.Namespace) -> AlignedCorpus:
    corpus = AlignedCorpus(args.hypothesis)
    links = read_alignments(args.hypothesis, args.hypothesis_base or 0)
    corpus.add_file(FORWARD, args.hypothesis, links)
    if args.source:  # words, or pieces that mark words
        pairs = read_token_pairs(args.source, args.target)
        check_parallel(args.source, len(pairs), corpus.name, len(corpus))
        names = args.source, args.target
        corpus.lengths = SegmentedPairs.of(pairs, [scheme_of(args)] * 2, names).lengths()
    return corpus


def _corpus_of_models(args: argparse.Namespace) -> AlignedCorpus:
    from syntax_nmt.inference.extraction.alignments import align_by_model
    from syntax_nmt.inference.forced_model import ForcedModel

    how = args.layer, args.heads, batch_limits(args)
    model = ForcedModel.load(model_files(args), segmentation_of(args))
    text = model.text(args.source, args.target, scheme_of(args))
    reverse = _reverse(args, model, text) if args.reverse_path else None
    corpus = AlignedCorpus(args.source, lengths=text.lengths())
    corpus.add(FORWARD, align_by_model(model.decoder, args.path, text, *how))
    if reverse is not None:
        aligned = align_by_model(reverse[0], args.reverse_path, reverse[1], *how)
        corpus.add(REVERSE, [None if links is None else flipped(links) for links in aligned])
    return corpus


def _reverse(
    args: argparse.Namespace, model: ForcedModel, text: SegmentedPairs
) -> tuple[ForcedDecoder, SegmentedPairs]:
    """The reverse model, and the text as its own folder cuts it."""
    from syntax_nmt.inference.extraction.alignments import reverse_decoder
    from syntax_nmt.inference.forced_model import ForcedModel

    data, turned = args.reverse_databin or args.databin, text.flipped()
    files = ModelFiles(args.reverse_path, data, args.reverse_parser_config, args.device)
    decoder = reverse_decoder(files, model.decoder, args.path)
    if not args.reverse_databin or not model.segmentation.as_prepared:
        return decoder, turned
    other = ForcedModel.of(decoder, data, model.segmentation)
    found = other.text(args.target, args.source, scheme_of(args))
    if (found.source.words, found.target.words) != (turned.source.words, turned.target.words):
        raise UserError(
            f"--reverse-databin {data}: makes other words of these texts than {args.databin}: "
            "prepare both with the same tokenizers"
        )
    return decoder, found


# Options that do nothing without others.
_BOTH_DIRECTIONS = ("reverse_path", "reverse")
_NEEDS = {
    "source": ("target",),
    "target": ("source",),
    "hypothesis_base": ("hypothesis", "reverse"),
    "gold_base": ("score",),
    "reverse_databin": ("reverse_path",),
    "reverse_parser_config": ("reverse_path",),
    "reverse_in_order": ("reverse",),
    "symmetrise": _BOTH_DIRECTIONS,
    "strict": _BOTH_DIRECTIONS,
}


def _check_options(args: argparse.Namespace) -> None:
    """Refuses incompatible options before anything is loaded."""
    require_companion_options(args, _NEEDS)
    if args.hypothesis:
        refuse_beside_hypothesis(args, ("reverse_path", "layer", "heads"))
        if not args.source:
            refuse_subwords_of_words(args)
        if not (args.score or args.reverse or args.output or any(findings_outputs(args))):
            raise UserError("--hypothesis alone does nothing: add --score or --reverse")
    elif not (args.databin and args.path and args.source):
        raise UserError(
            "give DATABIN, the checkpoint's --path, --source and --target, or alignments as "
            "--hypothesis"
        )
    else:
        segmentation_of(args)
    if args.strict and not (args.symmetrise or GROW_DIAG).startswith(GROW_DIAG):
        raise UserError(f"--strict is about grow-diag, not about {args.symmetrise}: leave it out")
    inputs = [args.reverse_path, args.reverse_parser_config, args.source, args.target]
    inputs += [args.hypothesis, args.reverse, args.score, *files_of_model(args)]
    check_outputs([*findings_outputs(args), args.output], inputs)
