"""Annotation of source sentences by a parser during translation."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Optional

import numpy as np
from fairseq import utils
from fairseq.data import Dictionary
from torch import Tensor

from syntax_nmt.data.annotation import PARSED_KINDS
from syntax_nmt.data.annotation.kind import AnnotationKind, BatchedText
from syntax_nmt.data.batch import Batch
from syntax_nmt.data.binarised_annotation import BinarisedAnnotation
from syntax_nmt.data.data_bin_names import is_training
from syntax_nmt.data.manifest import read_manifest
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.data.subwords import NO_SUBWORDS, join_pieces, pieces_per_word, vocabulary_scheme
from syntax_nmt.errors import UserError, printable
from syntax_nmt.parsing.config import ConfiguredParsers
from syntax_nmt.parsing.parser import ParserModels
from syntax_nmt.task.typed_input import PiecesOfBatch, unpadded
from syntax_nmt.text.languages import plain_language

logger = logging.getLogger(__name__)

# The pieces of a sentence; None = an unknown piece that has lost its string.
_Spelled = tuple[Optional[str], ...]
_Rows = dict[tuple[AnnotationKind, _Spelled], np.ndarray]

_REMEMBERED = 20_000  # annotations of sentences, one a kind; about 1 kB each


class SourceParser:
    """The source annotation that models read, without files: every kind that a parser supplies.

    Tokens are joined to pieces and pieces to words, and a parser parses the words; the kind
    projects the parse to the pieces. `syntax-nmt parse` and `binarize` do the same with a file,
    with the same result.

    A sentence's tree does not depend on the other sentences of the batch, with one exception:
    Stanza and spaCy parse in batches, so that scores differ by float32 rounding, and if two trees
    tie to that precision, either may result.

    Args:
        dictionary: the source vocabulary.
        made_by: what parsed the training text, by analysis, as far as it is known.
    """

    def __init__(
        self,
        parsers: ConfiguredParsers,
        dictionary: Dictionary,
        made_by: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._parsers = parsers
        self._made_by = dict(made_by)  # of those that are still to be compared
        self.config, self._name = parsers.config, parsers.name
        self._dictionary = dictionary
        self._warned: set[str] = set()
        # Rows in the form of the kind; the most recently used is last.
        self._remembered: _Rows = {}
        self._label_ids: dict[AnnotationKind, tuple[tuple[str, ...], dict[str, int]]] = {}
        self._check_scheme()

    @classmethod
    def read(cls, file: str | Path, task: Any) -> SourceParser:
        """The parsers of a file of `--parser-config`.

        Args:
            task: gives the languages and the source vocabulary.

        Raises:
            UserError: the file has a mistake, or parses the target language.
        """
        cfg = task.cfg
        made_by = _parsers_of(cfg.data, cfg.source_lang)
        parser = cls(ConfiguredParsers.read(file), task.source_dictionary, made_by)
        lang = parser.config.lang
        parsed, source, target = map(plain_language, (lang, cfg.source_lang, cfg.target_lang))
        if parsed == target != source:
            raise UserError(
                f"{file}: lang: parses '{lang}', the target language; the source, which is "
                f"parsed, is '{cfg.source_lang}': give the configuration of its parser"
            )
        return parser

    def find_models(self, kinds: Iterable[AnnotationKind]) -> None:
        """Finds the parsing models without loading them, so that missing ones are reported early.

        Args:
            kinds: kinds without a parser are ignored.

        Raises:
            UserError: models of one of them are missing.
        """
        for kind in kinds:
            if kind.parsed_by is not None:
                self._compare(kind.parsed_by, self._parsers.find(kind.parsed_by))

    def parse(
        self,
        kinds: Sequence[AnnotationKind],
        src_tokens: Tensor,
        typed: PiecesOfBatch | None = None,
        labels: Mapping[AnnotationKind, tuple[str, ...]] = MappingProxyType({}),
    ) -> Batch:
        """What the kinds add to a batch, under their keys, tensors on the tokens' device.

        A sentence is parsed once for all kinds that take the same analysis.

        In fairseq-generate an unknown piece has lost its string, and with it its mark. It then
        counts, rightly or not, as the end of the previous word (sentencepiece) or its own
        (subword-nmt); the parser sees the word without it; piece counts still add up.

        Args:
            kinds: that can be parsed.
            src_tokens: B×S, padded on one side, EOS last.
            typed: gives the pieces of the batch, such as those of typed sentences.
            labels: of kinds that have some, in the order of their ids.

        Raises:
            UserError: models are missing or do not load, or the parser fails on one sentence after
                another.
        """
        self.find_models(kinds)
        for kind in kinds:
            self._number(kind, labels.get(kind, ()))
        pad = self._dictionary.pad()
        tokens = unpadded(src_tokens, pad)
        given = [None] * len(tokens) if typed is None else typed(tokens)
        sentences = [
            # A typed `<pad>` is a piece, but a token that is not read.
            tuple(pieces)
            if pieces is not None and len(pieces) == len(row) - 1
            else self._spelled(row[:-1])
            for row, pieces in zip(tokens, given)
        ]
        sizes = np.array([len(row) for row in tokens])
        left_pad = bool(src_tokens[:, 0].eq(pad).any())
        text = BatchedText(np.arange(len(tokens)), sizes, src_tokens.size(1), left_pad)
        rows = self._rows(kinds, sentences)
        batch: Batch = {}
        for kind in kinds:
            of_kind = RaggedArray.from_rows([rows[kind, pieces] for pieces in sentences])
            batch.update(BinarisedAnnotation(kind, of_kind).batched(text))
            batch[kind.key] = batch[kind.key].to(src_tokens.device)
        return batch

    def trees(self, analysis: str, sentences: Sequence[Sequence[str]]) -> list[Any]:
        """The trees of which :meth:`parse` makes the annotation, over the words of the text.

        Args:
            analysis: `dependencies` or `constituents`.
            sentences: the pieces of each, which are joined to words.

        Returns:
            for each sentence a `DependencyTree` or a `ConstituentTree`; None = it is not parsed.

        Raises:
            UserError: as of :meth:`parse`.
        """
        words = [self._words(tuple(pieces))[0] for pieces in sentences]
        kind = next(kind for kind in PARSED_KINDS if kind.parsed_by == analysis)
        trees: list[Any] = []
        for of_sentence, parsed in zip(words, self._parsers.analyses(analysis, words)):
            tree: Any = None if parsed is None else kind.format.of_analysis(parsed)
            fits = tree is not None and len(tree) == len(of_sentence)
            trees.append(replace(tree, words=tuple(of_sentence)) if fits else None)
        return trees

    def _number(self, kind: AnnotationKind, labels: tuple[str, ...]) -> None:
        """Numbers the labels from 1; rows with other numbers are forgotten."""
        if kind in self._label_ids and self._label_ids[kind][0] == labels:
            return
        ids = {label: number for number, label in enumerate(labels, start=1)}
        self._label_ids[kind] = labels, ids
        for known in [known for known in self._remembered if known[0] == kind]:
            del self._remembered[known]

    def _spelled(self, tokens: Sequence[int]) -> _Spelled:
        unknown = self._dictionary.unk()
        if unknown in tokens and self.config.subwords != NO_SUBWORDS:
            self._warn(
                "unknown pieces hide where words end: their sentences may be parsed as other words "
                "than they have (fairseq-interactive knows the words, side files have the parses: "
                "--load-dependencies, --load-features, --load-phrases, --load-trees)"
            )
        return tuple(None if token == unknown else self._dictionary[token] for token in tokens)

    def _rows(self, kinds: Sequence[AnnotationKind], sentences: Sequence[_Spelled]) -> _Rows:
        """The rows of the sentences; recently parsed ones are not parsed again."""
        rows: _Rows = {}
        for analysis in dict.fromkeys(kind.parsed_by for kind in kinds):
            parsed_alike = [kind for kind in kinds if kind.parsed_by == analysis]
            keys = [(kind, pieces) for pieces in dict.fromkeys(sentences) for kind in parsed_alike]
            unknown = dict.fromkeys(key[1] for key in keys if key not in self._remembered)
            parsed = self._parsed(parsed_alike, unknown)
            for key in keys:
                remembered = self._remembered.pop(key, None)
                rows[key] = parsed[key] if remembered is None else remembered
        self._remembered.update(rows)
        while len(self._remembered) > _REMEMBERED:
            del self._remembered[next(iter(self._remembered))]
        return rows

    def _parsed(self, kinds: Sequence[AnnotationKind], sentences: Iterable[_Spelled]) -> _Rows:
        """The rows of some sentences, all different, for kinds of one analysis."""
        cut = {pieces: self._words(pieces) for pieces in sentences}
        rows = {(kind, pieces): kind.no_row(len(pieces)) for kind in kinds for pieces in cut}
        analysis = kinds[0].parsed_by
        assert analysis is not None
        analyses = self._parsers.analyses(analysis, [words for words, _ in cut.values()])
        for (pieces, (_, counts)), parsed in zip(cut.items(), analyses):
            for kind in kinds if parsed is not None else ():
                annotation = kind.format.of_analysis(parsed)
                if annotation is not None and len(annotation) == len(counts):
                    rows[kind, pieces] = kind.row(annotation, counts, self._label_ids[kind][1])
        return rows

    def _words(self, pieces: _Spelled) -> tuple[list[str], list[int]]:
        """The words and the number of pieces of each; none if a piece has parts of two words."""
        scheme, unknown = self.config.subwords, self._dictionary.unk_word
        marked = [unknown if piece is None else piece for piece in pieces]
        try:
            counts = pieces_per_word(marked, scheme, f"subwords '{scheme}' of {self._name}")
        except UserError as error:
            self._warn(f"{error}; such a sentence counts as not parsed")
            return [], []
        words = join_pieces([piece or "" for piece in pieces], counts, scheme)
        return [word or unknown for word in words], counts

    def _check_scheme(self) -> None:
        """Warns if the vocabulary looks segmented in another way than the configuration says."""
        looks = vocabulary_scheme(self._dictionary)
        if looks != self.config.subwords:
            self._warn(
                f"{self._name}: subwords is '{self.config.subwords}', but the source vocabulary "
                f"looks like '{looks}': wrong words are parsed if it is"
            )

    def _compare(self, analysis: str, models: ParserModels) -> None:
        """Warns once if the training text was parsed by another parser, version or model."""
        recorded = self._made_by.pop(analysis, None)
        if recorded is not None and recorded != models.made_by:
            self._warn(
                f"{self._name}: {analysis} are made by {models.made_by}, those of the training "
                f"text by {printable(recorded[:200])}: the model may read them less well; name "
                "that parser, or prepare the text and train with this one"
            )

    def _warn(self, message: str) -> None:
        """Logs a message once."""
        if message not in self._warned:
            self._warned.add(message)
            logger.warning(message)


def _parsers_of(data: str, source: str) -> dict[str, str]:
    """What parsed the source of the training text, by analysis.

    Args:
        data: the folders that fairseq reads; the first counts.
    """
    manifest = read_manifest(utils.split_paths(data)[0])
    found = {}
    for name, entry in manifest.items():
        split, _, kind_name = name.partition(f".{source}.")
        for kind in PARSED_KINDS:
            if is_training(split) and kind_name == kind.name and entry.parser:
                found[str(kind.parsed_by)] = entry.parser
    return found
