"""Target factors in a decoder of either family: tables, output layers, and what a search keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from itertools import accumulate
from typing import Any, Optional

import torch
from fairseq.incremental_decoding_utils import FairseqIncrementalState
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.backbone.extension import Target
from syntax_nmt.backbone.fused_attention import IncrementalState
from syntax_nmt.backbone.numerics import at_least_float32, with_gradients_of
from syntax_nmt.backbone.rnn_extension import RNNDecoderExtension
from syntax_nmt.backbone.structures import FACTORS, JOINT_SCORE, TARGET_FACTORS, PredictedFactor
from syntax_nmt.backbone.transformer_extension import TransformerDecoderExtension
from syntax_nmt.data.annotation import TARGET_COLUMNS
from syntax_nmt.data.annotation.columns import check_columns
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.batch import ModelExtra
from syntax_nmt.errors import UserError
from syntax_nmt.methods.column_labels import labels_of, take_labels
from syntax_nmt.methods.target_factors.options import OWN, READ, TargetFactorOptions
from syntax_nmt.option_checks import check_dropouts

NONE = 0  # the id of no value, whose vector is 0 and stays so


class FactorTables(FairseqIncrementalState, nn.Module):
    """The embeddings E_k and the output layers W_k of all factors, one matrix each.

    The value v of factor k, counted from 1, has the id `1 + V_1 + … + V_{k−1} + (v − 1)`.

    Args:
        sizes: V_k.
        embed_dim: E; None = values are not read.
        feature_dim: F, width of what the output layer reads.
    """

    starts: Tensor
    output: nn.Linear
    table: nn.Embedding
    get_incremental_state: Callable[..., Any]
    set_incremental_state: Callable[..., Any]

    def __init__(self, sizes: Sequence[int], embed_dim: Optional[int], feature_dim: int) -> None:
        super().__init__()
        self.sizes = tuple(sizes)
        starts = [0, *accumulate(sizes)][:-1]
        self.register_buffer("starts", torch.tensor(starts), persistent=False)
        self.output = nn.Linear(feature_dim, sum(sizes))
        if embed_dim is not None:
            self.table = nn.Embedding(1 + sum(sizes), embed_dim, padding_idx=NONE)
            nn.init.normal_(self.table.weight, std=embed_dim**-0.5)  # as the words'
            nn.init.zeros_(self.table.weight[NONE])

    def ids(self, values: Tensor) -> Tensor:
        """The ids, B×T×K.

        Args:
            values: from 1, less = none, B×T×K.
        """
        return (values + self.starts).masked_fill(values < 1, NONE)

    def vectors(self, ids: Tensor) -> Tensor:
        """`Σ_k E_k`, B×T×E of B×T×K."""
        return self.table(ids).sum(dim=-2)

    def logits(self, features: Tensor) -> Tensor:
        """The logits of all factors beside each other, B×T×(V_1 + … + V_K)."""
        return self.output(features)

    def best(self, logits: Tensor) -> Tensor:
        """The ids of the most probable values, B×T×K."""
        values = [each.argmax(dim=-1) for each in logits.split(self.sizes, dim=-1)]
        return torch.stack(values, dim=-1) + (self.starts + 1)

    def best_score(self, logits: Tensor) -> Tensor:
        """`Σ_k log softmax(z^k)` of the most probable values, B×T×1 in float32 at least."""
        parts = at_least_float32(logits).split(self.sizes, dim=-1)
        found = [x.amax(dim=-1, keepdim=True) - x.logsumexp(dim=-1, keepdim=True) for x in parts]
        return torch.stack(found).sum(dim=0)

    def last(self, incremental_state: IncrementalState) -> Optional[Tensor]:
        """The ids that the last step of a search chose, B×1×K; None = there was none."""
        kept = self.get_incremental_state(incremental_state, "last")
        return None if kept is None else kept["ids"]

    def keep(self, incremental_state: IncrementalState, ids: Tensor) -> None:
        """Keeps the ids for the next step of a search."""
        self.set_incremental_state(incremental_state, "last", {"ids": ids})

    def reorder_incremental_state(
        self, incremental_state: IncrementalState, new_order: Tensor
    ) -> None:
        """Rearranges the hypotheses of a search; fairseq's decoders call it.

        Args:
            new_order: the row that goes to each place.
        """
        ids = self.last(incremental_state)
        if ids is not None:
            self.keep(incremental_state, ids.index_select(0, new_order))


class TargetFactors(TransformerDecoderExtension, RNNDecoderExtension):
    """Predicts values of the target's words, and reads those that the step before chose.

    Attributes:
        columns: with their labels, in order.
    """

    option = "--target-factors"
    structures = (FACTORS,)

    def __init__(self, options: TargetFactorOptions, stack: Any) -> None:
        super().__init__(options, stack)
        check_dropouts(options, ["target_factor_dropout"])
        names = check_columns(options.target_factors, self.option, TARGET_COLUMNS)
        self.columns = {
            column: labels_of(options, column, f"{self.option} {column.column}") for column in names
        }
        self.learns: tuple[AnnotationKind, ...] = names
        self.reads: tuple[AnnotationKind, ...] = (
            names if options.target_factor_inputs == OWN else ()
        )
        self.is_shifted = options.target_factor_shift == READ
        self.score_weight = options.target_factor_score
        self.joint_score = self.score_weight != 0

    @property
    def labels(self) -> Mapping[AnnotationKind, tuple[str, ...]]:
        """The values of each column."""
        return {column: labels for column, labels in self.columns.items()}

    @property
    def training_modules(self) -> tuple[str, ...]:
        """The tables, unless a search reads them."""
        return () if self.reads else ("target_factor_tables",)

    def build(self, output_dim: int) -> Mapping[str, nn.Module]:
        """The tables.

        Args:
            output_dim: width of what the output layer reads.
        """
        embed_dim = self.stack.embed_dim if self.reads else None
        self.tables = FactorTables([*map(len, self.columns.values())], embed_dim, output_dim)
        return {"target_factor_tables": self.tables}

    def embed(self, embedded: Tensor, target: Target) -> Tensor:
        """The word's vector plus those of the values that the row before chose, B×T×E."""
        if self.tables.training and torch.is_grad_enabled():
            # Without a loss of factors their output layers would not be part of the graph.
            output = self.tables.output
            embedded = with_gradients_of(embedded, [output.weight, output.bias])
        if not self.reads:
            return embedded
        if target.incremental_state is None:
            ids: Optional[Tensor] = self._ids_of_whole_targets(target)
        else:
            ids = self.tables.last(target.incremental_state)
        return embedded if ids is None else embedded + self.tables.vectors(ids)

    def _ids_of_whole_targets(self, target: Target) -> Tensor:
        """What each row reads, B×T×K."""
        chosen = target.chosen.get(self.option)
        if chosen is None:
            values = [column.tensor_in(target.annotation) for column in self.columns]
            chosen = self.tables.ids(torch.stack(values, dim=-1).long())
            if self.is_shifted:  # the first row has read no word yet
                chosen = _later(chosen)
        dropout = self.options.target_factor_dropout
        if dropout and self.tables.training:
            drawn = torch.rand_like(chosen, dtype=torch.float) < dropout
            chosen = chosen.masked_fill(drawn, NONE)
        return _later(chosen)

    def predictions(self, features: Tensor, target: Target) -> ModelExtra:
        """A :class:`PredictedFactor` for each column; a search keeps the values, and scores them.

        Args:
            features: B×T×F.
        """
        state = target.incremental_state
        if state is None:
            logits = self.tables.logits(features)
            if self.is_shifted:  # row r + 1 has the value of the word that row r predicts
                logits = logits.roll(-1, dims=1)
            parts = logits.split(self.tables.sizes, dim=-1)
            return {
                TARGET_FACTORS: [
                    PredictedFactor(column, labels, part)
                    for (column, labels), part in zip(self.columns.items(), parts)
                ]
            }
        if not self.reads:
            return {}
        logits = self.tables.logits(features)
        ids = self.tables.best(logits)
        if self.is_shifted and self.tables.last(state) is None:  # it has read no word yet
            self.tables.keep(state, torch.full_like(ids, NONE))
            return {}
        self.tables.keep(state, ids)
        if not self.joint_score:
            return {}
        return {JOINT_SCORE: [self.score_weight * self.tables.best_score(logits)]}

    def chosen(self, incremental_state: IncrementalState) -> Tensor:
        """The ids of the last step, B×K."""
        ids = self.tables.last(incremental_state)
        assert ids is not None
        return ids.squeeze(1)


def _later(ids: Tensor) -> Tensor:
    """The ids of the row before in each row, none in the first, B×T×K."""
    return nn.functional.pad(ids[:, :-1], (0, 0, 1, 0), value=NONE)


def same_without_inputs(options: Any) -> tuple[str, ...]:
    """The options of factors that change nothing in translation, where no step reads a value."""
    if str(getattr(options, "target_factor_inputs", OWN)) == OWN:
        return ()
    return tuple(
        field.name for field in fields(TargetFactorOptions) if field.name.startswith("target_")
    )


def take_factor_labels(options: Any, task: FairseqTask) -> None:
    """Gives a model the values of its columns in the data, unless they are given.

    Args:
        options: of the model, a namespace; changed in place.

    Raises:
        UserError: no column or an unknown one, or targets are padded on the left.
    """
    text = getattr(options, "target_factors", None)
    if text is None:
        return
    if not text:
        raise UserError(f"{TargetFactors.option} names no column: give some, or leave it out")
    if getattr(task.cfg, "left_pad_target", False):
        raise UserError(
            "--left-pad-target: steps of a search do not skip pads, so that factors depended on "
            "the batch; leave it out, or --target-factors"
        )
    take_labels(options, task, check_columns(text, TargetFactors.option, TARGET_COLUMNS))
