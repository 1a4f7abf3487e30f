"""The plan of a preparation: inputs, settings and output paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from syntax_nmt.data.annotation import KINDS
from syntax_nmt.data.annotation.kind import SOURCE, AnnotationKind
from syntax_nmt.data.manifest import NAME
from syntax_nmt.data.mismatch import STOP
from syntax_nmt.data.prepared_text import FILE_NAME as SEGMENTATION
from syntax_nmt.data.prepared_text import RECORD, TextSegmentation
from syntax_nmt.parsing.config import FILE_NAME
from syntax_nmt.preparation.annotation.annotate import Resources
from syntax_nmt.preparation.annotation.annotator import StanzaAnnotator
from syntax_nmt.preparation.splits import Split
from syntax_nmt.preparation.tokenize import Tokenizer


@dataclass(frozen=True)
class Plan:
    """All settings of a preparation.

    Attributes:
        source: source language.
        target: target language.
        splits: the raw text, checked.
        folder: the output folder.
        tokenizers: of each language.
        vocab_size: pieces of a sentencepiece model that is trained.
        piece_model: a sentencepiece model to use in place of training one.
        joined: one model and one dictionary for both languages.
        vocabularies: the most words of a language whose tokens are its words, not pieces.
        annotators: annotate the words; called only if annotation is not given.
        resources: the workers.
        on_mismatch: `stop` or `skip` if given annotation has other words.
        attach_roots: see :func:`~syntax_nmt.data.annotation_text.annotation_entries`.
    """

    source: str
    target: str
    splits: Sequence[Split]
    folder: Path
    tokenizers: Mapping[str, Tokenizer]
    vocab_size: int
    piece_model: Path | None
    joined: bool
    annotators: Mapping[AnnotationKind, Callable[[], StanzaAnnotator]]
    resources: Resources
    vocabularies: Mapping[str, int] = field(default_factory=dict)
    on_mismatch: str = STOP
    attach_roots: bool = False

    @property
    def cut_languages(self) -> list[str]:
        """The languages whose words are segmented into pieces."""
        return [lang for lang in self.languages if lang not in self.vocabularies]

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target."""
        return self.source, self.target

    @property
    def workers(self) -> int:
        """Processes."""
        return self.resources.workers

    @property
    def data_bin(self) -> Path:
        """The folder that fairseq reads."""
        return self.folder / "data-bin"

    @property
    def parser_config(self) -> Path:
        """The parser configuration for new text (`--parser-config`)."""
        return self.folder / FILE_NAME

    @property
    def record(self) -> Path:
        """The file that records finished steps."""
        return self.folder / RECORD

    @property
    def segmentation(self) -> dict[str, TextSegmentation]:
        """The segmentation of each language."""
        models = {lang: self.model(lang) for lang in self.cut_languages}
        return {
            lang: TextSegmentation(used.mode, models.get(lang), used.segmenter)
            for lang, used in self.tokenizers.items()
        }

    @property
    def outputs(self) -> list[Path]:
        """The outputs: every file, and the data-bin folder as a whole."""
        found = [self.record, self.parser_config, self.folder / SEGMENTATION]
        found += [self.data_bin, self.data_bin / NAME]
        found += map(self.model, self.cut_languages)
        for split in self.splits:
            for lang in self.languages:
                found += [self.words(split.name, lang), self.pieces(split.name, lang)]
            found += [self.annotation_text(split.name, kind) for kind in KINDS]
        return found

    def language(self, kind: AnnotationKind) -> str:
        """The language that is annotated."""
        return self.source if kind.side == SOURCE else self.target

    def annotation_text(self, split: str, kind: AnnotationKind) -> Path:
        """The annotation of the words of the split of that name."""
        return self.words(split, f"{self.language(kind)}.{kind.ending}")

    def words(self, split: str, lang: str) -> Path:
        """The words of a split in a language.

        Args:
            lang: source or target language.
        """
        return self.folder / "words" / f"{split}.{lang}"

    def pieces(self, split: str, lang: str) -> Path:
        """The pieces of a split in a language.

        Args:
            lang: source or target language.
        """
        return self.folder / "pieces" / f"{split}.{lang}"

    def model(self, lang: str) -> Path:
        """The sentencepiece model of a language.

        Args:
            lang: source or target language.
        """
        if self.piece_model is not None or self.joined:
            return self.folder / "sentencepiece.model"
        return self.folder / f"sentencepiece.{lang}.model"
