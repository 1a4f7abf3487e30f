"""The parts of a parallel corpus, found and checked before any work begins."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from syntax_nmt.data.data_bin_names import is_training
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

    @property
    def is_training(self) -> bool:
        """Whether models are trained on it."""
        return is_training(self.name)


def named_prefixes(*prefixes: str | None) -> list[tuple[str, str]]:
    """The split of each prefix, as fairseq names it, and the prefix: test, test1, …

    Args:
        *prefixes: of training, validation and test text, several separated by commas; None = none.

    Raises:
        UserError: there is none at all, or an empty one, as of a shell's variable without a value.
    """
    splits = []
    for name, given in zip(("train", "valid", "test"), prefixes):
        parts = [] if given is None else given.split(",")
        if "" in parts:
            raise UserError(
                f"--{name}pref {given!r} has an empty prefix: give the path up to the dot before "
                "the language, or leave the option out"
            )
        splits += [(f"{name}{number or ''}", part) for number, part in enumerate(parts)]
    if not splits:
        raise UserError("nothing to do: give --trainpref, --validpref or --testpref")
    return splits


def prefix_options(folder: Path, splits: Iterable[str]) -> dict[str, str]:
    """The options `trainpref`, `validpref` and `testpref` for splits whose text is in a folder."""
    found: dict[str, list[str]] = {}
    for name in splits:
        found.setdefault(f"{name.rstrip('0123456789')}pref", []).append(str(folder / name))
    return {option: ",".join(paths) for option, paths in found.items()}


def find_splits(
    *prefixes: str | None, source: str, target: str, in_shards: bool = False
) -> list[Split]:
    """The splits of a corpus, every line read once and every pair of files found parallel.

    Args:
        *prefixes: as of :func:`named_prefixes`.
        in_shards: there may be several training texts.
        source: source language, the files' suffix.
        target: target language, the files' suffix.

    Raises:
        UserError: there are several training texts; a file is missing, is not UTF-8, or has more
            lines than its counterpart.
    """
    found = named_prefixes(*prefixes)
    if not in_shards and any(name == "train1" for name, _ in found):
        raise UserError(
            f"--trainpref {prefixes[0]}: there can be one training text, as fairseq-preprocess "
            "takes no more: join the parts, one file a language, and name that; or give "
            "--shard-size"
        )
    return [_find_split(name, prefix, source, target) for name, prefix in found]


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
