"""`syntax-nmt plot`: pictures of structures and figures, as SVG, PNG or PDF."""

import argparse
import importlib
import sys
from types import ModuleType

from syntax_nmt.arguments import CommandParser, argument
from syntax_nmt.pictures.plots.picture_format import TEXT_WIDTH, picture_format, points
from syntax_nmt.reporting.output import check_outputs

# Description and example of each kind. Modules are loaded on demand, because some load fairseq.
KINDS = {
    "attention": (
        "attention of all heads of a layer, or of one; gold heads of a dependency tree framed",
        "data-bin --path checkpoints/checkpoint_best.pt --source pieces/test.en --segmented --gold "
        "words/test.en.conllu --sentence 3 --output heads.svg",
    ),
    "alignment": (
        "a word alignment, gold links framed: sure ones solid, possible ones dashed",
        "--source words/test.src --target words/test.tgt --hypothesis test.forward --gold "
        "test.align --sentence 3 --output alignment.svg",
    ),
    "dependencies": (
        "a dependency tree as arcs; arcs of a reference that differ are drawn below the words",
        "trees.conllu --gold words/test.en.conllu --sentence 3 --output tree.svg",
    ),
    "translation": (
        "a sentence and its translation: the model's tree of the sentence, and the "
        "attention of each word of the translation",
        "prepared --path prepared/heads/checkpoint_best.pt --text 'Two dogs run.' --output "
        "translation.svg",
    ),
    "constituents": (
        "a constituency tree; brackets that a gold tree lacks are dashed",
        "induced.trees --gold test.src.trees --sentence 3 --output tree.svg",
    ),
    "distances": (
        "syntactic distances of a model with latent phrases, bars over the gaps between pieces",
        "data-bin --path checkpoints/checkpoint_best.pt --source pieces/test.src --target "
        "pieces/test.tgt --segmented --sentence 3 --output distances.svg",
    ),
    "gates": (
        "the arcs of a sentence in a model with graph convolution, and the gates of their messages",
        "prepared/data-bin --path checkpoints/checkpoint_best.pt --source pieces/test.en "
        "--segmented --parser-config prepared/parser.json --sentence 3 --output gates.svg",
    ),
    "chunks": (
        "the chunks of a translation, with gold chunks; or their attention to the source",
        "--target words/test.tgt --hypothesis test.chunks --gold words/test.tgt.chunks --sentence "
        "3 --output chunks.svg",
    ),
    "length": (
        "BLEU, or any other score, by length, for several systems",
        "scores.json --metric BLEU --output length.svg",
    ),
    "words": (
        "words by bucket, or the systems' differences, with intervals, as dots in rows",
        "comparison.json --words-by deprel --differences --output words.svg",
    ),
    "contrast": (
        "accuracy on contrastive pairs by distance, with intervals, for several models",
        "contrast.json --output contrast.svg",
    ),
}

# Options that name input files.
_FILES = (
    *("path", "source", "target", "trees", "hypothesis", "gold", "alignments"),
    *("parser_config", "sentencepiece_model", "bpe_codes"),
)

EXAMPLE = "\n  ".join(f"syntax-nmt plot {name} {line}" for name, (_, line) in KINDS.items())

DESCRIPTION = """\
Draws a picture. The suffix of --output selects SVG, PNG or PDF. Pictures are readable in grey, and
the same input gives the same file. In SVG, letters are text. If no installed font has a letter, a
warning says what to install.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the kind of picture; its options are read when it is known."""
    width = max(map(len, KINDS))
    kinds = "\n".join(f"  {name:<{width}}  {what}" for name, (what, _) in KINDS.items())
    parser.description = f"{DESCRIPTION}\nkinds:\n{kinds}"
    parser.usage = "syntax-nmt plot KIND …   (syntax-nmt plot KIND --help for the options of one)"
    parser.add_argument("kind", choices=KINDS, metavar="KIND", help="one of the kinds above")
    parser.add_argument("options", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def kind_parser(name: str) -> argparse.ArgumentParser:
    """Reads the options of a kind."""
    what, example = KINDS[name]
    parser = CommandParser(
        prog=f"syntax-nmt plot {name}",
        description=what,
        epilog=f"example:\n  syntax-nmt plot {name} {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _module(name).add_arguments(parser)
    group = parser.add_argument_group("what to write")
    add = group.add_argument
    add("--output", metavar="FILE", required=True, help="picture file; ends in .svg, .png or .pdf")
    add("--title", metavar="TEXT", default="", help="stands above (default: none)")
    add(
        "--width",
        type=argument(points),
        default=points(str(TEXT_WIDTH)),
        dest="room",
        metavar="CM",
        help="lay trees and curves out for so much room, such as 7.7 for a column of the ACL: "
        f"wider trees go down the page (default: {TEXT_WIDTH:g}, the text of an A4 page)",
    )
    return parser


def _module(kind: str) -> ModuleType:
    return importlib.import_module(f"syntax_nmt.commands.plots.{kind}")


def run(args: argparse.Namespace) -> None:
    """Draws and writes; warns of letters that do not show.

    Raises:
        UserError: options or files cannot be used.
    """
    kind = args.kind
    args = kind_parser(kind).parse_args(args.options)
    picture_format(args.output)
    given = [getattr(args, name, None) for name in _FILES]
    check_outputs([args.output], [*given, *getattr(args, "figures", ())])
    figure = _module(kind).figure(args)
    # These load matplotlib.
    from syntax_nmt.pictures.plots.figure_file import save_figure, unshown
    from syntax_nmt.pictures.plots.fonts import advice

    save_figure(figure, args.output)
    letters = unshown(figure)
    if letters:
        print(f"warning: {advice(letters)}", file=sys.stderr)
