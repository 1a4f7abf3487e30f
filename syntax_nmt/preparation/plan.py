"""The plan of a preparation: inputs, settings, and outputs, which overwrite no file of the user."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path

from syntax_nmt.data.annotation import CHUNKS, HEADS, PREPARED_KINDS, TARGET_COLUMNS, TARGET_HEADS
from syntax_nmt.data.annotation.columns import FEATURE_THRESHOLD, LISTING, Column, check_columns
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.manifest import NAME
from syntax_nmt.data.prepared_text import FILE_NAME as SEGMENTATION
from syntax_nmt.data.prepared_text import RECORD, TextSegmentation
from syntax_nmt.data.word_annotation import STOP
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.config import FILE_NAME
from syntax_nmt.preparation.annotators.annotate import Resources
from syntax_nmt.preparation.annotators.annotator import Annotator
from syntax_nmt.preparation.linearising import Linearising
from syntax_nmt.preparation.splits import Split, prefix_options
from syntax_nmt.preparation.steps import recorded_steps
from syntax_nmt.preparation.tokenize import Tokenizer
from syntax_nmt.text.languages import SOURCE, TARGET

LABEL_COUNTS = "labels.json"
"""The file in the folder of a shard that counts its labels, until they are those of the corpus."""


def columns_by_file(
    features: str | None, target_features: str | None
) -> dict[AnnotationKind, tuple[Column, ...]]:
    """The columns of both options, by the kind whose files have them.

    Args:
        features: columns of the source with commas between; `target_features` of the target.

    Raises:
        UserError: as of :func:`check_columns`.
    """
    of_target = check_columns(target_features, LISTING[TARGET], TARGET_COLUMNS)
    return {
        HEADS: check_columns(features, LISTING[SOURCE]),
        **{
            kind: tuple(column for column in of_target if column.format == kind.format)
            for kind in (TARGET_HEADS, CHUNKS)
        },
    }


@dataclass(frozen=True)
class OfCorpus:
    """What a shard has in common with the other shards of its corpus.

    Attributes:
        vocabulary: a prepared folder, that of a sample, with the models and dictionaries.
        labels: a folder with the lists of labels; None = they are not known yet, and this shard's
            labels are counted.
    """

    vocabulary: Path
    labels: Path | None = None


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
        given: the annotation next to the raw text, by the name of the split and kind.
        resources: the workers.
        on_mismatch: `stop` or `skip` if given annotation has other words.
        attach_roots: attaches further roots of a parse to its first one with letters.
        features: columns of the source's CoNLL-U to binarise, too, with commas between.
        target_features: those of the target's, likewise.
        feature_threshold: values of them that training has less often are `<unk>`.
        linearised: how parses become text; None = they do not.
        corpus: of which this is a shard; None = it is all of its corpus.
    """

    source: str
    target: str
    splits: Sequence[Split]
    folder: Path
    tokenizers: Mapping[str, Tokenizer]
    vocab_size: int
    piece_model: Path | None
    joined: bool
    annotators: Mapping[AnnotationKind, Callable[[], Annotator]]
    given: Mapping[tuple[str, AnnotationKind], Path]
    resources: Resources
    vocabularies: Mapping[str, int] = field(default_factory=dict)
    on_mismatch: str = STOP
    attach_roots: bool = False
    features: str | None = None
    target_features: str | None = None
    feature_threshold: int = FEATURE_THRESHOLD
    linearised: Linearising | None = None
    corpus: OfCorpus | None = None

    @property
    def cut_languages(self) -> list[str]:
        """The languages whose words are segmented into pieces."""
        return [lang for lang in self.languages if lang not in self.vocabularies]

    @property
    def kinds(self) -> Sequence[AnnotationKind]:
        """The annotation of words that is wanted: all, or trees that become text."""
        return PREPARED_KINDS if self.linearised is None else (self.linearised.kind,)

    @property
    def columns(self) -> dict[AnnotationKind, tuple[Column, ...]]:
        """The columns to binarise, by the kind whose files have them."""
        return columns_by_file(self.features, self.target_features)

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
    def label_counts(self) -> Path | None:
        """The file with this shard's labels; None = their list is known, or the folder's own."""
        unknown = self.corpus is not None and self.corpus.labels is None
        return self.folder / LABEL_COUNTS if unknown else None

    @property
    def parser_config(self) -> Path:
        """The parser configuration for new text (`--parser-config`)."""
        return self.folder / FILE_NAME

    @property
    def piece_prefixes(self) -> dict[str, str]:
        """The prefixes of the splits' pieces, by option of the programs that binarise them."""
        return prefix_options(self.folder / "pieces", [split.name for split in self.splits])

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
                found.append(self.text(split.name, lang))
            found += [self.annotation_text(split.name, kind) for kind in self.kinds]
        return found

    def language(self, kind: AnnotationKind) -> str:
        """The language that is annotated: of trees that become text, the one that is parsed."""
        if self.linearised is not None and kind == self.linearised.kind:
            return self.source if self.linearised.side == SOURCE else self.target
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

    def text(self, split: str, lang: str) -> Path:
        """The text that is cut into pieces: the words, or words and brackets.

        Args:
            lang: source or target language.
        """
        folder = "words" if self.linearised is None else "linearised"
        return self.folder / folder / f"{split}.{lang}"

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


def refuse_to_overwrite(plan: Plan, models: Iterable[Path]) -> None:
    """Refuses outputs that would overwrite other files.

    Args:
        plan: the planned outputs.
        models: files and folders that it reads in addition to the text.

    Raises:
        UserError: an input would be overwritten, or is in the data-bin folder, which is replaced as
            a whole; or that folder contains other files, or data of the other direction.
    """
    outputs = {path.resolve(): path for path in plan.outputs}
    for given in _texts(plan):
        if given.resolve() in outputs:
            link = outputs[given.resolve()]
            remove = f"remove {link}, which leads to it, or " if link.is_symlink() else ""
            raise UserError(f"{given} would be overwritten: {remove}give another --destdir")
    data_bin = plan.data_bin.resolve()
    for path in (*_texts(plan), *models):
        if path.resolve().is_relative_to(data_bin):
            raise UserError(
                f"{path} lies in {plan.data_bin}, which is made anew as a whole: move it, or give "
                "another --destdir"
            )
    turned = f"{plan.target}-{plan.source}"
    if any(plan.data_bin.glob(f"*.{escape(turned)}.*.idx")):
        raise UserError(
            f"{plan.data_bin}: is for {turned}, and models trained on it would be given "
            f"{plan.source} to translate: give another --destdir for {plan.source}-{plan.target}"
        )
    if _is_of_another(plan):
        raise UserError(
            f"{plan.data_bin}: would be replaced, and {plan.record} does not tell that `syntax-nmt "
            "prepare` made it: give another --destdir, or remove it"
        )


def _texts(plan: Plan) -> Iterator[Path]:
    """The raw text and its annotation."""
    for split in plan.splits:
        yield from (split.source, split.target)
    yield from plan.given.values()


def _is_of_another(plan: Plan) -> bool:
    """Whether there is a data-bin that is not an earlier run's."""
    if not plan.data_bin.is_dir():
        return plan.data_bin.exists()
    if not any(plan.data_bin.iterdir()):
        return False
    # A run that was killed may have made it and not have written that down; the pieces are on
    # record then. A record that is damaged tells nothing, but that there was a run.
    steps = recorded_steps(plan.record)
    return steps is not None and not any(name.startswith(("data-bin", "pieces/")) for name in steps)
