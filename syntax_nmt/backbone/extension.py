"""What a method can add to an encoder or a decoder: hooks that these call, in a fixed order.

An extension is a plain object, made of the method's options when a stack of a model is built.
Modules with parameters belong to the stack, which registers them under the names that it gives.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import Any, ClassVar, NamedTuple, Optional

from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerConfig
from torch import Tensor, nn

from syntax_nmt.arguments import attribute
from syntax_nmt.backbone.attention_modifier import AttentionModifier, close_pads, joined_biases
from syntax_nmt.backbone.fused_attention import IncrementalState
from syntax_nmt.backbone.head_scorer import HeadScorer
from syntax_nmt.backbone.initialization import UNIFORM
from syntax_nmt.backbone.source_factors import SourceFactors
from syntax_nmt.backbone.transformer_layers import BuildAttention
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.batch import ModelExtra
from syntax_nmt.errors import UserError
from syntax_nmt.option_checks import differs_from_default


@dataclass(frozen=True)
class Source:
    """A batch of source sentences, for the extensions of an encoder.

    Attributes:
        tokens: B×S.
        padding: B×S, True = pad.
        annotation: tensors by the keys of their kinds.
    """

    tokens: Tensor
    padding: Tensor
    annotation: Mapping[str, Tensor]


@dataclass(frozen=True)
class Target:
    """A batch of targets as a decoder reads them, for its extensions.

    Attributes:
        annotation: of whole targets, tensors by the keys of their kinds.
        chosen: by :attr:`Extension.option`, what extensions chose themselves at each step where
            annotation is missing, B×T×….
        incremental_state: the cache of a search, whose steps read one token; None = whole targets.
    """

    annotation: Mapping[str, Tensor]
    chosen: Mapping[str, Tensor]
    incremental_state: Optional[IncrementalState] = None


class LayerModifier(NamedTuple):
    """A change of the self-attention of some layers, counted from the lowest."""

    layers: Collection[int]
    change: AttentionModifier


class Extension:
    """What one method adds to one stack of a model. Every hook does nothing by default.

    Attributes:
        option: the option that switches it on, for messages.
        reads: annotation that the stack needs in every forward pass.
        learns: annotation that it is trained with.
        structures: what can be extracted from the stack, of :mod:`syntax_nmt.backbone.structures`.
    """

    option: ClassVar[str] = ""
    reads: tuple[AnnotationKind, ...] = ()
    learns: tuple[AnnotationKind, ...] = ()
    structures: tuple[str, ...] = ()

    def __init__(self, options: Any, stack: Any) -> None:
        """Keeps what it is built from.

        Args:
            options: the method's own.
            stack: what the method declares it for: a :class:`TransformerStack`, or a stack of
                :mod:`syntax_nmt.backbone.rnn_extension`.

        Raises:
            UserError: options that contradict each other.
        """
        self.options, self.stack = options, stack

    @classmethod
    def is_on(cls, options: Any, stack: Any) -> bool:
        """Whether the options of the method add it to a stack: :attr:`option` is given."""
        name = attribute(cls.option)
        return differs_from_default(getattr(options, name), getattr(type(options), name))

    @property
    def labels(self) -> Mapping[AnnotationKind, tuple[str, ...]]:
        """The labels of annotation that it was built for; checkpoints keep them."""
        return {}

    @property
    def training_modules(self) -> tuple[str, ...]:
        """Those of the modules of :meth:`build` that translation does not read."""
        return ()

    def build_first(self) -> None:
        """Builds modules whose random numbers are drawn before those of the stack's layers."""

    def build(self, output_dim: int) -> Mapping[str, nn.Module]:
        """Builds the modules that the stack registers after its layers, by name.

        Args:
            output_dim: M, width of the stack's states.
        """
        return {}


class EncoderExtension(Extension):
    """What a method adds to an encoder of either family.

    Attributes:
        on_top: what :meth:`above` puts on the encoder, for messages.
    """

    on_top: ClassVar[str] = ""

    def word_table(self, embed_tokens: nn.Embedding) -> nn.Embedding:
        """The embeddings of the tokens, perhaps in another table.

        Args:
            embed_tokens: V×E.
        """
        return embed_tokens

    def source_factors(self, words: Tensor) -> Optional[SourceFactors]:
        """The same embedding as a sum of vectors of factors; None = it is no such sum.

        Args:
            words: the encoder's table of tokens.
        """
        return None

    def embed(self, embedded: Tensor, source: Source) -> Tensor:
        """The vectors of the tokens, before a Transformer scales them and adds positions.

        Args:
            embedded: B×S×E.
        """
        return embedded

    def below(self, states: Tensor, source: Source) -> Tensor:
        """The input of the lowest layer of a Transformer, or of the network of an RNN.

        Args:
            states: B×S×C, embeddings with positions.
        """
        return states

    def above(self, states: Tensor, source: Source) -> Tensor:
        """The states that decoders read.

        Args:
            states: B×S×M, of the top layer.
        """
        return states


class DecoderExtension(Extension):
    """What a method adds to a decoder of either family."""

    def embed(self, embedded: Tensor, target: Target) -> Tensor:
        """The vectors of the tokens that are read, before a Transformer scales them.

        Args:
            embedded: B×T×E.
        """
        return embedded

    def predictions(self, features: Tensor, target: Target) -> ModelExtra:
        """What the model returns beside its logits; in a search it only remembers its choices.

        Args:
            features: B×T×F, what the output layer reads.
        """
        return {}

    def chosen(self, incremental_state: IncrementalState) -> Optional[Tensor]:
        """What it chose in the last step of a search, B×…, in place of annotation that it reads;
        None = it chooses nothing."""
        return None


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

    @property
    def distance_layers(self) -> int:
        """The number of lowest layers with syntactic distances."""
        return 0


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

    output_dim = embed_dim


def having(extensions: Iterable[Any], hook: str) -> list[Any]:
    """The extensions that define a hook themselves."""
    return [
        extension
        for extension in extensions
        if all(getattr(type(extension), hook) is not getattr(base, hook, None) for base in _BASES)
    ]


_BASES = (Extension, EncoderExtension, DecoderExtension, AttentionExtension)
_BASES += (TransformerEncoderExtension, TransformerDecoderExtension)  # type: ignore[assignment]


def single(found: Iterable[tuple[Extension, Any]], what: str) -> Any:
    """What one extension builds; None = none builds it.

    Args:
        found: what each extension would build, or None.
        what: its name, for the message.

    Raises:
        UserError: two extensions build it.
    """
    built = [(extension, each) for extension, each in found if each is not None]
    if len(built) > 1:
        first, second = (extension.option for extension, _ in built[:2])
        raise UserError(f"{first} and {second} both replace {what}: leave one of them out")
    return built[0][1] if built else None


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
