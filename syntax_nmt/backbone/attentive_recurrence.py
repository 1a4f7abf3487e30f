"""Recurrent networks that attend to the source at every step: RNNsearch and RNNsearch*."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from syntax_nmt.backbone.additive_attention import AdditiveAttention, AttentionMemory
from syntax_nmt.backbone.gru import GATES, gru_step, square_matrices
from syntax_nmt.backbone.repeated_product import StepLinear, repeated, split_after


class Recurrence(nn.Module, ABC):
    """The lowest layer of an RNN decoder: it attends to the source at every step.

    Attributes:
        state_dim: C.
        reads: names of further outputs of the encoder that :meth:`remember` takes.
        memory: the class of what it gives; its fields are tensors, a row a sentence.
    """

    state_dim: int
    reads: tuple[str, ...] = ()
    memory: type[AttentionMemory] = AttentionMemory

    @abstractmethod
    def remember(self, encoded: Tensor, padding: Tensor, **further: Tensor) -> AttentionMemory:
        """The source input of all steps.

        Args:
            encoded: B×S×M.
            padding: B×S, True = pad.
            **further: what :attr:`reads` names, B×… each.
        """


class AttentiveGRU(Recurrence):
    """RNNsearch's decoder: attention from `s_{j-1}`, then `s_j = GRU([y_{j-1}; a_j], s_{j-1})`.

    (Bahdanau et al., 2015; Zhang et al., 2018, equations 2 to 4.) Products that do not depend on
    the recurrence are computed outside of it: that of the gates with the words y for all steps at
    once; that with the context a, which is linear, with the encoder's states once a sentence, so
    that attention averages products. Products with the same state are one product.

    Args:
        input_dim: E, width of the words y.
        state_dim: C.
        memory_dim: M, width of the encoder's states.
        attention_dim: A.
    """

    def __init__(self, input_dim: int, state_dim: int, memory_dim: int, attention_dim: int) -> None:
        super().__init__()
        self.state_dim = state_dim
        self.input_projection = nn.Linear(input_dim, GATES * state_dim)
        self.attention = AdditiveAttention(memory_dim, attention_dim)
        self.context_projection = nn.Linear(memory_dim, GATES * state_dim, bias=False)
        # Rows: the hidden product of the GRU that reads the context, then the attention's query.
        self.query_projection = StepLinear(state_dim, GATES * state_dim + attention_dim, bias=False)

    def remember(self, encoded: Tensor, padding: Tensor, **further: Tensor) -> AttentionMemory:
        """The source input of all steps.

        Args:
            encoded: B×S×M.
            padding: B×S, True = pad.
        """
        return AttentionMemory(
            keys=self.attention.key_projection(encoded),
            values=self.context_projection(encoded),
            encoded=encoded,
            padding=padding,
        )

    def forward(
        self, words: Tensor, state: Tensor, memory: AttentionMemory
    ) -> tuple[Tensor, Tensor]:
        """All steps of given words.

        Args:
            words: T×N×E.
            state: N×C, before the first step.
            memory: of :meth:`remember`; N is a multiple of its number of sentences.

        Returns:
            the states T×N×C, and the attention weights T×N×S.
        """
        states, weights = [], []
        with repeated(*self.step_layers()):
            for inputs in self.input_projection(words).unbind():
                state, attended = self.step(inputs, state, memory)
                states.append(state)
                weights.append(attended)
        return torch.stack(states), torch.stack(weights)

    def step_layers(self) -> tuple[StepLinear, ...]:
        """The linear maps of a step."""
        return (self.query_projection,)

    def recurrent_matrices(self) -> Iterator[Tensor]:
        """The matrices by which gates multiply the state."""
        return square_matrices(self.query_projection.weight)

    def step(self, inputs: Tensor, state: Tensor, memory: AttentionMemory) -> tuple[Tensor, Tensor]:
        """One step.

        Args:
            inputs: N×3C, a word times :attr:`input_projection`.
            state: N×C.
            memory: of :meth:`remember`.

        Returns:
            the next state N×C, and the attention weights N×S.
        """
        hidden, weights = self.attend(state, memory)
        context = memory.input_of(weights)
        return gru_step(inputs + context, hidden, state), weights

    def attend(self, state: Tensor, memory: AttentionMemory) -> tuple[Tensor, Tensor]:
        """The products with a state: gates and attention query.

        Args:
            state: N×C.
            memory: of :meth:`remember`.

        Returns:
            the GRU's hidden product N×3C, and the attention weights N×S.
        """
        hidden, query = split_after(GATES * self.state_dim, self.query_projection(state))
        return hidden, self.attention(query, memory)


class ConditionalGRU(AttentiveGRU):
    """RNNsearch*'s: `s~_j = GRU1(y_{j-1}, s_{j-1})`, attention from s~_j, `s_j = GRU2(a_j, s~_j)`.

    (Zhang et al., 2018, equation 13; the conditional GRU of the dl4mt tutorial.)

    Args:
        input_dim: E, width of the words y.
        state_dim: C.
        memory_dim: M, width of the encoder's states.
        attention_dim: A.
    """

    def __init__(self, input_dim: int, state_dim: int, memory_dim: int, attention_dim: int) -> None:
        super().__init__(input_dim, state_dim, memory_dim, attention_dim)
        self.hidden_projection = StepLinear(state_dim, GATES * state_dim, bias=False)  # of GRU1
        self.context_projection = nn.Linear(memory_dim, GATES * state_dim)  # GRU2 has a bias, too

    def step_layers(self) -> tuple[StepLinear, ...]:
        """The linear maps of a step."""
        return (self.hidden_projection, self.query_projection)

    def recurrent_matrices(self) -> Iterator[Tensor]:
        """The matrices by which gates multiply states."""
        return square_matrices(self.hidden_projection.weight, self.query_projection.weight)

    def step(self, inputs: Tensor, state: Tensor, memory: AttentionMemory) -> tuple[Tensor, Tensor]:
        """One step.

        Args:
            inputs: N×3C, a word times :attr:`input_projection`.
            state: N×C.
            memory: of :meth:`AttentiveGRU.remember`.

        Returns:
            the next state N×C, and the attention weights N×S.
        """
        between = gru_step(inputs, self.hidden_projection(state), state)
        hidden, weights = self.attend(between, memory)
        return gru_step(memory.input_of(weights), hidden, between), weights
