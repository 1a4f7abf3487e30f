"""`syntax-nmt export`: exports a trained model to CTranslate2 or stock fairseq."""

import argparse
from pathlib import Path

from syntax_nmt.errors import UserError
from syntax_nmt.export import CTRANSLATE2, FAIRSEQ, QUANTIZATIONS

EXAMPLE = (
    "syntax-nmt export checkpoints/checkpoint_best.pt --data prepared --to ctranslate2 "
    "--quantization int8 --output exported"
)
DESCRIPTION = """\
Exports a model that is a plain Transformer at inference (with supervised heads or without any
feature of this package) to the format of another engine, with its vocabulary and subword model.
Linguistic features of the source become source factors of --to ctranslate2.
--to fairseq gives the same beams. --to ctranslate2 gives the same greedy translations in float32,
except for rounding between two equally good words. Wider beams may differ, because CTranslate2 ends
its search by another rule, and --quantization adds differences.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.description = DESCRIPTION
    parser.add_argument("checkpoint", type=Path, help="checkpoint of fairseq-train")
    parser.add_argument(
        "--to",
        choices=[CTRANSLATE2, FAIRSEQ],
        required=True,
        help="engine that will read the model",
    )
    parser.add_argument(
        "--data",
        type=Path,
        required=True,
        help="folder that `syntax-nmt prepare` wrote, whose segmentation is exported with "
        "the model; or a data-bin folder",
    )
    parser.add_argument(
        "--output", type=Path, required=True, metavar="DIR", help="folder to create"
    )
    parser.add_argument(
        "--quantization",
        choices=QUANTIZATIONS,
        help="weight type of --to ctranslate2 (default: float32)",
    )


def run(args: argparse.Namespace) -> None:
    """Exports one model.

    Raises:
        UserError: as of :func:`~syntax_nmt.export.exporting.export_model`.
    """
    from syntax_nmt.export.exporting import export_model

    if args.to != CTRANSLATE2 and args.quantization is not None:
        raise UserError("--quantization is for --to ctranslate2: leave it out with --to fairseq")
    export_model(args.checkpoint, args.data, args.to, args.output, args.quantization)
