"""The structures that a forward pass returns on request: syntactic distances and attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from syntax_nmt.data.annotation.columns import Column

if TYPE_CHECKING:  # commands start without torch
    from torch import Tensor

# What a layer returns of its self-attention, by the argument that asks the attention for it.
DISTANCES, ATTENTION = "need_distances", "need_weights"
SOURCE_DISTANCES, TARGET_DISTANCES = "source_distances", "target_distances"
SOURCE_ATTENTION, TARGET_ATTENTION = "source_attention", "target_attention"
CROSS_ATTENTION = "cross_attention"
# What can be extracted from a model.
DEPENDENCIES, CONSTITUENTS, CHUNKED = "dependencies", "constituents", "chunks"
FACTORS = "factors"
ARC_GATES = "gates of arcs"
TARGET_DEPENDENCIES = "dependencies of the target"
# Log-probabilities of each token's head, B×S×S in float32 at least, a root's its own; of a model
# that has dependencies, beside its logits.
PARENTS = "parents"
# Those of the words of the target, B×T×T; −inf where a head comes later.
TARGET_PARENTS = "target_parents"
# What scores the labels of their arcs, of a model that has labels.
ARC_LABELS, TARGET_ARC_LABELS = "arc_labels", "target_arc_labels"
# Of a model that has chunks, a list of one tensor each: whether a chunk opens at a token of the
# target, B×T; the logits of both answers, B×T×2; those of a chunk's type, B×T×types; the attention
# of the token's chunk, B×T×S.
CHUNK_OPENS, CHUNK_BOUNDARIES = "opened", "boundary_logits"
CHUNK_TYPES, CHUNK_ATTENTION = "tag_logits", "chunk_attn"
# In a search, of a decoder that chooses more than words: a list of log-probabilities of what it
# chose, B×1×1, which scores of all words add.
JOINT_SCORE = "joint_score"
# Of a model that has factors of the target, a list of :class:`PredictedFactor`.
TARGET_FACTORS = "predicted_factors"
SOURCE_STRUCTURES = (SOURCE_DISTANCES, SOURCE_ATTENTION)


class PredictedFactor(NamedTuple):
    """What a decoder predicts beside the words of the target.

    Attributes:
        kind: the annotation that it learns, and by whose name it is known.
        labels: its values; number k has the logits k and, in annotation, the id k + 1.
        logits: B×T×values, of each word where the target has it; those at EOS and pads mean
            nothing.
    """

    kind: Column
    labels: tuple[str, ...]
    logits: Tensor

    def values(self) -> list[list[str]]:
        """The most probable value at each place, B×T."""
        rows = self.logits.argmax(dim=-1).tolist()
        return [[self.labels[place] for place in row] for row in rows]


@dataclass(frozen=True)
class StructureLayers:
    """The layers whose structures a forward pass returns.

    Layers are counted from the lowest. Each name has one tensor per layer: distances
    are B×H×S or B×H×T, of layers with gates; attention is B×S×S, B×T×T or B×T×S, averaged over
    heads, before dropout, in float32.

    Attributes:
        source_distances: encoder layers.
        target_distances: decoder layers.
        source_attention: encoder layers.
        target_attention: decoder layers, their self-attention.
        cross_attention: decoder layers, their attention to the source.
    """

    source_distances: tuple[int, ...] = ()
    target_distances: tuple[int, ...] = ()
    source_attention: tuple[int, ...] = ()
    target_attention: tuple[int, ...] = ()
    cross_attention: tuple[int, ...] = ()

    def encoder_arguments(self, layer: int) -> dict[str, Any]:
        """The arguments of an encoder layer."""
        return _arguments(layer, self.source_distances, self.source_attention)

    def decoder_arguments(self, layer: int) -> dict[str, Any]:
        """The arguments of a decoder layer."""
        arguments = _arguments(layer, self.target_distances, self.target_attention)
        return arguments | ({"need_attn": True} if layer in self.cross_attention else {})


def _arguments(layer: int, distances: Sequence[int], attention: Sequence[int]) -> dict[str, Any]:
    wanted = {DISTANCES: layer in distances, ATTENTION: layer in attention}
    names = [name for name, is_wanted in wanted.items() if is_wanted]
    return {"wanted": tuple(names)} if names else {}
