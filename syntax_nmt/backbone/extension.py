"""What a method can add to an encoder or a decoder: hooks that these call, in a fixed order.

An extension is a plain object, made of the method's options when a stack of a model is built.
Modules with parameters belong to the stack, which registers them under the names that it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Optional

from torch import Tensor, nn

from syntax_nmt.arguments import attribute
from syntax_nmt.backbone.fused_attention import IncrementalState
from syntax_nmt.backbone.source_factors import SourceFactors
from syntax_nmt.backbone.word_spans import Spans
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
        find_words: gives the spans of the words of tokens.
    """

    tokens: Tensor
    padding: Tensor
    annotation: Mapping[str, Tensor]
    find_words: Callable[[Tensor], Spans]

    @cached_property
    def spans(self) -> Spans:
        """The words of the tokens."""
        return self.find_words(self.tokens)


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


class Extension:
    """What one method adds to one stack of a model. Every hook does nothing by default.

    Attributes:
        option: the option that switches it on, for messages.
        reads: annotation that the stack needs in every forward pass.
        learns: annotation that it is trained with.
        structures: what can be extracted from the stack, of :mod:`syntax_nmt.backbone.structures`.
        joint_score: whether a search scores what it chooses beside words, too.
        arc_labels: the labels of the arcs of the trees that it finds; () = they have none.
        distance_layers: the number of lowest layers with syntactic distances.
    """

    option: str = ""
    reads: tuple[AnnotationKind, ...] = ()
    learns: tuple[AnnotationKind, ...] = ()
    structures: tuple[str, ...] = ()
    joint_score: bool = False
    arc_labels: tuple[str, ...] = ()
    distance_layers: int = 0

    def __init__(self, options: Any, stack: Any) -> None:
        """Keeps what it is built from.

        Args:
            options: the method's own.
            stack: what the method declares it for, a stack of
                :mod:`syntax_nmt.backbone.transformer_extension` or
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
        """The names of the modules of :meth:`build` that translation does not read."""
        return ()

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
        """What :meth:`embed` computes as a sum of vectors of factors; None = it is no such sum.

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
        """What the model returns beside its logits.

        In a search it keeps its choices for the next step, and may return their score.

        Args:
            features: B×T×F, what the output layer reads.
        """
        return {}

    def chosen(self, incremental_state: IncrementalState) -> Optional[Tensor]:
        """What it chose in the last step of a search, B×…, in place of annotation that it reads;
        None = it chooses nothing."""
        return None


def having(extensions: Iterable[Any], hook: str) -> list[Any]:
    """The extensions whose method defines a hook itself; the hooks of this package do nothing."""
    return [x for x in extensions if not _defining_module(type(x), hook).startswith(__package__)]


def _defining_module(kind: type, name: str) -> str:
    """The module of the class that an attribute of a class comes from."""
    return next(base.__module__ for base in kind.__mro__ if name in vars(base))


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
