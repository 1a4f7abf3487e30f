"""`syntax-nmt likelihood`: how probable a model finds the words of a translation."""

import argparse

from syntax_nmt.arguments import add_files
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
    scheme_of,
)
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.output import STDOUT, check_outputs, write_lines
from syntax_nmt.scoring.words.bits import Likelihood, bits_lines, bits_of_text

EXAMPLE = (
    "syntax-nmt likelihood prepared --path checkpoints/checkpoint_best.pt --source test.en "
    "--reference test.de --output ours.1.bits\n"
    "  syntax-nmt compare --system base base.*.gen --system ours ours.*.gen --reference test.de "
    "--words-by frequency --training-text train.de --bits base base.*.bits --bits ours ours.*.bits"
)

DESCRIPTION = """\
Forces a model of any architecture to a reference, and writes the bits of each word, the −log2 of
its probability given the source and the words before it: the sum over its subwords. `syntax-nmt
score` and `compare` read the files (--words-by … --bits) and print the bits of a word by bucket,
as compare-mt's compare-ll does, with tests over sentences and seeds.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    add_model_arguments(parser.add_argument_group("model"), needed=True)
    group = parser.add_argument_group("text")
    group.add_argument("--source", metavar="FILE", required=True, help="sentences, one a line")
    group.add_argument("--reference", metavar="FILE", required=True, help="their translations")
    add_subwords_argument(group)
    output = parser.add_argument_group("what to write")
    add_files(
        output,
        output="the bits: a word a line, tab-separated, and an empty line after each "
        "sentence (default: none)",
    )
    add_findings_arguments(output)
    add_forcing_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Forces the model to the reference, writes the bits, and prints their means.

    Raises:
        UserError: files that cannot be used, or no sentence that fits into the model.
    """
    segmentation = segmentation_of(args)
    inputs = [args.source, args.reference, *files_of_model(args)]
    check_outputs([args.output, *findings_outputs(args)], inputs)
    # Load torch.
    from syntax_nmt.inference.forced_decoding import token_scores
    from syntax_nmt.inference.forced_model import ForcedModel

    model = ForcedModel.load(model_files(args), segmentation)
    text = model.text(args.source, args.reference, scheme_of(args))
    scores = token_scores(model.decoder, text.pairs, batch_limits(args))
    found = bits_of_text(text.target, scores)
    if not any(found):
        raise UserError(f"{args.reference}: has no sentence that the model has positions for")
    write_lines(args.output, bits_lines(found), stdout_is_free=False)
    figures = Likelihood.of(found)
    write_findings(figures, figures.findings(), args, stdout_is_free=args.output != STDOUT)
