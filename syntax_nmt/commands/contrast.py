"""`syntax-nmt contrast`: measures how often models prefer references to copies with an error."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from syntax_nmt.arguments import add_files, ascending_numbers
from syntax_nmt.builtin_corpus.pair import BANDS
from syntax_nmt.commands.shared.findings import (
    add_findings_arguments,
    findings_outputs,
    write_findings,
)
from syntax_nmt.commands.shared.forcing import add_forcing_arguments, segmentation_of
from syntax_nmt.commands.shared.models import batch_limits, files_of_model
from syntax_nmt.errors import UserError
from syntax_nmt.inference.settings import ModelFiles
from syntax_nmt.reporting.findings import TSV
from syntax_nmt.reporting.output import STDOUT, check_outputs, write_lines
from syntax_nmt.scoring.contrast.contrast_report import (
    PairScores,
    ScoredModel,
    contrast,
    distance_bins,
    pair_table,
)
from syntax_nmt.scoring.contrast.contrastive_pairs import (
    ContrastivePair,
    read_json_pairs,
    read_parallel_pairs,
)
from syntax_nmt.scoring.parallel_text import TokenPair

if TYPE_CHECKING:  # the command starts without torch and fairseq
    from syntax_nmt.inference.segmentation import Segment

EXAMPLE = (
    "syntax-nmt contrast data-bin --path checkpoints/checkpoint_best.pt --source contrast.src "
    "--correct contrast.correct.tgt --incorrect contrast.incorrect.tgt --distance contrast.distance"
)

DESCRIPTION = """\
Contrastive evaluation (Sennrich, 2017): the share of pairs in which the reference has a higher sum
of log-probabilities than a copy with an error, by distance and by category, with 95 % intervals
(Wilson). Equal sums count as wrong. The pairs come from parallel files, or from a JSON file in
Lingeval97's format; the command can compare several models.
"""

_PARALLEL = ("source", "correct", "incorrect")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    _add_pairs(parser)
    output = parser.add_argument_group("what to write")
    output.add_argument(
        "--bins",
        metavar="LIST",
        type=ascending_numbers,
        default=BANDS,
        help=f"lower bound of each distance bin (default: {','.join(map(str, BANDS))})",
    )
    add_findings_arguments(output)
    add_files(
        output,
        output="write each pair's scores here, tab-separated: "
        "model, pair, category, distance, correct, incorrect, right",
    )
    add_forcing_arguments(parser)


def _add_pairs(parser: argparse.ArgumentParser) -> None:
    models = parser.add_argument_group("models")
    models.add_argument(
        "databin",
        metavar="DATABIN",
        help="data folder of the models' training, or the folder of `prepare` that has it",
    )
    add = models.add_argument
    add(
        "--path", metavar="FILE", action="append", required=True, help="checkpoint; may be repeated"
    )
    add(
        "--name",
        metavar="NAME",
        action="append",
        help="name of the model of each --path, in the same order (default: its path)",
    )
    group = parser.add_argument_group("pairs")
    add = group.add_argument
    add("--source", metavar="FILE", help="sentences, one a line")
    add("--correct", metavar="FILE", help="their reference translations")
    add("--incorrect", metavar="FILE", help="copies of the references, each with an error")
    add("--distance", metavar="FILE", help="the distance of each pair in words")
    add(
        "--pairs",
        metavar="FILE",
        help="a JSON file in Lingeval97's format, in place of parallel files",
    )


def run(args: argparse.Namespace) -> None:
    """Scores both translations of every pair with every model, counts, and writes.

    Raises:
        UserError: options that do not go together, or files that cannot be used.
    """
    _check_options(args)
    segmentation_of(args)
    pairs = _read_pairs(args)
    names = args.name or args.path
    models = [
        ScoredModel(name, path, _pair_scores(args, path, pairs))
        for name, path in zip(names, args.path)
    ]
    if args.output is not None:
        table = pair_table(pairs, models).render(TSV)
        write_lines(args.output, [f"{table}\n"], stdout_is_free=False)
    found = contrast(pairs, models, distance_bins(args.bins))
    write_findings(found, found.findings(), args, stdout_is_free=args.output != STDOUT)


def _pair_scores(
    args: argparse.Namespace, path: str, pairs: list[ContrastivePair]
) -> list[PairScores | None]:
    """The scores of one model, which is in memory only during this call."""
    from syntax_nmt.inference.forced_decoding import sentence_scores
    from syntax_nmt.inference.forced_model import ForcedModel

    files = ModelFiles(path, args.databin, args.parser_config, args.device)
    model = ForcedModel.load(files, segmentation_of(args))
    tokens = _token_pairs(pairs, model.source, model.target)
    correct = tokens[: len(pairs)]
    name = f"the source of {args.pairs}" if args.pairs else args.source
    model.note_unfit(name, [pair.source for pair in pairs], [pair.source for pair in correct])
    name = f"the reference of {args.pairs}" if args.pairs else args.correct
    targets = [pair.target for pair in correct]
    model.note_unfit(name, [pair.correct for pair in pairs], targets, target=True)
    scores = sentence_scores(model.decoder, tokens, *batch_limits(args))
    half = len(pairs)
    return [
        None if correct is None or incorrect is None else PairScores(correct, incorrect)
        for correct, incorrect in zip(scores[:half], scores[half:])
    ]


def _token_pairs(pairs: list[ContrastivePair], source: Segment, target: Segment) -> list[TokenPair]:
    """The translations to score: all references, then all copies with an error."""
    sources = {text: source(text) for text in {pair.source for pair in pairs}}
    correct = [TokenPair(sources[pair.source], target(pair.correct)) for pair in pairs]
    return correct + [TokenPair(sources[pair.source], target(pair.incorrect)) for pair in pairs]


def _read_pairs(args: argparse.Namespace) -> list[ContrastivePair]:
    if args.pairs:
        pairs, where = read_json_pairs(args.pairs), args.pairs
    else:
        pairs = read_parallel_pairs(args.source, args.correct, args.incorrect, args.distance)
        where = args.source
    if not pairs:
        raise UserError(f"{where}: has no pairs")
    return pairs


def _check_options(args: argparse.Namespace) -> None:
    """Refuses incompatible options before anything is loaded."""
    for name in (*_PARALLEL, "distance"):
        if args.pairs and getattr(args, name):
            raise UserError(f"--{name} and --pairs exclude each other: leave one out")
    missing = [f"--{name}" for name in _PARALLEL if not getattr(args, name)]
    if not args.pairs and missing:
        raise UserError(
            f"{' and '.join(missing)} missing: give --source, --correct and --incorrect, or a JSON "
            f"file of Lingeval97's form as --pairs"
        )
    if args.name and len(args.name) != len(args.path):
        raise UserError(
            f"{len(args.name)} --name for {len(args.path)} --path: give one name a model, or none"
        )
    names = args.name or args.path
    if len(set(names)) < len(names):
        raise UserError("two models of one name: give each its own --name")
    inputs = [args.source, args.correct, args.incorrect, args.distance, args.pairs]
    _, *others = files_of_model(args)  # there may be several models
    inputs += [*args.path, *others]
    check_outputs([*findings_outputs(args), args.output], inputs)
