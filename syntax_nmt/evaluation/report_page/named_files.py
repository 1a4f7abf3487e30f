"""Files that belong to one of the systems: `--log NAME FILE`, `--chunks NAME FILE`, …."""

from __future__ import annotations

import argparse

REFERENCE = "reference"
"""The NAME of the structures of the reference."""

SYSTEM_OPTIONS = ("log", "contrast")
STRUCTURE_OPTIONS = ("dependencies", "constituents", "alignments", "chunks")


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
    _add(group, "--contrast", ("NAME", "FILE"), "what syntax-nmt contrast --json wrote")
    _add(structures, "--dependencies", ("NAME", "FILE"), "dependency trees in CoNLL-U")
    _add(structures, "--constituents", ("NAME", "FILE"), "bracketed trees, one a line")
    _add(structures, "--alignments", ("NAME FILE", "SOURCE TARGET"), "links i-j, from 0; and the "
         "two texts whose words they link (default: the source and the translation)")  # fmt: skip
    _add(structures, "--chunks", ("NAME FILE", "TEXT"), "IOB2 tags or bracketed chunks as "
         "syntax-nmt chunks writes them; and the text that has been chunked (default: the "
         "translation)")  # fmt: skip


def _add(group: argparse._ArgumentGroup, option: str, values: tuple[str, str], what: str) -> None:
    group.add_argument(option, action="append", nargs="+", default=[], metavar=values, help=what)
