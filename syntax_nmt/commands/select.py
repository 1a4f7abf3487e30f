"""`syntax-nmt select`: the sentences of a test set whose parse has what is asked for."""

import argparse
from collections import Counter
from pathlib import Path

from syntax_nmt.arguments import add_numbers, positive_int
from syntax_nmt.commands.shared.findings import (
    add_findings_arguments,
    findings_outputs,
    write_findings,
)
from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.data.text_files import write_atomically
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.output import check_outputs
from syntax_nmt.scoring.parallel_text import check_parallel
from syntax_nmt.scoring.selection import CONSTRUCTIONS, Selection, Wanted, select
from syntax_nmt.scoring.translations.output_formats import read_output

EXAMPLE = (
    "syntax-nmt select test.de.conllu --construction separable --distance 5 --text test.en test.de "
    "base.1.txt ours.1.txt --destdir separable\n"
    "  syntax-nmt compare separable/base.1.txt separable/ours.1.txt --reference separable/test.de"
)

DESCRIPTION = """\
Prints the sentences of a CoNLL-U file, of either side, in which a word has all that is asked for,
with these words, their heads, relations and distances. --destdir writes the same lines of parallel
texts, such as source, reference and translations, so that systems can be compared on them.
constructions:
""" + "\n".join(f"  {name:10} {text}" for name, (text, _) in CONSTRUCTIONS.items())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    parser.add_argument("conllu", metavar="CONLLU", help="trees of the test set, plain or .gz")
    group = parser.add_argument_group("what a word must have")
    add = group.add_argument
    add("--relation", nargs="+", default=[], metavar="REL", help="one of these relations")
    add(
        "--construction",
        choices=tuple(CONSTRUCTIONS),
        metavar="NAME",
        help=f"one of {', '.join(CONSTRUCTIONS)}",
    )
    add_numbers(
        group,
        positive_int,
        distance="its head stands N places away or further; 1 of neighbours",
        depth="N arcs to the root or more",
        length="the sentence has N words or more",
    )
    group = parser.add_argument_group("what to write")
    group.add_argument(
        "--text",
        nargs="+",
        default=[],
        metavar="FILE",
        help="texts that are parallel to CONLLU, for --destdir: plain, or what fairseq-generate "
        "printed",
    )
    group.add_argument(
        "--destdir",
        metavar="DIR",
        type=Path,
        help="their selected lines, under the same names; FOLDER.NAME of several with one name",
    )
    add_findings_arguments(group)


def run(args: argparse.Namespace) -> None:
    """Selects, writes the lines of the texts, and prints the words.

    Raises:
        UserError: nothing is asked for or found, or files are damaged or not parallel.
    """
    wanted = Wanted(
        args.relation, args.construction, args.distance or 0, args.depth or 0, args.length or 0
    )
    if bool(args.text) != (args.destdir is not None):
        raise UserError("--text and --destdir go together: give both or neither")
    outputs = _outputs(args)
    check_outputs([*map(str, outputs.values()), *findings_outputs(args)], [args.conllu, *args.text])
    trees = list(read_conllu(args.conllu, one_root=False))
    found = select(trees, wanted)
    if not found.selected:
        raise UserError(f"{args.conllu}: none of {len(trees)} sentences has what is asked for")
    texts = {text: _lines(text, found, args.conllu) for text in args.text}
    for text, lines in texts.items():
        outputs[text].parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(outputs[text]) as stream:
            stream.writelines(f"{line}\n" for line in lines)
    write_findings(found, found.findings(), args, stdout_is_free=True)


def _outputs(args: argparse.Namespace) -> dict[str, Path]:
    """The file of each text."""
    names = Counter(Path(text).name for text in args.text)
    return {
        text: args.destdir / _name(Path(text), is_unique=names[Path(text).name] == 1)
        for text in args.text
    }


def _name(text: Path, is_unique: bool) -> str:
    """`test.de`, of several texts of that name `FOLDER.test.de`."""
    name = text.name.removesuffix(".gz")
    return name if is_unique else f"{text.absolute().parent.name}.{name}"


def _lines(text: str, found: Selection, conllu: str) -> list[str]:
    """The selected lines of a text.

    Raises:
        UserError: it is not parallel to the trees.
    """
    lines = read_output(text).hypotheses
    check_parallel(text, len(lines), conllu, found.sentences, "sentences")
    return [lines[each.line - 1] for each in found.selected]
