"""The decoder of the RNN family."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.models import FairseqIncrementalDecoder
from fairseq.modules import FairseqDropout
from torch import Tensor, nn

from syntax_nmt.backbone.additive_attention import AttentionMemory
from syntax_nmt.backbone.attentive_recurrence import Recurrence
from syntax_nmt.backbone.extended_stack import ExtendedStack
from syntax_nmt.backbone.extension import Target, having
from syntax_nmt.backbone.fused_attention import IncrementalState
from syntax_nmt.backbone.numerics import mean_of_words
from syntax_nmt.backbone.readout import Readout
from syntax_nmt.backbone.rnn_interface import NO_LIMIT, PADDING, ROWS, STATES, SUMMARY
from syntax_nmt.backbone.structures import JOINT_SCORE


@dataclass(frozen=True)
class Steps:
    """What the lowest layer of an RNN decoder gives.

    Attributes:
        states: T×N×C.
        weights: of the attention, T×N×S.
        kept: what the next steps of a search need in addition, a row a hypothesis.
        extra: further outputs of the decoder, by name.
        contexts: of the weights, B×T×M, if they are computed already.
    """

    states: Tensor
    weights: Tensor
    kept: Mapping[str, Tensor] = field(default_factory=dict)
    extra: Mapping[str, list[Tensor]] = field(default_factory=dict)
    contexts: Tensor | None = None


class RNNDecoder(ExtendedStack, FairseqIncrementalDecoder):
    """RNNsearch, RNNsearch* or a deeper form of them, depending on its arguments.

    The lowest layer attends to the source. A higher layer is a GRU over the states of the layer
    below; without feedback, torch's fused GRU computes all steps at once. Every layer
    begins with `tanh(W · mean of the encoder's states over real words)`, or with the encoder's own
    summary in place of the mean.

    Args:
        embed_tokens: V×E.
        recurrence: the lowest layer.
        readout: of the state of the top layer, the word and the context.
        memory_dim: M, width of the encoder's states.
        layers: how many.
        share_embeddings: the output layer's weights are the embeddings.
    """

    beam_size = 1
    need_attn = True

    def __init__(
        self,
        dictionary: Dictionary,
        embed_tokens: nn.Embedding,
        recurrence: Recurrence,
        readout: Readout,
        memory_dim: int,
        readout_dim: int,
        layers: int = 1,
        dropout: float = 0.0,
        dropout_in: float = 0.0,
        share_embeddings: bool = False,
    ) -> None:
        super().__init__(dictionary)
        width = recurrence.state_dim
        self.output_dim = readout_dim
        self.embed_tokens = embed_tokens
        self.recurrence = recurrence
        self.readout = readout
        self.start = nn.ModuleList(nn.Linear(memory_dim, width, bias=False) for _ in range(layers))
        self.upper = nn.ModuleList(nn.GRU(width, width) for _ in range(layers - 1))
        self.dropout = FairseqDropout(dropout, module_name="RNNDecoder")
        self.dropout_in = FairseqDropout(dropout_in, module_name="RNNDecoder")
        self.output_projection = nn.Linear(readout_dim, len(dictionary), bias=not share_embeddings)
        if share_embeddings:
            self.output_projection.weight = embed_tokens.weight

    def prepare_for_search(self, beam_size: int, need_attn: bool) -> None:
        """Sets the parameters of a search; the task calls this before and after each search.

        Args:
            beam_size: hypotheses per sentence, which share its memory; 1 outside a search.
            need_attn: ignored, as the weights are always computed.
        """
        self.beam_size = beam_size

    def forward(
        self,
        prev_output_tokens: Tensor,
        encoder_out: dict[str, list[Tensor]],
        incremental_state: IncrementalState | None = None,
        features_only: bool = False,
        **more: Any,
    ) -> tuple[Tensor, dict[str, list[Tensor]]]:
        """Teacher-forced, or one step of a search.

        Args:
            prev_output_tokens: B×T; in a search only the last one is read.
            incremental_state: the cache of a search.
            features_only: omit the output layer.
            **more: annotation of the target; arguments of Transformer decoders are ignored.

        Returns:
            logits B×T×V, and a dictionary that holds `attn`: the attention weights, B×T×S.
        """
        annotation = self.annotation_among(more)
        more = {"annotation": annotation} if annotation else {}
        features, extra = self.extract_features(
            prev_output_tokens, encoder_out, incremental_state, **more
        )
        return features if features_only else self.output_layer(features), extra

    def extract_features(
        self,
        prev_output_tokens: Tensor,
        encoder_out: dict[str, list[Tensor]],
        incremental_state: IncrementalState | None = None,
        annotation: Mapping[str, Tensor] = MappingProxyType({}),
    ) -> tuple[Tensor, dict[str, list[Tensor]]]:
        """The readout of each step; see :meth:`forward`.

        Args:
            prev_output_tokens: B×T.
            incremental_state: the cache of a search.
            annotation: of the target, by the keys of its kinds.

        Returns:
            B×T×readout_dim, and a dictionary that holds `attn`.
        """
        target = self.target_read(prev_output_tokens, encoder_out, incremental_state, annotation)
        memory, states = self._begin(encoder_out, incremental_state)
        if incremental_state is not None:
            prev_output_tokens = prev_output_tokens[:, -1:]
        # Time first, as the steps are taken.
        words = self._words(prev_output_tokens, target)  # T×B×E
        kept = self.get_incremental_state(incremental_state, "cache")
        steps = self._steps(prev_output_tokens.t(), words, states, memory, kept, target)
        below, last = self._upper_layers(steps.states, states[1:])
        self._remember(incremental_state, memory, last, **steps.kept)
        # Batch first from here on.
        weights = steps.weights.transpose(0, 1).contiguous()  # B×T×S
        contexts = self._contexts(weights, memory) if steps.contexts is None else steps.contexts
        read = self._read_of_source(contexts, steps)
        features = self.readout(below.transpose(0, 1), words.transpose(0, 1), read)
        features = self.dropout(features)
        extra = {"attn": [self._of_tokens(weights, memory)], **steps.extra}
        predicted = self.predicted(features, target)
        if JOINT_SCORE in predicted:  # a search adds up those of steps and of extensions
            predicted[JOINT_SCORE] += extra.pop(JOINT_SCORE, [])
        return features, {**extra, **predicted}

    def output_layer(self, features: Tensor) -> Tensor:
        """The logits of a readout.

        Args:
            features: B×T×readout_dim.
        """
        return self.output_projection(features)

    def reorder_incremental_state(
        self, incremental_state: IncrementalState, new_order: Tensor
    ) -> None:
        """Rearranges the hypotheses of a search.

        Args:
            new_order: the row that goes to each place; rows of one sentence stay together;
                sentences may be removed.
        """
        cache = self.get_incremental_state(incremental_state, "cache")
        if cache is None:
            return
        sentences = new_order
        if self.beam_size > 1:
            sentences = new_order[:: self.beam_size] // self.beam_size
        stays = len(sentences) == len(cache["padding"])
        of_sentences = self._of_sentences()
        for name in cache if not stays else [name for name in cache if name not in of_sentences]:
            order = sentences if name in of_sentences else new_order
            cache[name] = cache[name].index_select(0, order)

    def max_positions(self) -> int:
        """The longest target: the task's limit is the only one."""
        return NO_LIMIT

    def _begin(
        self, encoder_out: dict[str, list[Tensor]], incremental_state: IncrementalState | None
    ) -> tuple[AttentionMemory, list[Tensor]]:
        """The memory of the sentences and each layer's state, N×C, before these steps; before the
        first ones also what further maps of `start` give.
        """
        cache = self.get_incremental_state(incremental_state, "cache")
        if cache is not None:
            memory = self.recurrence.memory(*(cache[name] for name in self._of_sentences()))
            return memory, [cache[f"state{layer}"] for layer in range(len(self.upper) + 1)]
        encoded = encoder_out[STATES][0].transpose(0, 1)  # S×B×M, here B×S×M
        padding = encoder_out[PADDING][0]
        names = [name for name in (SUMMARY, *self.recurrence.reads) if name in encoder_out]
        further = {name: encoder_out[name][0] for name in names}
        if ROWS in encoder_out:  # rearranged: one row per sentence is enough
            sentences = encoder_out[ROWS][0][:: self.beam_size]
            encoded, padding = (x.index_select(0, sentences) for x in (encoded, padding))
            further = {name: x.index_select(0, sentences) for name, x in further.items()}
        summary = further.pop(SUMMARY, None)
        if summary is None:
            summary = mean_of_words(encoded, padding)
        hypotheses = self.beam_size if ROWS in encoder_out else 1
        states = [
            torch.tanh(start(summary)).repeat_interleave(hypotheses, dim=0) for start in self.start
        ]
        return self.recurrence.remember(encoded, padding, **further), states

    def _words(self, tokens: Tensor, target: Target) -> Tensor:
        """The embeddings of the words that are read, T×B×E of B×T, after the dropout."""
        words = self.embed_tokens(tokens.t())
        for extension in having(self.extensions, "embed"):
            words = extension.embed(words.transpose(0, 1), target).transpose(0, 1)
        return self.dropout_in(words)

    def _of_sentences(self) -> list[str]:
        """The names in the cache of what the hypotheses of a sentence share."""
        return [field.name for field in fields(self.recurrence.memory)]

    def _steps(
        self,
        tokens: Tensor,
        words: Tensor,
        states: list[Tensor],
        memory: AttentionMemory,
        kept: Mapping[str, Tensor] | None,
        target: Target,
    ) -> Steps:
        """The steps of the lowest layer.

        Args:
            tokens: T×N.
            words: their embeddings, T×N×E.
            states: of :meth:`_begin`; that of the lowest layer is the first.
            kept: the cache of a search; None = these steps are the first.
        """
        return Steps(*self.recurrence(words, states[0], memory))

    def _read_of_source(self, contexts: Tensor, steps: Steps) -> Tensor:
        """What the readout reads of the source, B×T×…, the contexts, B×T×M."""
        return contexts

    def _of_tokens(self, weights: Tensor, memory: AttentionMemory) -> Tensor:
        """The attention weights of the tokens among those of all that the decoder attends to."""
        return weights

    def _upper_layers(self, below: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """The states of the top layer, T×B×C, and each layer's last one; `states` start them."""
        last = [below[-1]]
        for gru, state in zip(self.upper, states):
            below, state = gru(below, state.unsqueeze(0))
            last.append(state[0])
        return below, last

    def _remember(
        self,
        incremental_state: IncrementalState | None,
        memory: AttentionMemory,
        states: list[Tensor],
        **more: Tensor,
    ) -> None:
        """Stores the input of the next step."""
        if incremental_state is None:
            return
        cache = {name: getattr(memory, name) for name in self._of_sentences()}
        cache.update({f"state{layer}": state for layer, state in enumerate(states)}, **more)
        self.set_incremental_state(incremental_state, "cache", cache)

    @staticmethod
    def _contexts(weights: Tensor, memory: AttentionMemory) -> Tensor:
        """a_j of every step, B×T×M, from the weights B×T×S."""
        batch, steps, width = weights.shape
        of = memory.encoded
        grouped = weights.to(of.dtype).reshape(of.size(0), -1, width)
        return torch.bmm(grouped, of).view(batch, steps, -1)
