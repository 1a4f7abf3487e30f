"""The stack of a model that has extensions of methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from syntax_nmt.backbone.extension import Extension
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.batch import ModelExtra


class ExtendedStack:
    """A base class to list before fairseq's encoder or decoder.

    Attributes:
        extensions: what methods add, from what acts lowest to what stands on top.
        joint_score: of a decoder that chooses more than words: whether scores in a search add that.
    """

    extensions: Sequence[Any] = ()
    joint_score: bool = False

    def register_extensions(self: Any, extensions: Sequence[Extension]) -> None:
        """Keeps the extensions, and registers their modules under the names that they give."""
        self.extensions = extensions
        for extension in extensions:
            for name, module in extension.build(self.output_dim).items():
                self.add_module(name, module)

    @property
    def reads_annotation(self) -> tuple[AnnotationKind, ...]:
        """The annotation that every forward pass needs."""
        return tuple(kind for extension in self.extensions for kind in extension.reads)

    @property
    def learns_annotation(self) -> tuple[AnnotationKind, ...]:
        """The annotation that the stack is trained with."""
        return tuple(kind for extension in self.extensions for kind in extension.learns)

    @property
    def annotation_labels(self) -> Mapping[AnnotationKind, tuple[str, ...]]:
        """The labels of annotation that the stack was built for."""
        return {
            kind: labels
            for extension in self.extensions
            for kind, labels in extension.labels.items()
        }

    @property
    def structures(self) -> tuple[str, ...]:
        """What can be extracted from it, of :mod:`syntax_nmt.backbone.structures`."""
        return tuple(name for extension in self.extensions for name in extension.structures)

    @property
    def distance_layers(self) -> int:
        """The number of lowest layers with syntactic distances."""
        return max((getattr(each, "distance_layers", 0) for each in self.extensions), default=0)

    def extra(self, encoder_out: dict[str, list[Tensor]]) -> ModelExtra:
        """What the model returns beside its logits, of an encoder.

        Args:
            encoder_out: of a forward pass with all states.
        """
        return {}
