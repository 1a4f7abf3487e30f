"""`syntax-nmt linearise`: writes parses as text."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from syntax_nmt.arguments import add_flags
from syntax_nmt.commands.shared.annotating import add_root_option
from syntax_nmt.commands.shared.linearised import add_form_arguments, form_of
from syntax_nmt.data.annotation import HEADS, PHRASES
from syntax_nmt.data.annotation_transfer import over_text
from syntax_nmt.data.constituents import ConstituentTree
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.linearised import KEPT, Form, linearised
from syntax_nmt.data.word_annotation import WordAnnotation, check_attaches_roots
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.output import STDOUT, check_outputs, open_output
from syntax_nmt.scoring.constituents.tree_file import read_tree_file

EXAMPLE = "syntax-nmt linearise train.en.trees --words none --output train.parses"

DESCRIPTION = """\
Trees as text, one a line: `(S (NP the cat ) sleeps )`. Dependency trees are bracketed by relation:
`(root (nsubj (det the ) cat ) sleeps )`; where arcs cross, a word moves up in the tree, and with
--labels full its label tells where its head is, `obl@-3`. In words and relations, ( is -LRB- and )
is -RRB-; the words are those of a text, as `prepare --linearised` writes them: multiword tokens
whole (`du`, not `de` and `le`), and a word with spaces as several. A sentence without a tree is an
empty line. `syntax-nmt prepare --linearised` makes text for training.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    parser.add_argument("file", metavar="FILE", type=Path, help="a .trees or .conllu file, or .gz")
    add_form_arguments(parser, KEPT)
    add_root_option(parser)
    add_flags(parser, closing="closing brackets have labels, too: `(NP the cat )NP`")
    parser.add_argument(
        "--output", metavar="FILE", default=STDOUT, help="write here (default: stdout)"
    )


def run(args: argparse.Namespace) -> None:
    """Writes the trees of a file as text.

    Raises:
        UserError: the file is of another kind, or malformed.
    """
    check_outputs([args.output], [args.file])
    trees = _trees(args.file, args.attach_roots)
    with open_output(args.output) as stream:
        stream.writelines(_lines(trees, form_of(args, KEPT, args.closing)))


def _trees(file: Path, attach_roots: bool) -> Iterator[ConstituentTree | DependencyTree | None]:
    name = file.name.removesuffix(".gz")
    if name.endswith(f".{HEADS.ending}"):
        return WordAnnotation(file, HEADS, attach_roots).annotations()
    if name.endswith(f".{PHRASES.ending}"):
        check_attaches_roots(file, PHRASES, attach_roots)
        return read_tree_file(file)
    raise UserError(
        f"{file}: its ending does not say what it holds: give .{PHRASES.ending} or .{HEADS.ending}"
    )


def _lines(trees: Iterator[ConstituentTree | DependencyTree | None], form: Form) -> Iterator[str]:
    for tree in trees:
        if isinstance(tree, DependencyTree):
            tree = over_text(tree)
        yield "\n" if tree is None else f"{linearised(tree, form)}\n"
