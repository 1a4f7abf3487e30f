"""The half of a model that has features of methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from syntax_nmt.backbone.feature import Feature
from syntax_nmt.data.annotation.kind import AnnotationKind


class FeaturedHalf:
    """A base class to list before fairseq's encoder or decoder.

    Attributes:
        features: what methods add, from what acts lowest to what stands on top.
    """

    features: Sequence[Any] = ()

    def register_features(self: Any, features: Sequence[Feature]) -> None:
        """Keeps the features, and registers their modules under the names that they give."""
        self.features = features
        for feature in features:
            for name, module in feature.modules(self.output_dim).items():
                self.add_module(name, module)

    @property
    def reads_annotation(self) -> tuple[AnnotationKind, ...]:
        """The annotation that every forward pass needs."""
        return tuple(kind for feature in self.features for kind in feature.reads)

    @property
    def learns_annotation(self) -> tuple[AnnotationKind, ...]:
        """The annotation that the half is trained with."""
        return tuple(kind for feature in self.features for kind in feature.learns)

    @property
    def annotation_labels(self) -> Mapping[AnnotationKind, tuple[str, ...]]:
        """The labels of annotation that the half was built for."""
        return {
            kind: labels for feature in self.features for kind, labels in feature.labels.items()
        }

    @property
    def structures(self) -> tuple[str, ...]:
        """What can be extracted from it, of :mod:`syntax_nmt.backbone.structures`."""
        return tuple(name for feature in self.features for name in feature.structures)

    @property
    def distance_layers(self) -> int:
        """The number of lowest layers with syntactic distances."""
        return max((getattr(each, "distance_layers", 0) for each in self.features), default=0)

    def extra(self, encoder_out: dict[str, list[Tensor]]) -> dict[str, Any]:
        """What the model returns beside its logits, of an encoder.

        Args:
            encoder_out: of a forward pass with all states.
        """
        return {}
