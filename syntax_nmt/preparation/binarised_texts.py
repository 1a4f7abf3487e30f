"""The texts of a data-bin folder: their subwords, words, annotation files and tokens."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from pathlib import Path

from syntax_nmt.data.annotation import KINDS, TEXT_KINDS
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.data_bin import split_prefixes
from syntax_nmt.data.manifest import NAME, read_manifest
from syntax_nmt.data.text_files import find_text
from syntax_nmt.errors import UserError


@dataclass(frozen=True)
class BinarisedText:
    """One language of one split.

    Attributes:
        split: as fairseq names it.
        lang: its language.
        pieces: the text in subwords.
        words: the tokenised text; None = the subwords determine the words.
        base: name of the annotation files without their endings.
        tokens: fairseq's prefix of the binarised tokens.
        annotation: the existing annotation files.
    """

    split: str
    lang: str
    pieces: Path
    words: Path | None
    base: Path
    tokens: Path
    annotation: dict[AnnotationKind, Path]

    def annotation_path(self, kind: AnnotationKind) -> Path:
        """The expected path of the annotation file of a kind."""
        return Path(f"{self.base}.{kind.ending}")


def find_text_files(
    destdir: Path,
    split: str,
    prefix: str,
    lang: str,
    pair: tuple[str, str],
    words: str | Path | None,
    kinds: Sequence[AnnotationKind] = TEXT_KINDS,
    only: Container[Path] | None = None,
) -> BinarisedText:
    """The files of one language of a split.

    Args:
        destdir: the data-bin folder.
        split: as fairseq names it.
        prefix: of the text in subwords.
        lang: one of the pair.
        pair: source and target language.
        words: folder of the tokenised text and the annotation files; the prefix's own by default.
        kinds: whose files are looked for, those with files of their own by default.
        only: the annotation files to take; by default all that are found.

    Raises:
        UserError: there is no such text, or fairseq has not binarised it.
    """
    pieces = Path(f"{prefix}.{lang}")
    folder = pieces.parent if words is None else Path(words)
    base = folder / pieces.name
    tokenised = find_text(base)
    if tokenised is not None and tokenised.resolve() == pieces.resolve():
        tokenised = None
    paths = {kind: find_text(f"{base}.{kind.ending}") for kind in kinds}
    annotation = {
        kind: path
        for kind, path in paths.items()
        if path is not None and (only is None or path in only)
    }
    if not pieces.is_file() and (annotation or lang == pair[1]):
        _refuse_prefix(prefix, pair, annotation)
    tokens = _token_prefix(destdir, split, pair, lang) if annotation else destdir
    return BinarisedText(split, lang, pieces, tokenised, base, tokens, annotation)


def _refuse_prefix(
    prefix: str, pair: tuple[str, str], annotation: Container[AnnotationKind]
) -> None:
    """Refuses a prefix without text, because it would count as one without annotation.

    Raises:
        UserError: there is no text, in either language or for annotation files.
    """
    missing = [f"{prefix}.{lang}" for lang in pair if not Path(f"{prefix}.{lang}").is_file()]
    if annotation or len(missing) == len(pair):
        raise UserError(
            f"{missing[0]}: not found: give the prefixes that fairseq-preprocess was given, which "
            f"end before the dot and the language"
        )


def _token_prefix(destdir: Path, split: str, pair: tuple[str, str], lang: str) -> Path:
    """fairseq's files of this text; a folder made for the other direction serves as well."""
    for prefix in split_prefixes(destdir, split, *pair, combine=False):
        return Path(f"{prefix}.{lang}")
    text = destdir / f"{split}.{'-'.join(pair)}.{lang}"
    if text.is_file():
        raise UserError(f"{text}: is raw text: run fairseq-preprocess without --dataset-impl raw")
    raise UserError(
        f"{text}.idx: not found: run fairseq-preprocess first, with the same languages, prefixes "
        "and --destdir"
    )


def report_missing(text: BinarisedText, side: str, report: Callable[[str], None]) -> None:
    """Reports the kinds of annotation that a text lacks.

    Args:
        side: `source` or `target`.
        report: called with each line.
    """
    for kind in TEXT_KINDS:
        if kind.side == side and kind not in text.annotation:
            report(f"{text.split} {text.lang}: no {text.annotation_path(kind)}, so no {kind.name}")


def annotation_files(data_bin: Path) -> list[Path]:
    """The annotation files that a data-bin folder's manifest lists."""
    names = read_manifest(data_bin)
    files = [data_bin / f"{name}.{ending}" for name in names for ending in ("bin", "idx")]
    labels = [data_bin / kind.labels_file for kind in KINDS if kind.labels_file is not None]
    return [path for path in (*files, *labels, data_bin / NAME) if path.is_file()]


def remove_annotation(data_bin: Path) -> None:
    """Removes outdated files of an earlier run, which would otherwise be used."""
    for path in reversed(annotation_files(data_bin)):
        path.unlink()
