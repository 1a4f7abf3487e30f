"""The translations to measure: files of any system, and the references that belong to them."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from syntax_nmt.arguments import add_flags
from syntax_nmt.data.subwords import (
    CONTINUED,
    NO_SUBWORDS,
    SUBWORD_NMT,
    detect_scheme,
    join_pieces,
    pieces_per_word,
)
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.translations.output_formats import (
    GenerateOutput,
    best_translations,
    is_generate_output,
    is_nbest_list,
    parse_generate_output,
)

_FEW_CUT = 20  # a text is in pieces if more than one line of this number has cut words
_UNKNOWN = "<<unk>>"  # how fairseq writes words of a reference that are not in its vocabulary
_SAME_SENTENCES = "give translations of the same sentences, one a line"


@dataclass(frozen=True)
class Text:
    """Sentences, and where they come from.

    Attributes:
        name: for messages and tables.
        sentences: one string each, without spaces at its end, as sacrebleu reads them.
    """

    name: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class System:
    """A system that is measured.

    Attributes:
        name: for tables.
        runs: its translations, one text for each training seed.
    """

    name: str
    runs: tuple[Text, ...]


@dataclass(frozen=True)
class TestSet:
    """Parallel texts.

    Attributes:
        systems: the first one is the baseline of comparisons.
        references: one or more.
        source: as fairseq-generate wrote it beside the translations, if it did.
    """

    systems: tuple[System, ...]
    references: tuple[Text, ...]
    source: Text | None

    __test__ = False  # pytest: a class of this name holds no tests

    @property
    def sentences(self) -> int:
        """How many there are."""
        return len(self.references[0].sentences)

    @property
    def outputs(self) -> list[tuple[str, ...]]:
        """The sentences of all runs of all systems, one after the other."""
        return [run.sentences for system in self.systems for run in system.runs]

    def by_system(self, items: Sequence) -> list[list]:
        """Groups what there is one of for each of the :attr:`outputs`."""
        rest = iter(items)
        return [[next(rest) for _ in system.runs] for system in self.systems]


def add_test_set_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options that name the files."""
    group = parser.add_argument_group("what to measure")
    add = group.add_argument
    add(
        "outputs",
        nargs="*",
        metavar="FILE",
        help="translations, each file a system: plain text with a sentence a line, or the output "
        "of fairseq-generate or fairseq-interactive, or an n-best list of Moses or Marian; may be "
        ".gz",
    )
    add(
        "--system",
        action="append",
        nargs="+",
        default=[],
        metavar=("NAME FILE", "FILE"),
        help="a system by name, and its translations; several files are several training seeds, "
        "whose scores are averaged. May be given several times, instead of FILE",
    )
    add(
        "--reference",
        "-r",
        nargs="+",
        default=[],
        metavar="FILE",
        help="one or more references, plain text (default: the T- lines of fairseq-generate)",
    )
    add_flags(
        group,
        join_subwords="put words together again in texts that are in pieces of sentencepiece (▁) "
        "or subword-nmt (@@)",
    )


def files_of_test_set(args: argparse.Namespace) -> list[str]:
    """The files that :func:`read_test_set` reads, none of which may be written."""
    named = [path for _, *paths in args.system for path in paths]
    scores = [path for _, *paths in args.sentence_scores for path in paths]
    return [*args.outputs, *args.reference, *named, *scores]


def read_test_set(args: argparse.Namespace) -> TestSet:
    """Reads the files that a command line names.

    Raises:
        UserError: a file is damaged, or the files have unequal numbers of sentences.
    """
    systems, generated = [], []
    for name, paths in _named_files(args):
        runs = []
        for path in paths:
            run, output = _read_output(path)
            runs.append(run)
            if output is not None:
                generated.append((path, output))
        systems.append(System(name, tuple(runs)))
    if args.reference:
        references = tuple(read_text(path) for path in args.reference)
    else:
        references = (_generated_reference(generated),)
    texts = [*references[1:], *(run for system in systems for run in system.runs)]
    for text in texts:
        check_parallel(text, references[0])
    if not references[0].sentences:
        raise UserError(f"{references[0].name}: is empty: give a sentence a line")
    texts = [in_words(text, args.join_subwords, args.force) for text in (references[0], *texts)]
    rest = iter(texts)
    references = tuple(next(rest) for _ in references)
    systems = [System(system.name, tuple(next(rest) for _ in system.runs)) for system in systems]
    sources = [
        Text(f"the S- lines of {path}", _stripped(output.sources))
        for path, output in generated
        if output.sources is not None
    ]
    return TestSet(tuple(systems), references, sources[0] if sources else None)


def read_text(path: str) -> Text:
    """A plain text, read as sacrebleu reads it: only a newline ends a line.

    Args:
        path: the file, plain or `.gz`.

    Raises:
        UserError: it cannot be read or is not UTF-8.
    """
    return Text(path, _stripped(read_lines(path)))


def check_parallel(text: Text, reference: Text) -> None:
    """Refuses texts of other lengths.

    Args:
        reference: what it goes with.

    Raises:
        UserError: it has another number of sentences.
    """
    counts = len(text.sentences), len(reference.sentences)
    if counts[0] != counts[1]:
        raise UserError(
            f"{text.name} has {counts[0]} sentences, {reference.name} {counts[1]}: "
            f"{_SAME_SENTENCES}"
        )


def _read_output(path: str) -> tuple[Text, GenerateOutput | None]:
    lines = list(read_lines(path))
    if is_nbest_list(lines):
        print(f"note: {path}: an n-best list, its first translations are taken", file=sys.stderr)
        return Text(path, _stripped(best_translations(lines, path))), None
    if not is_generate_output(lines):
        return Text(path, _stripped(lines)), None
    output = parse_generate_output(lines, path)
    return Text(path, _stripped(output.hypotheses)), output


def in_words(text: Text, join: bool, quiet: bool = False) -> Text:
    """A text with its words put together; otherwise says on stderr that it is in pieces.

    Args:
        join: whether to put words together.
        quiet: say nothing.

    Raises:
        UserError: a piece reaches over the end of a word.
    """
    scheme = detect_scheme(text.sentences)
    if scheme == SUBWORD_NMT and not join:  # a few words of a text may well end in @@
        cut = sum(f"{CONTINUED} " in sentence for sentence in text.sentences)
        scheme = SUBWORD_NMT if cut * _FEW_CUT > len(text.sentences) else NO_SUBWORDS
    if scheme == NO_SUBWORDS:
        return text
    if not join:
        if not quiet:
            print(
                f"note: {text.name} is in pieces of {scheme}, and scores of pieces are not those "
                f"of words: add --join-subwords, or score the text in words (--force: no note)",
                file=sys.stderr,
            )
        return text
    joined = []
    for number, sentence in enumerate(text.sentences, start=1):
        pieces = sentence.split()
        counts = pieces_per_word(pieces, scheme, f"{text.name}:{number}")
        words = " ".join(join_pieces(pieces, counts, scheme))
        # A translation that was cut off at --max-len may end within a word.
        joined.append(words.removesuffix(CONTINUED) if scheme == SUBWORD_NMT else words)
    return Text(text.name, tuple(joined))


def _stripped(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(line.rstrip() for line in lines)


def _named_files(args: argparse.Namespace) -> list[tuple[str, list[str]]]:
    """The systems' names and files."""
    if args.outputs and args.system:
        raise UserError("FILE and --system exclude each other: give every file with --system")
    if not args.outputs and not args.system:
        raise UserError("no translations: give one or more FILEs, or --system NAME FILE")
    for name, *files in args.system:
        if not files:
            raise UserError(f"--system {name}: a name and at least one file are expected")
    short = Counter(Path(path).name for path in args.outputs)
    named = [
        (Path(path).name if short[Path(path).name] == 1 else path, [path]) for path in args.outputs
    ]
    named += [(name, files) for name, *files in args.system]
    twice = [name for name, count in Counter(name for name, _ in named).items() if count > 1]
    if twice:
        raise UserError(f"{twice[0]}: two systems of this name: give each its own with --system")
    return named


def _generated_reference(generated: Sequence[tuple[str, GenerateOutput]]) -> Text:
    """The T- lines, which must be the same in all files."""
    found = [(path, output.references) for path, output in generated if output.references]
    if not found:
        raise UserError("no references: give --reference, one file or several")
    path, sentences = found[0]
    remedy = "give the original text as --reference"
    for other, others in found[1:]:
        differing = [i for i, (one, two) in enumerate(zip(sentences, others)) if one != two]
        if differing:
            raise UserError(f"{other}: T-{differing[0]} is not that of {path}: {remedy}")
    unknown = sum(_UNKNOWN in sentence for sentence in sentences)
    if unknown:
        print(
            f"note: {unknown} references (T- lines) of {path} have words that fairseq did not "
            f"know ({_UNKNOWN}): {remedy}",
            file=sys.stderr,
        )
    return Text(f"the T- lines of {path}", _stripped(sentences))
