"""The chunk-based bi-scale decoder."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from fairseq.data import Dictionary
from torch import Tensor, nn

from syntax_nmt.backbone.additive_attention import AttentionMemory
from syntax_nmt.backbone.extension import Target
from syntax_nmt.backbone.numerics import at_least_float32, with_gradients_of
from syntax_nmt.backbone.readout import Readout
from syntax_nmt.backbone.rnn_decoder import RNNDecoder, Steps
from syntax_nmt.backbone.structures import (
    CHUNK_ATTENTION,
    CHUNK_BOUNDARIES,
    CHUNK_OPENS,
    CHUNK_TYPES,
    JOINT_SCORE,
)
from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.methods.bi_scale.chunk_state import INSIDE, OPENS, ChunkState
from syntax_nmt.methods.bi_scale.options import CONTEXT, STATE
from syntax_nmt.methods.bi_scale.recurrence import OWN_CHOICE, BiScaleGRU, BiScaleSteps


@dataclass(frozen=True, kw_only=True)
class ChunkSteps(Steps):
    """What the lowest layer gives.

    Attributes:
        chunk_states: p, B×T×C.
    """

    chunk_states: Tensor


class BiScaleDecoder(RNNDecoder):
    """Zhou et al. (2017): a chunk state in addition to the word state.

    Boundaries come from the annotation if there is one, otherwise from the gate, as in a search. A
    chunk always begins before the first word. With `joint_score`, a search adds to the scores of
    words `log P(b_t)` of the boundary that was chosen and, where a chunk opens, `log P` of its
    likeliest tag; sampling, and ensembles with models that have no such score, omit it
    (:mod:`syntax_nmt.task.search`).

    The annotation is `chunk_tags`, B×T, > 0 where a chunk opens, −1 everywhere in a sentence
    without annotation; a search does not read it, and without it no sentence has one.
    `all_annotated` says whether every sentence has an annotation; without it, it is read from
    `chunk_tags`, which synchronises a GPU.

    Further outputs, lists of one tensor each: `chunk_attn`, the chunks' attention, B×T×S (`attn` is
    that of the words' context); `opened`, B×T, True = a chunk opened; `boundary_logits`, B×T×2, of
    b = 0 and b = 1; `tag_logits`, B×T×classes, meaningful only where `opened` is True. In a search
    `joint_score`, B×1×1, instead of the logits of boundaries and tags.

    Args:
        embed_tokens: V×E.
        recurrence: the lowest layer.
        readout: of the state of the top layer, the word, and what `readout_of` names.
        chunk_types: number of types of chunks; the end of the sentence is one more.
        joint_score: see above.
        memory_dim: M, width of the encoder's states.
        readout_of: what the readout reads in place of RNNsearch's context: `context`, that of
            the words; `state`, the chunk state p; `both`, concatenated.
        **options: as of :class:`RNNDecoder`.
    """

    recurrence: BiScaleGRU

    def __init__(
        self,
        dictionary: Dictionary,
        embed_tokens: nn.Embedding,
        recurrence: BiScaleGRU,
        readout: Readout,
        chunk_types: int,
        joint_score: bool,
        memory_dim: int,
        readout_of: str = CONTEXT,
        **options: Any,
    ) -> None:
        super().__init__(
            dictionary, embed_tokens, recurrence, readout, memory_dim=memory_dim, **options
        )
        width = recurrence.state_dim
        self.joint_score = self._scores_chunks = joint_score
        self.readout_of = readout_of
        self.start.append(nn.Linear(memory_dim, width, bias=False))  # the last one: of chunks
        self.tag_classifier = ChunkTagClassifier(width, width, memory_dim, width, chunk_types + 1)

    def _steps(
        self,
        tokens: Tensor,
        words: Tensor,
        states: list[Tensor],
        memory: AttentionMemory,
        kept: Mapping[str, Tensor] | None,
        target: Target,
    ) -> ChunkSteps:
        chunk = (
            self.recurrence.start(states[-1], memory) if kept is None else ChunkState.out_of(kept)
        )
        searching = target.incremental_state is not None
        annotation: Mapping[str, Any] = {} if searching else target.annotation
        chunk_tags, all_annotated = (annotation.get(key) for key in CHUNKS.keys)
        boundaries = _boundaries(tokens.t(), chunk_tags, first=kept is None)
        chooses = _gate_chooses(chunk_tags, all_annotated)
        steps = self.recurrence(words, states[0], chunk, memory, boundaries.t(), chooses)
        # Outputs are batch first.
        outputs = {
            CHUNK_ATTENTION: steps.chunk_weights.transpose(0, 1),  # B×T×S
            CHUNK_OPENS: steps.opened.t(),  # B×T
        }
        contexts, above = None, steps.states
        if not searching or (self.joint_score and self._scores_chunks):
            contexts = self._contexts(outputs[CHUNK_ATTENTION], memory)  # B×T×M
            predicted = self._predicted_chunks(steps, contexts, searching, first=kept is None)
            outputs.update(predicted)
            if torch.is_grad_enabled():
                # Without the chunk loss their parameters would not be part of the graph.
                above = with_gradients_of(above, predicted.values())
        return ChunkSteps(
            above,
            steps.weights,
            steps.last.cached(),
            {name: [each] for name, each in outputs.items()},
            # With an attention of their own, the words' contexts are not the chunks'.
            contexts if self.recurrence.attention is None else None,
            chunk_states=steps.chunk_states.transpose(0, 1),
        )

    def _read_of_source(self, contexts: Tensor, steps: Steps) -> Tensor:
        assert isinstance(steps, ChunkSteps)
        if self.readout_of == CONTEXT:
            return contexts
        if self.readout_of == STATE:
            return steps.chunk_states
        return torch.cat([contexts, steps.chunk_states], dim=-1)

    def _predicted_chunks(
        self, steps: BiScaleSteps, contexts: Tensor, searching: bool, first: bool
    ) -> dict[str, Tensor]:
        """The logits of boundaries, B×T×2, and types, B×T×classes; in a search their joint score.

        Types are predicted at every word: selecting only the words that open a chunk would
        synchronise a GPU.

        Args:
            contexts: of the chunks, B×T×M.
            first: the step is the first of a search.
        """
        states, chunks, boundaries = (
            x.transpose(0, 1) for x in (steps.chunk_states, steps.chunks, steps.boundary_logits)
        )
        tags = self.tag_classifier(states, chunks, contexts)
        if searching:
            return {JOINT_SCORE: _joint_score(boundaries, tags, steps.opened.t(), forced=first)}
        return {CHUNK_BOUNDARIES: boundaries, CHUNK_TYPES: tags}


def _joint_score(
    boundary_logits: Tensor, tag_logits: Tensor, opened: Tensor, forced: bool
) -> Tensor:
    """`log P(b_t)`, unless it is forced, and at boundaries `log P` of the best tag: B×1×1."""
    boundary, tags = (
        at_least_float32(logits).log_softmax(dim=-1) for logits in (boundary_logits, tag_logits)
    )
    if forced:
        boundary = torch.zeros_like(boundary)
    opening = boundary[..., OPENS] + tags.amax(dim=-1)
    return torch.where(opened, opening, boundary[..., INSIDE]).unsqueeze(-1)


def _boundaries(tokens: Tensor, chunk_tags: Tensor | None, first: bool) -> Tensor:
    """B×T: 1 = a chunk opens, 0 = none does, −1 = the gate decides; b_1 is 1 (`first`)."""
    if chunk_tags is None:
        boundaries = torch.full_like(tokens, OWN_CHOICE)
    else:
        annotated = (chunk_tags >= 0).any(dim=1, keepdim=True)
        boundaries = (chunk_tags > 0).to(tokens.dtype).masked_fill(~annotated, OWN_CHOICE)
    if first:
        boundaries[:, 0] = 1
    return boundaries


def _gate_chooses(chunk_tags: Tensor | None, all_annotated: bool | None) -> bool:
    """Whether the gate decides about any word but the first."""
    if chunk_tags is None:
        return True
    if all_annotated is None:
        all_annotated = bool((chunk_tags >= 0).any(dim=1).all())
    return not all_annotated


class ChunkTagClassifier(nn.Module):
    """`softmax(W · tanh(W_p p_t + W_e e + W_c pc) + b)` (Zhou et al., 2017, Section 4).

    Args:
        state_dim: width of the chunk state p.
        chunk_dim: width of e, the representation of the previous chunk.
        memory_dim: M, width of the chunk's context pc.
        hidden_dim: rows of W_p, W_e and W_c.
        classes: one for each type of chunk, and the last one for the end of the sentence.
    """

    def __init__(
        self, state_dim: int, chunk_dim: int, memory_dim: int, hidden_dim: int, classes: int
    ) -> None:
        super().__init__()
        self.state = nn.Linear(state_dim, hidden_dim)
        self.chunk = nn.Linear(chunk_dim, hidden_dim, bias=False)
        self.context = nn.Linear(memory_dim, hidden_dim, bias=False)
        self.output = nn.Linear(hidden_dim, classes)

    def forward(self, state: Tensor, chunk: Tensor, context: Tensor) -> Tensor:
        """The logits of the types; class k − 1 is tag id k.

        Args:
            state: p, …×state_dim.
            chunk: e, …×chunk_dim.
            context: pc, …×M.

        Returns:
            …×classes.
        """
        hidden = self.state(state) + self.chunk(chunk) + self.context(context)
        return self.output(torch.tanh(hidden))
