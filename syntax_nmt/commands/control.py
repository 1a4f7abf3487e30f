"""`syntax-nmt control`: writes annotation without syntax, as a control."""

from __future__ import annotations

import argparse
from pathlib import Path

from syntax_nmt.arguments import add_numbers, natural_int
from syntax_nmt.commands.shared.annotating import add_root_option
from syntax_nmt.commands.shared.findings import (
    add_findings_arguments,
    findings_outputs,
    write_findings,
)
from syntax_nmt.data.controls.kinds import CONTROLS
from syntax_nmt.reporting.output import STDOUT, check_outputs, open_output

EXAMPLE = (
    "syntax-nmt control --kind borrowed --seed 1 prepared/words/train.en.conllu "
    "--output control/train.en.conllu"
)
DESCRIPTION = """\
Annotation without syntax. Put it next to the raw text for `syntax-nmt prepare`. A gain with it does
not come from structure. Sentences without annotation remain without annotation.

  chain     each word depends on the previous word; the first is the root (.conllu)
  shuffled  the sentence's own tree over permuted words: same shape, other distances (.conllu)
  borrowed  the structure of another sentence of the same length; each is used once. The only
            sentence of its length takes that of the next longer sentence, cut, or of the next
            shorter one, continued (.conllu, .trees, .chunks)
  dummy     one value in every column that is a feature; heads do not change (.conllu)
  balanced  constituents are the halves of the sentence, their halves, and so on (.trees)
  right     every constituent is a word and all words after it (.trees)
  majority  in every such column the value that the word has most often in the training text;
            unseen words have the most frequent value (.conllu)
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `syntax-nmt control`."""
    parser.description = DESCRIPTION
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="a .conllu, .trees or .chunks file, plain or .gz"
    )
    parser.add_argument("--kind", choices=CONTROLS, required=True, help="kind of control")
    add_numbers(parser, natural_int, seed=(1, "random seed of shuffled and borrowed"))
    parser.add_argument(
        "--training",
        metavar="FILE",
        type=Path,
        help="the .conllu file of the training text, for --kind majority",
    )
    add_root_option(parser)
    parser.add_argument(
        "--output",
        metavar="FILE",
        required=True,
        help="write the annotation here; - is stdout, and the table goes to stderr",
    )
    add_findings_arguments(parser.add_argument_group("what was kept"))


def run(args: argparse.Namespace) -> None:
    """Writes the control of an annotation file, and a table of its properties.

    Args:
        args: the options of :func:`add_arguments`.

    Raises:
        UserError: the file is of another kind, malformed, or has nothing to borrow.
    """
    from syntax_nmt.preparation.control_files import write_control

    read = [file for file in (args.file, args.training) if file is not None]
    check_outputs([args.output, *findings_outputs(args)], read)
    with open_output(args.output) as stream:
        found = write_control(
            args.file, args.kind, stream, args.seed, args.training, args.attach_roots
        )
    write_findings(found, found.findings(), args, stdout_is_free=args.output != STDOUT)
