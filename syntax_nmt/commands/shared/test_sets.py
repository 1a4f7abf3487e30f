"""The files of `syntax-nmt score`, `compare` and `report`: systems, references, source."""

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from html import unescape
from pathlib import Path

from syntax_nmt.arguments import add_flags
from syntax_nmt.data.linearised_folder import PARSED_TARGET, linearised_mode
from syntax_nmt.data.prepared_text import prepared_folder, read_segmentation
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError, note
from syntax_nmt.scoring.translations.evaluation_set import (
    UNKNOWN,
    TestSet,
    Text,
    note_if_in_pieces,
    note_if_lengths_unknown,
)
from syntax_nmt.scoring.translations.linearised_output import LinearisedOutput
from syntax_nmt.scoring.translations.output_formats import is_generate_output, parse_generate_output

# Share of the lines; below it we note another text. Tokenisation and unknown words change many.
_FEW_SAME = 0.1

Files = dict[str, list[str]]
"""By name, the files that belong to a system."""


def add_test_set_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options that name systems and references.

    What reads them needs more: `--source` of the command itself or of `add_length_arguments`, and
    the options of `add_metric_arguments`, in `metrics.py`.
    """
    group = parser.add_argument_group("what to measure")
    add = group.add_argument
    add(
        "outputs",
        nargs="*",
        metavar="FILE",
        help="translations, one file per system: plain text with one sentence per line, or the "
        "output of fairseq-generate or fairseq-interactive, or an n-best list of Moses or Marian; "
        "may be .gz",
    )
    add(
        "--system",
        action="append",
        nargs="+",
        default=[],
        metavar=("NAME FILE", "FILE"),
        help="a named system and its translations; several files are training seeds, whose "
        "scores are averaged. Repeat for more systems, in place of FILE",
    )
    add(
        "--reference",
        "-r",
        nargs="+",
        default=[],
        metavar="FILE",
        help="one or more references, plain text (default: the T- lines of fairseq-generate)",
    )
    add(
        "--prepared",
        action="append",
        nargs=2,
        default=[],
        metavar=("NAME", "DIR"),
        help="the folder of `syntax-nmt prepare` that a system was trained on: where it is "
        "linearised, brackets and tags are taken out, and the share of balanced trees is printed",
    )
    add_flags(
        group,
        join_subwords="join subwords in texts segmented by sentencepiece (▁) or subword-nmt (@@)",
    )


def files_of_test_set(args: argparse.Namespace) -> list[str]:
    """The files that :func:`read_test_set` reads, none of which may be written.

    Args:
        args: as of :func:`read_test_set`.
    """
    named = [path for _, *paths in args.system for path in paths]
    known = [*args.sentence_scores, *args.output_links]
    of_systems = [path for _, *paths in known for path in paths]
    others = [path for path in (args.source, args.reference_links) if path is not None]
    return [*args.outputs, *args.reference, *named, *of_systems, *others]


def read_test_set(args: argparse.Namespace) -> TestSet:
    """Reads the files of a command line.

    Args:
        args: with the options that :func:`add_test_set_arguments` adds, and those that it names.

    Raises:
        UserError: as of :meth:`TestSet.read`; or the systems are not named as they must be.
    """
    systems = _systems(args.outputs, args.system)
    folders = named_files("--prepared", args.prepared, list(systems), (1,))
    read = {name: _linearised_output(Path(folder)) for name, (folder,) in folders.items()}
    linearised = {name: output for name, output in read.items() if output is not None}
    test_set = TestSet.read(
        systems,
        args.reference,
        args.source,
        linearised=linearised,
        join_subwords=args.join_subwords,
        quiet=True,
    )
    note_if_lengths_unknown(test_set)
    if not (args.join_subwords or args.force):
        note_if_in_pieces(test_set, "--join-subwords", "--force")
    if args.reference and not args.force:
        files = [path for name in systems.keys() - linearised.keys() for path in systems[name]]
        _note_another_text(files, test_set.references)
    return test_set


def _note_another_text(files: Sequence[str], references: Sequence[Text]) -> None:
    """Notes on stderr that references are not those that a system was run with.

    Args:
        files: of outputs, whose T- lines are without brackets.
    """
    known = [{*map(letters, same)} for same in zip(*(text.sentences for text in references))]
    for path in files:
        lines = list(read_lines(path))
        if not is_generate_output(lines):
            continue
        written = parse_generate_output(lines, path).references or ()
        names = " and ".join(text.name for text in references)
        if note_other_lines(path, written, known, names, "T- lines", " (--force: no note)"):
            return


def note_other_lines(
    path: str | Path,
    lines: Iterable[str],
    known: Iterable[Set[str]],
    references: str,
    kind: str = "lines",
    end: str = "",
) -> bool:
    """Notes on stderr that hardly any line of a test set is that of its reference.

    Args:
        path: the file of the test set.
        lines: of it; those with unknown words do not count.
        known: the :func:`letters` of each line's references.
        references: the names of these.
        kind: what lines are called.
        end: what the note ends with.

    Returns:
        whether it did.
    """
    own = [pair for pair in zip(lines, known) if UNKNOWN not in pair[0]]
    same = sum(letters(line) in sentences for line, sentences in own)
    if not own or same >= _FEW_SAME * len(own):
        return False
    note(
        f"{path}: {same} of its {len(own)} {kind} are those of {references}: is it the reference "
        f"of this test set, in the language of the translations?{end}"
    )
    return True


def letters(text: str) -> str:
    """What no tokenisation changes: letters and digits, in lower case."""
    return "".join(filter(str.isalnum, unescape(text).casefold()))


def _linearised_output(data: Path) -> LinearisedOutput | None:
    """How output of a folder's models becomes text; None = it is text.

    Raises:
        UserError: `prepare` did not write the folder, or a file of it is damaged.
    """
    folder, _ = prepared_folder(data)
    languages = read_segmentation(folder)
    mode = linearised_mode(folder)
    if mode is None:
        return None
    # Imports torch, which other output does not need.
    from syntax_nmt.parsing.word_tokenizer import WordTokenizer

    language, target = [*languages.items()][-1]
    words = WordTokenizer(target.tokenizer, language, target.segmenter)
    return LinearisedOutput(mode == PARSED_TARGET, words.detokenize)


def named_files(
    option: str, given: Sequence[Sequence[str]], names: Sequence[str], numbers: Sequence[int]
) -> Files:
    """The files of each name, from an option that is given once for each system.

    Args:
        option: `--log`, …, for messages.
        given: a name and files, for each time that the option was given.
        numbers: how many files may follow a name; none = any number but 0.

    Raises:
        UserError: an unknown name, one for the second time, or another number of files.
    """
    files: Files = {}
    for name, *paths in given:
        if name not in names:
            raise UserError(
                f"{option} {name}: no system has this name; the names are {', '.join(names)}"
            )
        if name in files:
            raise UserError(f"{option} {name}: for the second time: give it once a system")
        if not paths or (numbers and len(paths) not in numbers):
            wanted = " or ".join(map(str, numbers)) or "one or more"
            raise UserError(f"{option} {name}: {len(paths)} files instead of {wanted}")
        files[name] = paths
    return files


def _systems(outputs: Sequence[str], named: Sequence[Sequence[str]]) -> Files:
    """The systems' names and files."""
    if outputs and named:
        raise UserError("FILE and --system exclude each other: give every file with --system")
    if not outputs and not named:
        raise UserError("no translations: give one or more FILEs, or --system NAME FILE")
    for name, *files in named:
        if not files:
            raise UserError(f"--system {name}: a name and at least one file are expected")
    short = Counter(Path(path).name for path in outputs)
    systems = [
        (Path(path).name if short[Path(path).name] == 1 else path, [path]) for path in outputs
    ]
    systems += [(name, files) for name, *files in named]
    twice = [name for name, count in Counter(name for name, _ in systems).items() if count > 1]
    if twice:
        raise UserError(f"{twice[0]}: two systems of this name: give each its own with --system")
    return dict(systems)
