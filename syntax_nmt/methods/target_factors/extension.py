"""Target factors in a decoder of either family: tables, output layers, and what a search keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from itertools import accumulate
from typing import Any, NamedTuple, Optional

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
from syntax_nmt.option_checks import check_dropouts, check_from_zero

NONE = 0  # the id of no value, whose vector is 0 and stays so


class Chosen(NamedTuple):
    """The values that a step of a search chose.

    Attributes:
        ids: B×1×K.
        score: the sum of their log-probabilities, B×1×1; 0 where it does not count.
    """

    ids: Tensor
    score: Tensor


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

    def best(self, logits: Tensor, scored: bool) -> Chosen:
        """The most probable values of a step.

        Args:
            scored: their log-probabilities are wanted, `Σ_k log softmax(z^k)` in float32 at least;
                otherwise the score is 0.
        """
        parts = logits.split(self.sizes, dim=-1)
        best = [each.max(dim=-1, keepdim=True) for each in parts]
        ids = torch.cat([each.indices for each in best], dim=-1) + (self.starts + 1)
        score = torch.zeros_like(logits[..., :1])
        for each, of_factor in zip(best, map(at_least_float32, parts if scored else ())):
            score = score + each.values - of_factor.logsumexp(dim=-1, keepdim=True)
        return Chosen(ids, score)

    def last(self, incremental_state: IncrementalState) -> Optional[Chosen]:
        """What the last step of a search chose; None = there was none."""
        kept = self.get_incremental_state(incremental_state, "last")
        return None if kept is None else Chosen(**kept)

    def keep(self, incremental_state: IncrementalState, chosen: Chosen) -> None:
        """Keeps what was chosen for the next step of a search."""
        self.set_incremental_state(incremental_state, "last", chosen._asdict())

    def reorder_incremental_state(
        self, incremental_state: IncrementalState, new_order: Tensor
    ) -> None:
        """Rearranges the hypotheses of a search; fairseq's decoders call it.

        Args:
            new_order: the row that goes to each place.
        """
        last = self.last(incremental_state)
        if last is not None:
            self.keep(incremental_state, Chosen(*(x.index_select(0, new_order) for x in last)))


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
        check_from_zero(options, ["target_factor_score"])
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
            last = self.tables.last(target.incremental_state)
            ids = None if last is None else last.ids
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
        last, found = self.tables.last(state), self.tables.best(logits, self.joint_score)
        if last is None and self.is_shifted:  # it has read no word yet
            found = Chosen(torch.full_like(found.ids, NONE), torch.zeros_like(found.score))
        self.tables.keep(state, found)
        # A value counts once its word is read: the step that predicts EOS has none.
        counts = found if self.is_shifted else last
        if counts is None or not self.joint_score:
            return {}
        return {JOINT_SCORE: [self.score_weight * counts.score]}

    def chosen(self, incremental_state: IncrementalState) -> Tensor:
        """The ids of the last step, B×K."""
        last = self.tables.last(incremental_state)
        assert last is not None
        return last.ids.squeeze(1)


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
