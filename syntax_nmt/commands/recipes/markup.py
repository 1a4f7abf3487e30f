"""Text out of the marked-up files that corpora are published in, one segment a line.

Run by the dataset recipes as `python -m syntax_nmt.commands.recipes.markup FORMAT …`.
"""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path

from syntax_nmt.arguments import add_numbers, positive_int
from syntax_nmt.commands.recipes.recipe_command import run_command
from syntax_nmt.data.text_files import write_atomically
from syntax_nmt.preparation.recipes.markup import (
    aspec_pairs,
    plain_lines,
    references,
    segments,
    talk_lines,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    formats = parser.add_subparsers(dest="format", required=True)
    for name, said in (
        ("sgm", "segments of .sgm and .xml files"),
        ("talks", "train.tags files of IWSLT"),
        ("lines", "text in another encoding"),
    ):
        plain = formats.add_parser(name, help=said)
        plain.add_argument(
            "--text",
            nargs="+",
            action="append",
            required=True,
            type=Path,
            help="a file to write, and those to take its lines from; may be repeated",
        )
        plain.add_argument("--lowercase", action="store_true", help="write lower case")
        plain.add_argument("--encoding", default="utf-8", help="(default: %(default)s)")
    nist = formats.add_parser("nist", help="a NIST set: source and several references")
    nist.add_argument("source", type=Path, help="the source's .sgm")
    nist.add_argument("references", type=Path, help="the references' .sgm")
    nist.add_argument("output", help="writes OUTPUT.SOURCE, OUTPUT.TARGET, OUTPUT.TARGET0, …")
    nist.add_argument("languages", nargs=2, help="source and target language")
    nist.add_argument("--encoding", default="utf-8", help="of both (default: %(default)s)")
    nist.add_argument("--lowercase", action="store_true", help="write references in lower case")
    aspec = formats.add_parser("aspec", help="ASPEC-JE")
    aspec.add_argument("inputs", nargs="+", type=Path, help="files, in order")
    aspec.add_argument("--output", required=True, help="writes OUTPUT.ja and OUTPUT.en")
    add_numbers(aspec, positive_int, first="number of pairs, the first ones (default: all)")


def run(args: argparse.Namespace) -> None:
    """Writes the text.

    Raises:
        UserError: a file is not what it should be.
    """
    if args.format == "nist":
        _run_nist(args)
    elif args.format == "aspec":
        _run_aspec(args)
    else:
        for output, *inputs in args.text:
            lines = chain.from_iterable(_lines(args, path) for path in inputs)
            _write(output, lines, args.lowercase)


def _lines(args: argparse.Namespace, path: Path) -> Iterator[str]:
    if args.format == "talks":
        return talk_lines(path)
    if args.format == "lines":
        return plain_lines(path, args.encoding)
    return (segment.text for segment in segments(path, args.encoding))


def _run_nist(args: argparse.Namespace) -> None:
    source, target = args.languages
    sources = [segment.text for segment in segments(args.source, args.encoding)]
    translations = references(args.source, args.references, args.encoding)
    for number, texts in enumerate(translations):
        _write(Path(f"{args.output}.{target}{number}"), iter(texts), args.lowercase)
    _write(Path(f"{args.output}.{target}"), iter(translations[0]), args.lowercase)
    _write(Path(f"{args.output}.{source}"), iter(sources), lowercase=False)
    print(f"  {len(translations)} references; the data-bin gets the first")


def _run_aspec(args: argparse.Namespace) -> None:
    with ExitStack() as stack:
        japanese, english = (
            stack.enter_context(write_atomically(Path(f"{args.output}.{lang}")))
            for lang in ("ja", "en")
        )
        pairs = (pair for path in args.inputs for pair in aspec_pairs(path))
        count = 0
        for ja, en in islice(pairs, args.first):
            japanese.write(ja + "\n")
            english.write(en + "\n")
            count += 1
    print(f"  {args.output}.ja, {args.output}.en: {count:,} pairs")


def _write(path: Path, lines: Iterator[str], lowercase: bool) -> None:
    count = 0
    with write_atomically(path) as out:
        for line in lines:
            out.write((line.lower() if lowercase else line) + "\n")
            count += 1
    print(f"  {path}: {count:,} lines")


def main(argv: Sequence[str] | None = None) -> None:
    """The command.

    Args:
        argv: the arguments; those of the process by default.
    """
    run_command("markup", __doc__, add_arguments, run, argv)


if __name__ == "__main__":
    main()
