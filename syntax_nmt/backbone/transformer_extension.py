"""What a method can add to a Transformer's encoder or decoder, beside what every stack has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import mul
from typing import Any, NamedTuple, Optional

from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerConfig
from torch import Tensor, nn

from syntax_nmt.backbone.attention_modifier import AttentionModifier, close_pads, joined_biases
from syntax_nmt.backbone.extension import (
    DecoderExtension,
    EncoderExtension,
    Extension,
    Source,
    single,
)
from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention, IncrementalState
from syntax_nmt.backbone.head_scorer import HeadScorer
from syntax_nmt.backbone.initialization import UNIFORM
from syntax_nmt.backbone.transformer_layers import BuildAttention
from syntax_nmt.data.batch import ModelExtra
from syntax_nmt.errors import UserError


class LayerModifier(NamedTuple):
    """A change of the self-attention of some layers, counted from the lowest."""

    layers: Collection[int]
    change: AttentionModifier


class AttentionExtension(Extension):
    """What a method adds to the layers of a Transformer stack."""

    def attention(self, layer: int) -> Optional[BuildAttention]:
        """Builds the self-attention of a layer; None = the method does not replace it."""
        return None

    def attention_heads(self, layer: int) -> Mapping[int, str]:
        """The heads of a layer with a task of their own, and what they attend to."""
        return {}

    def scorer(self, layer: int) -> Optional[HeadScorer]:
        """Builds what has the queries and keys of one head of a layer; None = all are usual."""
        return None


class TransformerEncoderExtension(EncoderExtension, AttentionExtension):
    """What a method adds to a Transformer encoder.

    Attributes:
        needs_all_states: :meth:`outputs` reads the states of every layer.
    """

    needs_all_states = False

    def layer(
        self, number: int, cfg: TransformerConfig, attention: BuildAttention
    ) -> Optional[nn.Module]:
        """Builds a layer, the lowest first; None = the usual one.

        Args:
            number: of the layer, from 0, the lowest.
        """
        return None

    def positions(self, source: Source, like: Tensor) -> Tensor | float:
        """What is added where fairseq adds positions: to scaled embeddings, before the dropout.

        Args:
            like: B×S×C, gives device and type.

        Returns:
            B×S×C, or smaller to broadcast.
        """
        return 0.0

    def changes(self, source: Source, like: Tensor) -> Iterable[LayerModifier]:
        """Changes of the self-attention.

        Args:
            like: gives device and type.
        """
        return ()

    def arguments(self, source: Source) -> Mapping[str, Any]:
        """Further arguments of every layer."""
        return {}

    def outputs(
        self,
        out: dict[str, list[Tensor]],
        layers: Sequence[Any],
        arguments: Mapping[str, Any],
        encoder: nn.Module,
    ) -> None:
        """Adds entries to what the encoder returns.

        Args:
            layers: what each layer returned; empty if no layer had further arguments.
            arguments: that every layer got.
        """

    def extra(self, encoder_out: dict[str, list[Tensor]], layers: nn.ModuleList) -> ModelExtra:
        """What the model returns beside its logits.

        Args:
            encoder_out: of a forward pass with all states.
        """
        return {}

    def reorder(
        self, before: dict[str, list[Tensor]], after: dict[str, list[Tensor]], order: Tensor
    ) -> None:
        """Rearranges what :meth:`outputs` added, as a search rearranges its hypotheses.

        Args:
            before: what the encoder returned.
            after: its rearranged form, without the extension's entries.
            order: the row that goes to each place.
        """


class TransformerDecoderExtension(DecoderExtension, AttentionExtension):
    """What a method adds to a Transformer decoder.

    Attributes:
        reads_source: its layers read the source beside the cross-attention.
        reads_lower_layers: the option with which the cross-attention reads lower encoder layers in
            place of the top; empty = none.
    """

    reads_source = False
    reads_lower_layers = ""

    def layer(
        self, cfg: TransformerConfig, no_encoder_attn: bool, attention: BuildAttention
    ) -> Optional[nn.Module]:
        """Builds the next layer, from the lowest to the top; None = the usual one.

        Args:
            no_encoder_attn: omit the cross-attention.
        """
        return None

    def changes(self, length: int, queries: int, like: Tensor) -> Iterable[LayerModifier]:
        """Changes of the self-attention.

        Args:
            length: T, positions so far.
            queries: number of positions, the last ones, that are computed.
            like: gives device and type.
        """
        return ()

    def arguments(
        self,
        layers: nn.ModuleList,
        encoder_out: Optional[dict[str, list[Tensor]]],
        incremental_state: Optional[IncrementalState],
    ) -> Iterable[Mapping[str, Any]]:
        """Further arguments of each layer, the lowest first; none = no layer gets any."""
        return ()

    def extra(self, states: Sequence[Tensor], padding: Tensor, layers: nn.ModuleList) -> ModelExtra:
        """What the model returns beside its logits, in a forward pass over whole targets.

        Args:
            states: T×B×C, the input of the lowest layer and the output of each.
            padding: B×T, True = pad.
        """
        return {}


@dataclass(frozen=True)
class TransformerStack:
    """The stack of a Transformer that extensions are built for.

    Attributes:
        cfg: fairseq's options of the Transformer.
        name: `encoder` or `decoder`.
        dictionary: of its side.
        under_transformer: whether a Transformer decoder reads this encoder.
        initialization: of recurrent parts, one of
            :data:`syntax_nmt.backbone.initialization.INITIALIZATIONS`.
    """

    cfg: TransformerConfig
    name: str
    dictionary: Dictionary
    under_transformer: bool = True
    initialization: str = UNIFORM

    @property
    def layers(self) -> int:
        """How many it has."""
        return int(getattr(self.cfg, self.name).layers)

    @property
    def heads(self) -> int:
        """Attention heads of a layer."""
        return int(getattr(self.cfg, self.name).attention_heads)

    @property
    def shares_embeddings(self) -> bool:
        """Whether the target's embeddings are the same."""
        return bool(self.cfg.share_all_embeddings)

    @property
    def has_given_embeddings(self) -> bool:
        """Whether embeddings come from a file."""
        return bool(getattr(self.cfg, self.name).embed_path)

    @property
    def embed_dim(self) -> int:
        """C, also of the states."""
        return int(getattr(self.cfg, self.name).embed_dim)


def built_attention(
    extensions: Sequence[AttentionExtension], layer: int, stack: str
) -> BuildAttention:
    """Builds the self-attention of a layer, the plain one unless an extension has another.

    Args:
        stack: `encoder` or `decoder`, for messages.

    Raises:
        UserError: two extensions replace the same, or one head gets two tasks.
    """
    place = f"{stack} layer {layer}"
    tasks: dict[int, str] = {}
    for extension in extensions:
        for head in extension.attention_heads(layer):
            if head in tasks:
                raise UserError(
                    f"{tasks[head]} and {extension.option} both have a task for head {head} of "
                    f"{place}: give them different layers"
                )
            tasks[head] = extension.option
    attention = single(
        ((extension, extension.attention(layer)) for extension in extensions),
        f"the self-attention of {place}",
    )
    scorer = single(
        ((extension, extension.scorer(layer)) for extension in extensions),
        f"the scores of a head of {place}",
    )
    build: BuildAttention = attention or FusedMultiheadAttention
    return build if scorer is None else partial(build, scorer=scorer)


def composed_changes(
    changes: Sequence[LayerModifier], layers: int, padding: Tensor
) -> list[AttentionModifier]:
    """The change of each layer: biases joined, factors multiplied, equal ones computed once.

    Args:
        padding: B×T, True = pad; a bias also closes them.
    """
    found: dict[tuple[int, ...], AttentionModifier] = {}
    composed = []
    for layer in range(layers):
        acting = tuple(place for place, each in enumerate(changes) if layer in each.layers)
        if acting not in found:
            parts = [changes[place].change for place in acting]
            bias = _joined(joined_biases, (part.bias for part in parts))
            factor = _joined(mul, (part.factor for part in parts))
            if bias is not None:
                bias = close_pads(bias, padding)  # a check for pads would wait for a GPU
            found[acting] = AttentionModifier(bias, factor)
        composed.append(found[acting])
    return composed


def _joined(operation: Any, tensors: Iterable[Optional[Tensor]]) -> Optional[Tensor]:
    there = [tensor for tensor in tensors if tensor is not None]
    return reduce(operation, there) if there else None
