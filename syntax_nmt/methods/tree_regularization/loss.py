"""Tree regularization: how well states tell where each constituent is split."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from fairseq.tasks import FairseqTask
from torch import Tensor

from syntax_nmt.backbone.numerics import at_least_float32
from syntax_nmt.backbone.tree_pointers import node_spans
from syntax_nmt.backbone.word_spans import WordSpans
from syntax_nmt.data.annotation import TARGET_TREES, TREES
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.batch import Batch, Logged, ModelExtra, source_tokens
from syntax_nmt.errors import UserError
from syntax_nmt.methods.objective import (
    AuxiliaryObjective,
    detached_sum,
    gold_in,
    log_average,
    log_percentage,
)

SOURCE_STATES, TARGET_STATES = "tree_reg_states", "target_tree_reg_states"
_SIDES = ((SOURCE_STATES, "tree_reg", TREES), (TARGET_STATES, "target_tree_reg", TARGET_TREES))
_LEAST = 1e-6  # of squared norms: below, the gradient of the root would be too large


class TreeRegularization(AuxiliaryObjective):
    """`w · Σ_spans −log softmax_k(z)[split]`, of each side whose states a model gives.

    A span may be split before each of its words but the first. Spans of one split do not count.

    Args:
        weight: w.
        of_source: finds the words of the source.
        of_target: finds the words of the target.
    """

    reads_annotation = (TREES, TARGET_TREES)
    options = "--criterion tree_reg_cross_entropy, or --tree-reg-weight to syntax_cross_entropy"

    def __init__(self, weight: float, of_source: WordSpans, of_target: WordSpans) -> None:
        self.weight = weight
        self._words: dict[AnnotationKind, WordSpans] = {TREES: of_source, TARGET_TREES: of_target}

    @classmethod
    def from_options(cls, options: Any, task: FairseqTask) -> TreeRegularization | None:
        """Builds the objective; None = its weight is 0."""
        weight = options.tree_reg_weight
        if weight == 0:
            return None
        words = WordSpans(task.source_dictionary), WordSpans(task.target_dictionary)
        return cls(weight, *words)

    def __call__(self, extra: ModelExtra, sample: Batch) -> tuple[Tensor, Logged]:
        """Computes the loss of a batch.

        Args:
            extra: has states of tokens, B×S×C', as extensions give them.
            sample: has trees of the same side.

        Returns:
            the weighted loss summed over spans, and sums for the log.

        Raises:
            UserError: the model gives no states, also of a target whose trees are loaded; or the
                batch has no trees.
        """
        sides = [side for side in _SIDES if side[0] in extra]
        if not sides:
            raise UserError(
                "tree regularization needs the states of a layer: give --arch "
                "tree_reg_transformer, or --tree-reg-layer -1 to another one that has a "
                "Transformer encoder (--target-tree-reg-layer: decoder)"
            )
        if TARGET_TREES.key in sample and TARGET_STATES not in extra:
            raise UserError(
                f"no layer of the decoder learns the {TARGET_TREES.description} that "
                f"{TARGET_TREES.flag} loads: give --target-tree-reg-layer, or leave "
                f"{TARGET_TREES.flag} out"
            )
        total = sample["target"].new_zeros((), dtype=torch.float32)
        logs: Logged = {}
        for states, name, kind in sides:
            tokens = source_tokens(sample) if kind == TREES else sample["target"]
            losses, right, counts = self._of_side(extra[states], tokens, kind, sample)
            total = total + losses.sum()
            logs.update(zip(_logged(name), map(detached_sum, (losses, right, counts))))
        return self.weight * total, logs

    def _of_side(
        self, states: Tensor, tokens: Tensor, kind: AnnotationKind, sample: Batch
    ) -> tuple[Tensor, Tensor, Tensor]:
        """See :func:`split_losses`."""
        words = self._words[kind].to(tokens.device)
        real = tokens.ne(words.pad)
        begins = real & ~F.pad(real[:, :-1], (1, 0))  # no token before it: pads may stand left
        trees = gold_in(sample, kind, "tree regularization")
        return split_losses(states, trees, words.openers(tokens), begins)

    @staticmethod
    def log(total: Callable[[str], float]) -> None:
        """Logs the loss of a span, in bits, and the share of spans whose split scores highest.

        Args:
            total: gives the sum of one logged key over all batches and workers.
        """
        for _, name, _ in _SIDES:
            loss, right, spans = map(total, _logged(name))
            log_average(f"{name}_loss", loss, spans)
            log_percentage(f"{name}_splits", right, spans)


def _logged(name: str) -> tuple[str, str, str]:
    """Keys of sums: loss, spans whose split scores highest, and spans."""
    return f"{name}_loss", f"{name}_right", f"{name}_spans"


def split_losses(
    states: Tensor, trees: Tensor, opens: Tensor, begins: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The loss of the split of each constituent.

    Args:
        states: h, B×S×C'.
        trees: B×P×3, of :meth:`~syntax_nmt.data.annotation.trees.Trees.collate`.
        opens: B×S, True = a token begins a word.
        begins: B×S, True = a token begins its sentence.

    Returns:
        B×P each: the loss, 0 where a span does not count; True = a span counts and its split scores
        highest; True = a span counts.
    """
    width = states.size(1)
    nodes = node_spans(trees, width)
    first, last = nodes.first[:, width:].unsqueeze(2), nodes.last[:, width:].unsqueeze(2)
    split = nodes.last.gather(1, trees[..., 0].long().clamp(min=0)).unsqueeze(2)
    columns = torch.arange(width, device=states.device)
    # B×P×S: True = a span may be split after a column, since the next token begins a word of it.
    possible = columns.ge(first) & columns.lt(last) & opens.roll(-1, 1).unsqueeze(1)
    counts = possible.gather(2, split).squeeze(2) & possible.sum(dim=2).gt(1)
    counts &= trees[..., 2].ge(0)
    logits = split_logits(contextual_independence(states, begins), first, last)
    # A softmax needs an open column: spans that do not count have all.
    logits = logits.masked_fill(~possible & counts.unsqueeze(2), float("-inf"))
    losses = -logits.log_softmax(dim=2).gather(2, split).squeeze(2)
    right = logits.argmax(dim=2, keepdim=True).eq(split).squeeze(2) & counts
    return losses.masked_fill(~counts, 0), right, counts


def contextual_independence(states: Tensor, begins: Tensor) -> Tensor:
    """o(s, e), B×S×S: the norm of the part of h_e that is orthogonal to h_{s−1}.

    `o(s, e) = |h_e − (h_e · u) u|` with `u = h_{s−1} / |h_{s−1}|`; 0 where s begins the sentence.
    Its square, `|h_e|² − (h_{s−1} · h_e)² / |h_{s−1}|²`, needs only the product of all states.

    Args:
        states: h, B×S×C'.
        begins: B×S, True = a token begins its sentence.

    Returns:
        in float32 at least; rows and columns of pads have no meaning.
    """
    states = at_least_float32(states)
    with torch.autocast(states.device.type, enabled=False):
        products = states @ states.transpose(1, 2)
    squares = products.diagonal(dim1=1, dim2=2)
    along = products.roll(1, 1).square() / squares.roll(1, 1).clamp(min=_LEAST).unsqueeze(2)
    rest = (squares.unsqueeze(1) - along).clamp(min=_LEAST).sqrt()
    return rest.masked_fill(begins.unsqueeze(2), 0)


def split_logits(independence: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """z_k = o(s, k) + o(k + 1, e) + o(k + 1, k + 1) of spans from s to e, B×P×S.

    The summand o(e + 1, e + 1) is the same for all k and is left out. Products with zeros and ones
    choose the rows: the gradient of a gather adds in no fixed order on a GPU.

    Args:
        independence: o, B×S×S.
        first: s, B×P×1.
        last: e, B×P×1.
    """
    columns = torch.arange(independence.size(1), device=first.device)
    following = independence.roll(-1, 1)  # row k: o(k + 1, ·)
    with torch.autocast(first.device.type, enabled=False):
        left = first.eq(columns).type_as(independence) @ independence
        right = last.eq(columns).type_as(independence) @ following.transpose(1, 2)
    own = independence.diagonal(dim1=1, dim2=2).roll(-1, 1)
    return left + right + own.unsqueeze(1)
