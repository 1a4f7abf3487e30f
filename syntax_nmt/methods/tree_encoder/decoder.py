"""A decoder that attends to the nodes of trees."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from syntax_nmt.backbone.additive_attention import AttentionMemory
from syntax_nmt.backbone.attentive_recurrence import AttentiveGRU, Recurrence
from syntax_nmt.backbone.extension import Target
from syntax_nmt.backbone.numerics import with_gradients_of
from syntax_nmt.backbone.repeated_product import repeated
from syntax_nmt.backbone.rnn_decoder import RNNDecoder, Steps
from syntax_nmt.methods.tree_encoder.coverage import Coverage, CoverageSteps

CHILDREN = "tree_children"
_COVERAGE = "coverage"


@dataclass(frozen=True)
class TreeMemory(AttentionMemory):
    """The memory of words and phrases.

    Attributes:
        children: B×P×2, the columns of the children of the last P states; −1 = none.
        covered: B×N×3·dim, what coverage reads of the encoder's states; 0 wide without coverage.
    """

    children: Tensor
    covered: Tensor


class NodeGRU(Recurrence):
    """The steps of an RNN decoder over the nodes of trees, with or without coverage.

    Args:
        steps: of RNNsearch or RNNsearch*.
        coverage: None = attention forgets what it has attended to.
    """

    reads = (CHILDREN,)
    memory = TreeMemory

    def __init__(self, steps: AttentiveGRU, coverage: Coverage | None) -> None:
        super().__init__()
        self.state_dim = steps.state_dim
        self.steps, self.coverage = steps, coverage

    def remember(self, encoded: Tensor, padding: Tensor, **further: Tensor) -> TreeMemory:
        """The source input of all steps.

        Args:
            encoded: B×N×M.
            padding: B×N, True = nothing.
            **further: B×P×2 columns of the children of the last P states; −1 = none.
        """
        memory = self.steps.remember(encoded, padding)
        covered = encoded[..., :0]
        if self.coverage is not None:
            covered = self.coverage.annotation(encoded)
        return TreeMemory(
            **{field.name: getattr(memory, field.name) for field in fields(memory)},
            children=further[CHILDREN],
            covered=covered,
        )

    def forward(
        self, words: Tensor, state: Tensor, coverage: Tensor | None, memory: TreeMemory
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """All steps of given words.

        Args:
            words: T×R×E, of R hypotheses.
            state: R×C, before the first step.
            coverage: R×N×dim, before it; None = it is the first of the sentence.
            memory: of :meth:`remember`; R is a multiple of its number of sentences.

        Returns:
            the states T×R×C, the attention weights T×R×N, and coverage after the last step.
        """
        if self.coverage is None:
            return *self.steps(words, state, memory), None
        sentences = len(memory.keys)
        if coverage is None:
            nodes = memory.padding.size(1)
            coverage = memory.keys.new_zeros(len(state), nodes, self.coverage.dim)
        vectors = coverage.unflatten(0, (sentences, -1))  # B×K×N×dim
        states, weights = [], []
        covering = CoverageSteps(
            self.coverage, memory.covered, memory.children, hypotheses=vectors.size(1)
        )
        with repeated(*self.steps.step_layers(), *self.coverage.step_layers()):
            for inputs in self.steps.input_projection(words).unbind():
                keys, hidden = covering.read(vectors)
                new, attended = self.steps.step(inputs, state, _with_added_keys(memory, keys))
                grouped = (x.unflatten(0, (sentences, -1)) for x in (attended, state))
                vectors = covering.after(vectors, hidden, *grouped)
                state = new
                states.append(state)
                weights.append(attended)
        coverage = vectors.flatten(0, 1)
        # The last coverage is read by nothing in training; its parameters take part all the same.
        states[-1] = with_gradients_of(states[-1], [coverage])
        return torch.stack(states), torch.stack(weights), coverage


def _with_added_keys(memory: TreeMemory, keys: Tensor) -> TreeMemory:
    """The memory whose keys are those of each hypothesis: its own plus B×K×N×A."""
    keys = (memory.keys.unsqueeze(1) + keys).flatten(0, 1)
    padding = memory.padding
    if len(keys) > len(padding):
        padding = padding.repeat_interleave(len(keys) // len(padding), dim=0)
    return memory.with_keys(keys, padding)


class NodeDecoder(RNNDecoder):
    """An RNN decoder that attends to words and phrases; the weights that it returns are the words'.

    With coverage, a search keeps that of every hypothesis.
    """

    recurrence: NodeGRU

    def _steps(
        self,
        tokens: Tensor,
        words: Tensor,
        states: list[Tensor],
        memory: AttentionMemory,
        kept: Mapping[str, Tensor] | None,
        target: Target,
    ) -> Steps:
        assert isinstance(memory, TreeMemory)
        before = None if kept is None else kept.get(_COVERAGE)
        found, weights, after = self.recurrence(words, states[0], before, memory)
        return Steps(found, weights, {} if after is None else {_COVERAGE: after})

    def _of_tokens(self, weights: Tensor, memory: AttentionMemory) -> Tensor:
        assert isinstance(memory, TreeMemory)
        return weights[..., : weights.size(-1) - memory.children.size(1)]
