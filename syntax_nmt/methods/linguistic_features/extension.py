"""Linguistic features in an encoder of either family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.backbone.extension import Source, TransformerEncoderExtension
from syntax_nmt.backbone.rnn_extension import RNNEncoderExtension
from syntax_nmt.backbone.source_factors import (
    END_OF_SENTENCE,
    NO_VALUE,
    UNKNOWN_VALUE,
    Factor,
    SourceFactors,
)
from syntax_nmt.backbone.source_factors import PLACES as PLACE_NAMES
from syntax_nmt.backbone.word_spans import WordSpans
from syntax_nmt.data.annotation import COLUMNS
from syntax_nmt.data.annotation.columns import UNKNOWN, Column
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.errors import UserError
from syntax_nmt.methods.column_labels import labels_of, take_labels
from syntax_nmt.methods.linguistic_features.options import (
    CONCAT,
    FEATURES,
    MERGES,
    OVERWRITE,
    SUBWORD,
    SUM,
    LinguisticFeatureOptions,
)
from syntax_nmt.methods.linguistic_features.tables import (
    EOS,
    NONE,
    PLACES,
    SPECIAL,
    FeatureTables,
    WordPart,
    merge_concat,
    merge_overwrite,
    merge_sum,
    placed,
    places_in_words,
)
from syntax_nmt.option_checks import check_choice, check_dropouts, refuse_changed

_MERGED = {SUM: merge_sum, CONCAT: merge_concat, OVERWRITE: merge_overwrite}
_OF_FEATURES = ("feature_merge", "feature_dims", "feature_dropout", "feature_unknown")


class SourceFeatures(TransformerEncoderExtension, RNNEncoderExtension):
    """Merges vectors of features with those of the tokens, before scale and positions.

    Args:
        names: of :data:`FEATURES`, in order.
        labels: of the columns among them.
        merge: one of :data:`MERGES`.
        dims: m_k of each.
        dropout: the probability that a value counts as none in training.
        unknown: the probability that a value in a column counts as `<unk>` in training.
        stack: a `TransformerStack` or an `RNNEncoderStack`.
    """

    option = "--source-features"

    def __init__(
        self,
        names: Sequence[str],
        labels: Mapping[Column, tuple[str, ...]],
        merge: str,
        dims: Sequence[int],
        dropout: float,
        unknown: float,
        stack: Any,
    ) -> None:
        self.names, self.columns, self.merge = names, labels, merge
        self.dims, self.dropout, self.unknown, self.stack = dims, dropout, unknown, stack
        self.reads: tuple[AnnotationKind, ...] = tuple(labels)
        self.spans = WordSpans(stack.dictionary) if SUBWORD in names else None
        self.eos, self.pad = stack.dictionary.eos(), stack.dictionary.pad()

    @classmethod
    def of(cls, options: LinguisticFeatureOptions, stack: Any) -> SourceFeatures | None:
        """The extension that the options describe; None = it is off.

        Raises:
            UserError: options that contradict each other.
        """
        if options.source_features is None:
            refuse_changed(options, _OF_FEATURES, "--source-features, such as upos,deprel")
            return None
        names = _names(options.source_features)
        check_choice("feature_merge", options.feature_merge, MERGES)
        check_dropouts(options, ["feature_dropout", "feature_unknown"])
        merge = str(options.feature_merge)
        if merge == CONCAT:
            _refuse_other_tables(stack)
        dims = _dims(options, names, merge, stack.embed_dim)
        labels = {
            column: labels_of(options, column, f"--source-features {column.name}")
            for column in COLUMNS
            if column.name in names
        }
        shares = options.feature_dropout, options.feature_unknown
        return cls(names, labels, merge, dims, *shares, stack)

    @property
    def labels(self) -> Mapping[AnnotationKind, tuple[str, ...]]:
        """The values of each column."""
        return {column: labels for column, labels in self.columns.items()}

    def word_table(self, embed_tokens: nn.Embedding) -> nn.Embedding:
        """The table of the tokens, narrower where features stand beside them.

        Args:
            embed_tokens: V×E.
        """
        if self.merge != CONCAT:
            return embed_tokens
        rows, width = embed_tokens.weight.shape
        return WordPart(rows, width - sum(self.dims), width, self.pad)

    def modules(self, output_dim: int) -> Mapping[str, nn.Module]:
        """The tables."""
        by_name = {column.name: len(labels) for column, labels in self.columns.items()}
        sizes = [SPECIAL + by_name.get(name, PLACES) for name in self.names]
        self.tables = FeatureTables(sizes, self.dims, self.stack.embed_dim, self.dropout)
        modules: dict[str, nn.Module] = {"feature_tables": self.tables}
        if self.spans is not None:
            modules["feature_spans"] = self.spans
        return modules

    def source_factors(self, words: Tensor) -> SourceFactors:
        """Every merge is a sum: vectors are zero where those of others stand."""
        width, is_sum = self.stack.embed_dim, self.merge == SUM
        kept = width if is_sum else width - sum(self.dims)
        starts = [0 if is_sum else kept + sum(self.dims[:k]) for k in range(len(self.dims))]
        tables = [weight.detach() for weight in self.tables.parameters()]
        wide = [placed(table, start, width) for table, start in zip(tables, starts)]
        return SourceFactors(
            placed(words.detach()[:, :kept], 0, width),
            tuple(map(self._factor, self.names, wide)),
            ("feature_tables",),
        )

    def _factor(self, name: str, table: Tensor) -> Factor:
        column = next((column for column in self.columns if column.name == name), None)
        labels = PLACE_NAMES if column is None else self.columns[column]
        values = (NO_VALUE, END_OF_SENTENCE, *labels)
        if UNKNOWN_VALUE not in values:
            values = (*values, UNKNOWN_VALUE)
            table = nn.functional.pad(table, (0, 0, 0, 1))
        return Factor(column, values, table)

    def embed(self, embedded: Tensor, source: Source) -> Tensor:
        """The merged vectors, B×S×C.

        Args:
            embedded: B×S×C, or B×S×m_1 beside which features stand.

        Raises:
            UserError: annotation is missing.
        """
        vectors = self.tables([self._values(name, source) for name in self.names])
        return _MERGED[self.merge](embedded, vectors)

    def _values(self, name: str, source: Source) -> Tensor:
        """The ids of a feature, B×S."""
        if name == SUBWORD:
            assert self.spans is not None
            spans = self.spans(source.tokens)
            columns = torch.arange(source.tokens.size(1), device=source.tokens.device)
            values = places_in_words(spans.first.eq(columns), spans.last.eq(columns))
        else:
            column = next(column for column in self.columns if column.name == name)
            labels = column.tensor_in(source.annotation).long()  # from 1; −1 = none
            if self.unknown and self.tables.training:
                drawn = torch.rand_like(labels, dtype=torch.float) < self.unknown
                unknown = self.columns[column].index(UNKNOWN) + 1
                labels = labels.masked_fill(drawn & (labels > 0), unknown)
            values = (labels + (SPECIAL - 1)).masked_fill(labels < 0, NONE)
        values = values.masked_fill(source.tokens.eq(self.eos), EOS)
        return values.masked_fill(source.padding, NONE)


def take_feature_labels(options: Any, task: FairseqTask) -> None:
    """Gives a model the values of its columns in the data, unless they are given.

    Args:
        options: of the model, a namespace; changed in place.
    """
    names = _names(getattr(options, "source_features", None) or "", check=False)
    take_labels(options, task, [column for column in COLUMNS if column.name in names])


def _names(text: str, check: bool = True) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    for name in names if check else ():
        if name not in FEATURES:
            raise UserError(
                f"--source-features {text}: {name!r} is no feature: give {', '.join(FEATURES)}"
            )
        if names.count(name) > 1:
            raise UserError(f"--source-features {text}: {name} twice: give each feature once")
    return names


def _refuse_other_tables(stack: Any) -> None:
    """Refuses a table of tokens that is not the encoder's own to narrow."""
    given = {
        "--share-all-embeddings": stack.shares_embeddings,
        "--encoder-embed-path": stack.has_given_embeddings,
    }
    for option, is_given in given.items():
        if is_given:
            raise UserError(
                f"{option} cannot be combined with --feature-merge concat, which narrows the "
                f"source's embeddings: leave {option} out, or give --feature-merge sum"
            )


def _dims(
    options: LinguisticFeatureOptions, names: Sequence[str], merge: str, width: int
) -> tuple[int, ...]:
    if merge == SUM:
        refuse_changed(options, ["feature_dims"], "--feature-merge concat or overwrite")
        return (width,) * len(names)
    text = options.feature_dims
    try:
        dims = tuple(int(part) for part in (text or "").split(","))
    except ValueError:
        dims = ()
    if len(dims) != len(names) or min(dims, default=0) < 1 or sum(dims) >= width:
        raise UserError(
            f"--feature-dims {text or 'is missing'}: give {len(names)} widths with commas "
            f"between, one for each of {', '.join(names)}, together less than the {width} of the "
            "embeddings"
        )
    return dims
