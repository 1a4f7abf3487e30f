"""The stack of a model that has extensions of methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from syntax_nmt.backbone.extension import Extension, Target, having
from syntax_nmt.backbone.fused_attention import IncrementalState
from syntax_nmt.backbone.structures import JOINT_SCORE
from syntax_nmt.data.annotation.columns import loading_options
from syntax_nmt.data.annotation.kind import AnnotationKind, missing_annotation
from syntax_nmt.data.batch import ModelExtra


class ExtendedStack:
    """A base class to list before fairseq's encoder or decoder.

    Attributes:
        extensions: what methods add, from what acts lowest to what stands on top.
        joint_score: whether a search scores what a decoder chooses beside words, too.
    """

    extensions: Sequence[Any] = ()
    joint_score: bool = False

    def register_extensions(self: Any, extensions: Sequence[Extension]) -> None:
        """Keeps the extensions, and registers their modules under the names that they give."""
        self.extensions = extensions
        for extension in extensions:
            for name, module in extension.build(self.output_dim).items():
                self.add_module(name, module)
            self.joint_score |= extension.joint_score

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
    def arc_labels(self) -> tuple[str, ...]:
        """The labels of the arcs of its trees; () = they have none."""
        found = [each.arc_labels for each in self.extensions if each.arc_labels]
        return found[-1] if found else ()  # of the last, as of what extensions return

    @property
    def distance_layers(self) -> int:
        """The number of lowest layers with syntactic distances."""
        return max((each.distance_layers for each in self.extensions), default=0)

    def annotation_among(self, arguments: Mapping[str, Any]) -> dict[str, Tensor]:
        """The annotation that the stack reads, among the arguments of a forward pass."""
        keys = [key for kind in self.reads_annotation for key in kind.keys]
        return {key: arguments[key] for key in keys if key in arguments}

    def target_read(
        self: Any,
        tokens: Tensor,
        encoder_out: Any,
        incremental_state: IncrementalState | None,
        annotation: Mapping[str, Tensor],
    ) -> Target:
        """The batch of targets for the extensions of a decoder.

        Args:
            tokens: B×T.
            annotation: that the batch has; extensions choose in place of what is missing.

        Raises:
            UserError: it is missing in training.
        """
        choosing = [
            extension
            for extension in having(self.extensions, "chosen")
            if incremental_state is None
            and any(kind.key not in annotation for kind in extension.reads)
        ]
        if choosing and self.training:
            read = [kind for extension in choosing for kind in extension.reads]
            missing = [kind for kind in read if kind.key not in annotation]
            raise missing_annotation(missing, loading_options(read))
        chosen = self._forced_choices(tokens, encoder_out, choosing) if choosing else {}
        return Target(annotation, chosen, incremental_state)

    def predicted(self, features: Tensor, target: Target) -> ModelExtra:
        """What extensions of a decoder predict beside words.

        Args:
            features: B×T×F, what the output layer reads.
        """
        found: ModelExtra = {}
        for extension in having(self.extensions, "predictions"):
            found.update(extension.predictions(features, target))
        if not self.joint_score:  # a search may have set it to False
            found.pop(JOINT_SCORE, None)
        return found

    def get_normalized_probs(
        self: Any,
        net_output: tuple[Tensor, ModelExtra | None],
        log_probs: bool,
        sample: Mapping[str, Tensor] | None = None,
    ) -> Tensor:
        """The probabilities of a decoder's words; in a search, times those of what else it chose.

        Args:
            net_output: of its forward pass.
            log_probs: give logarithms.
            sample: not read.
        """
        scores: Tensor = super().get_normalized_probs(net_output, log_probs, sample)  # type: ignore[misc]
        for joint in (net_output[1] or {}).get(JOINT_SCORE, ()):
            scores = scores + joint if log_probs else scores * joint.exp()
        return scores

    @torch.no_grad()
    def _forced_choices(
        self: Any, tokens: Tensor, encoder_out: Any, choosing: Sequence[Any]
    ) -> dict[str, Tensor]:
        """What extensions choose where the words are given, step by step as in a search.

        As in a search, no step reads annotation that the batch has for other extensions.
        """
        state: IncrementalState = {}
        steps: list[list[Tensor]] = []
        for length in range(1, tokens.size(1) + 1):
            self.extract_features(tokens[:, :length], encoder_out, state)
            steps.append([extension.chosen(state) for extension in choosing])
        return {
            extension.option: torch.stack(each, dim=1)
            for extension, each in zip(choosing, zip(*steps))
        }

    def extra(self, encoder_out: dict[str, list[Tensor]]) -> ModelExtra:
        """What the model returns beside its logits, of an encoder.

        Args:
            encoder_out: of a forward pass with all states.
        """
        return {}
