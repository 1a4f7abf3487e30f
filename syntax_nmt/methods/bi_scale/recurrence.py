"""The recurrence of the bi-scale decoder: a clock of words over a clock of chunks."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from syntax_nmt.backbone.additive_attention import AdditiveAttention, AttentionMemory
from syntax_nmt.backbone.attentive_recurrence import Recurrence
from syntax_nmt.backbone.gru import GATES, gru_step, square_matrices
from syntax_nmt.backbone.repeated_product import JointProduct, StepLinear, repeated, split_after
from syntax_nmt.methods.bi_scale.chunk_state import BoundaryGate, ChunkState, ChunkStateGRU, opens

OWN_CHOICE = -1


@dataclass(frozen=True)
class BiScaleSteps:
    """The results of all steps.

    Attributes:
        last: the chunk clock after the last step.
        states: s, T×N×C.
        weights: of the attention that the words' context comes from, T×N×S.
        boundary_logits: of the gate, T×N×2.
        opened: T×N, True = a chunk opened, as given or as the gate chose.
        chunk_states: p, T×N×C.
        chunks: e, T×N×C; meaningful only where a chunk opened.
        chunk_weights: of the chunk's attention, T×N×S.
    """

    last: ChunkState
    states: Tensor
    weights: Tensor
    boundary_logits: Tensor
    opened: Tensor
    chunk_states: Tensor
    chunks: Tensor
    chunk_weights: Tensor


class BiScaleGRU(Recurrence):
    """Zhou et al. (2017): RNNsearch* whose words read the state of their chunk.

    `s~_t = GRU1(y_{t−1}, s_{t−1})`; the gate reads s~ and y; the chunk clock moves where a chunk
    opens; `s_t = GRU2(context, s~_t)`, to whose gates and candidate the chunk state p_t is added.
    The context is pc, that of the chunk; with word attention it is a separate one, queried by s~_t,
    and the parameters shared with :class:`~syntax_nmt.backbone.attentive_recurrence.ConditionalGRU`
    have the same names and sizes.

    Computed outside of the loop over steps: the products with the words y, those of both GRU2 with
    the context (computed from the encoder's states, once per sentence) and, if all boundaries are
    given, the gate.

    Args:
        input_dim: E, width of the words y.
        state_dim: C; also the width of chunk state and chunk representation.
        memory_dim: M, width of the encoder's states.
        attention_dim: A.
        word_attention: words have their own attention and context.
        context_every_step: as of :class:`ChunkStateGRU`.
    """

    def __init__(
        self,
        input_dim: int,
        state_dim: int,
        memory_dim: int,
        attention_dim: int,
        word_attention: bool = False,
        context_every_step: bool = False,
    ) -> None:
        super().__init__()
        self.state_dim = state_dim
        self.attention_dim = attention_dim
        self.input_projection = nn.Linear(input_dim, GATES * state_dim)
        self.hidden_projection = StepLinear(state_dim, GATES * state_dim, bias=False)
        self.context_projection = nn.Linear(memory_dim, GATES * state_dim)
        self.attention = AdditiveAttention(memory_dim, attention_dim) if word_attention else None
        rows = GATES * state_dim + (attention_dim if word_attention else 0)
        self.query_projection = nn.Linear(state_dim, rows, bias=False)
        self.gate = BoundaryGate(state_dim, input_dim, state_dim)
        self.clock = ChunkStateGRU(
            state_dim, state_dim, memory_dim, attention_dim, context_every_step
        )
        self.chunk_projection = nn.Linear(state_dim, GATES * state_dim, bias=False)  # p to words

    def remember(self, encoded: Tensor, padding: Tensor, **further: Tensor) -> AttentionMemory:
        """The source input of the steps: first for the chunk clock, then for the words.

        Args:
            encoded: B×S×M.
            padding: B×S, True = pad.
        """
        keys = [self.clock.attention.key_projection(encoded)]
        if self.attention is not None:
            keys.append(self.attention.key_projection(encoded))
        projections = (self.clock.context_projection, self.context_projection)
        return AttentionMemory(
            keys=torch.cat(keys, dim=-1),
            values=torch.cat([project(encoded) for project in projections], dim=-1),
            encoded=encoded,
            padding=padding,
        )

    def start(self, state: Tensor, memory: AttentionMemory) -> ChunkState:
        """The chunk clock before the first step.

        Args:
            state: p_0, N×C.
            memory: of :meth:`remember`.
        """
        return self.clock.start(state, memory)

    def forward(
        self,
        words: Tensor,
        state: Tensor,
        chunk: ChunkState,
        memory: AttentionMemory,
        boundaries: Tensor,
        chooses: bool,
    ) -> BiScaleSteps:
        """All steps of given words.

        Args:
            words: T×N×E.
            state: N×C, before the first step.
            chunk: before the first step.
            memory: of :meth:`remember`; N is a multiple of its number of sentences.
            boundaries: T×N; 1 = a chunk opens, 0 = none does, −1 = the gate decides.
            chooses: whether there may be a −1; otherwise the gate is computed for all steps at
                once.
        """
        of_chunk, of_word = self._parts(memory)
        gate_words = self.gate.word(words)
        opening = (boundaries > 0).unsqueeze(-1)  # T×N×1
        own = (boundaries == OWN_CHOICE).unsqueeze(-1)
        columns: list[tuple[Tensor, ...]] = []
        of_between = JointProduct(self.query_projection, self.clock.difference)
        of_chunk_state = JointProduct(self.chunk_projection, self.clock.hidden_projection)
        of_chunk_before = self.clock.hidden_projection(chunk.state)
        with repeated(*self.step_layers()):
            for step, inputs in enumerate(self.input_projection(words).unbind()):
                between = gru_step(inputs, self.hidden_projection(state), state)
                opened, gated = opening[step], between
                if chooses:
                    gated = self.gate(between, gate_words[step])
                    opened = opened | (own[step] & opens(gated).unsqueeze(-1))
                hidden, ending = of_between(between)
                chunk, finished, context = self.clock.step(
                    ending, of_chunk_before, opened, chunk, of_chunk
                )
                if step + 1 < len(words):  # the hidden product is the next step's
                    read, of_chunk_before = of_chunk_state(chunk.state)
                else:
                    read = self.chunk_projection(chunk.state)
                state, weights = self._word(between, hidden, read, chunk, context, of_word)
                of_chunks = chunk.state, finished, chunk.weights
                columns.append((state, weights, gated, opened, *of_chunks))
        states, weights, gated, opened, *chunks = map(torch.stack, zip(*columns))
        logits = gated if chooses else self.gate(gated, gate_words)
        return BiScaleSteps(chunk, states, weights, logits, opened.squeeze(-1), *chunks)

    def step_layers(self) -> tuple[StepLinear, ...]:
        """The linear maps of a step that read what no other map reads, also of the chunk clock."""
        return (self.hidden_projection, *self.clock.step_layers())

    def recurrent_matrices(self) -> Iterator[Tensor]:
        """The matrices by which gates multiply states of words."""
        return square_matrices(self.hidden_projection.weight, self.query_projection.weight)

    def _word(
        self,
        between: Tensor,
        hidden: Tensor,
        of_chunk_state: Tensor,
        chunk: ChunkState,
        context: Tensor,
        memory: AttentionMemory,
    ) -> tuple[Tensor, Tensor]:
        """GRU2 of the word clock: s N×C, and the weights of its context N×S."""
        weights = chunk.weights
        if self.attention is not None:
            hidden, query = split_after(GATES * self.state_dim, hidden)
            weights = self.attention(query, memory)
            context = memory.input_of(weights)
        return gru_step(context + of_chunk_state, hidden, between), weights

    def _parts(self, memory: AttentionMemory) -> tuple[AttentionMemory, AttentionMemory]:
        """The parts of the memory that the chunk clock and the words read."""
        if self.attention is None:
            return memory, memory
        size, gates = self.attention_dim, GATES * self.state_dim
        return (
            replace(memory, keys=memory.keys[..., :size], values=memory.values[..., :gates]),
            replace(memory, keys=memory.keys[..., size:], values=memory.values[..., gates:]),
        )
