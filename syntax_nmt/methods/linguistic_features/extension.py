"""Linguistic features in an encoder of either family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.arguments import named_in
from syntax_nmt.backbone.extension import Source
from syntax_nmt.backbone.rnn_extension import RNNEncoderExtension
from syntax_nmt.backbone.source_factors import (
    END_OF_SENTENCE,
    NO_VALUE,
    UNKNOWN_VALUE,
    Factor,
    SourceFactors,
)
from syntax_nmt.backbone.source_factors import PLACES as PLACE_NAMES
from syntax_nmt.backbone.transformer_extension import TransformerEncoderExtension
from syntax_nmt.data.annotation import COLUMNS
from syntax_nmt.data.annotation.columns import UNKNOWN, named_columns
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.errors import UserError
from syntax_nmt.methods.column_labels import labels_of, take_labels
from syntax_nmt.methods.linguistic_features.options import (
    CONCAT,
    FEATURES,
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
from syntax_nmt.option_checks import check_dropouts

_MERGED = {SUM: merge_sum, CONCAT: merge_concat, OVERWRITE: merge_overwrite}


class SourceFeatures(TransformerEncoderExtension, RNNEncoderExtension):
    """Merges vectors of features with those of the tokens, before scale and positions.

    Attributes:
        names: of :data:`FEATURES`, in order.
        columns: those among them, with their labels.
        dims: m_k of each.
    """

    option = "--source-features"

    def __init__(self, options: LinguisticFeatureOptions, stack: Any) -> None:
        super().__init__(options, stack)
        self.names = named_in(self.option, self.options.source_features, FEATURES, "feature")
        self.merge = options.feature_merge
        check_dropouts(options, ["feature_dropout", "feature_unknown"])
        if self.merge == CONCAT:
            _refuse_other_tables(stack)
        self.dims = _dims(options, self.names, stack.embed_dim)
        self.columns = {
            column: labels_of(options, column, f"--source-features {column.name}")
            for column in COLUMNS
            if column.name in self.names
        }
        self.reads: tuple[AnnotationKind, ...] = tuple(self.columns)
        self.eos, self.pad = stack.dictionary.eos(), stack.dictionary.pad()

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

    def build(self, output_dim: int) -> Mapping[str, nn.Module]:
        """The tables."""
        by_name = {column.name: len(labels) for column, labels in self.columns.items()}
        sizes = [SPECIAL + by_name.get(name, PLACES) for name in self.names]
        dropout = self.options.feature_dropout
        self.tables = FeatureTables(sizes, self.dims, self.stack.embed_dim, dropout)
        return {"feature_tables": self.tables}

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
            spans = source.spans
            columns = torch.arange(source.tokens.size(1), device=source.tokens.device)
            values = places_in_words(spans.first.eq(columns), spans.last.eq(columns))
        else:
            column = next(column for column in self.columns if column.name == name)
            labels = column.tensor_in(source.annotation).long()  # from 1; −1 = none
            if self.options.feature_unknown and self.tables.training:
                drawn = torch.rand_like(labels, dtype=torch.float) < self.options.feature_unknown
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
    names = named_columns(getattr(options, "source_features", None))
    take_labels(options, task, [column for column in COLUMNS if column.name in names])


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


def _dims(options: LinguisticFeatureOptions, names: Sequence[str], width: int) -> tuple[int, ...]:
    if options.feature_merge == SUM:
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
