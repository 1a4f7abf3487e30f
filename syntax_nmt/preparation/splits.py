"""The parts of a parallel corpus, found and checked before any work begins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from syntax_nmt.data.text_files import find_text, read_lines
from syntax_nmt.errors import UserError


@dataclass(frozen=True)
class Split:
    """One part of a parallel corpus.

    Attributes:
        name: fairseq's name for it: `train`, `valid`, `valid1`, `test`, …
        prefix: path of the raw files up to the language.
        source: the raw source text.
        target: the raw target text.
        lines: how many lines each of the two has.
    """

    name: str
    prefix: str
    source: Path
    target: Path
    lines: int


def find_splits(
    prefixes: Iterable[tuple[str, str | None]], source: str, target: str
) -> list[Split]:
    """The splits of a corpus, every line read once and every pair of files found parallel.

    Args:
        prefixes: fairseq's name of the first of each kind and the prefixes, separated by commas.
        source: source language, the files' suffix.
        target: target language, the files' suffix.

    Raises:
        UserError: there are several training texts; a file is missing, is not UTF-8, or has more
            lines than its counterpart.
    """
    splits = []
    for kind, listed in prefixes:
        if kind == "train" and listed and "," in listed:
            raise UserError(
                f"--trainpref {listed}: there can be one training text, as fairseq-preprocess "
                "takes no more: join the parts, one file a language, and name that"
            )
        for number, prefix in enumerate(listed.split(",") if listed else []):
            name = kind if number == 0 else f"{kind}{number}"
            splits.append(_find_split(name, prefix, source, target))
    return splits


def _find_split(name: str, prefix: str, source: str, target: str) -> Split:
    files = [_existing(name, prefix, lang) for lang in (source, target)]
    lines = [sum(1 for _ in read_lines(path)) for path in files]
    if lines[0] != lines[1]:
        raise UserError(
            f"{files[0]} has {lines[0]:,} lines and {files[1]} has {lines[1]:,}: "
            "translations must stand on the same line of both"
        )
    if lines[0] == 0:
        raise UserError(f"{files[0]} is empty")
    return Split(name, prefix, files[0], files[1], lines[0])


def _existing(name: str, prefix: str, lang: str) -> Path:
    path = find_text(f"{prefix}.{lang}")
    if path is None:
        option = f"--{name.rstrip('0123456789')}pref"
        raise UserError(
            f"{option} {prefix}: there is no {prefix}.{lang} or {prefix}.{lang}.gz; give the path "
            "up to the dot before the language"
        )
    return path
