"""Files that belong to a system, which its name tells: `--log NAME FILE`."""

import argparse
from collections.abc import Sequence

from syntax_nmt.errors import UserError

Files = dict[str, list[str]]


REFERENCE = "reference"
"""The NAME of the structures of the reference."""


STRUCTURE_OPTIONS = ("dependencies", "constituents", "alignments", "chunks")


def named_files(
    option: str, given: Sequence[Sequence[str]], names: Sequence[str], numbers: Sequence[int]
) -> Files:
    """The files of each name.

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


def add_named_file_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options, each of which may be given once for each system."""
    group = parser.add_argument_group(
        "what else is known of a system, by the name that it has in the tables (NAME)"
    )
    structures = parser.add_argument_group(
        f"structures of the sentences, one a sentence; {REFERENCE} as NAME: gold structures, which "
        f"the systems' are compared with where their words are the same"
    )
    _add(group, "--log", ("NAME FILE", "FILE"), "output of fairseq-train; several are several "
         "seeds. If a training was interrupted and resumed, join its logs into one file first, "
         "oldest first (cat)")  # fmt: skip
    _add(structures, "--dependencies", ("NAME", "FILE"), "dependency trees in CoNLL-U")
    _add(structures, "--constituents", ("NAME", "FILE"), "bracketed trees, one a line")
    _add(structures, "--alignments", ("NAME FILE", "SOURCE TARGET"), "links i-j, from 0; and the "
         "two texts whose words they link (default: the source and the translation)")  # fmt: skip
    _add(structures, "--chunks", ("NAME FILE", "TEXT"), "chunk tags, as syntax-nmt chunks "
         "writes them; and the text that has been chunked (default: the translation)")  # fmt: skip


def _add(group: argparse._ArgumentGroup, option: str, values: tuple[str, str], what: str) -> None:
    group.add_argument(option, action="append", nargs="+", default=[], metavar=values, help=what)
