"""A source embedding that is a sum of vectors, one of the token and one of each factor.

Other engines know such models, with a vocabulary for each factor.
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional

from torch import Tensor

from syntax_nmt.data.annotation.kind import AnnotationKind

NO_VALUE, END_OF_SENTENCE, UNKNOWN_VALUE = SPECIAL_VALUES = ("<none>", "</s>", "<unk>")
PLACE_IN_WORD = "place"
OUTSIDE, BEGIN, INSIDE, END = PLACES = ("O", "B", "I", "E")


class Factor(NamedTuple):
    """What stands beside each token.

    Attributes:
        kind: the annotation whose labels are its values; None = the place in the word.
        values: in the order of their ids, :data:`SPECIAL_VALUES` among them.
        table: values×C.
    """

    kind: Optional[AnnotationKind]
    values: tuple[str, ...]
    table: Tensor

    @property
    def name(self) -> str:
        """The name of its kind, or :data:`PLACE_IN_WORD`."""
        return PLACE_IN_WORD if self.kind is None else self.kind.name


class SourceFactors(NamedTuple):
    """An encoder's embedding as a sum.

    Attributes:
        words: the summand of the token, V×C.
        factors: the others.
        modules: names of the encoder's modules that they take the place of.
    """

    words: Tensor
    factors: tuple[Factor, ...]
    modules: tuple[str, ...]


def places(counts: Sequence[int]) -> list[str]:
    """O for a word of one piece; B, I and E for the first, inner and last pieces of others.

    Args:
        counts: the number of pieces of each word.
    """
    found = []
    for count in counts:
        found += [OUTSIDE] if count == 1 else [BEGIN, *[INSIDE] * (count - 2), END]
    return found
