"""What systems are made to do: train, and translate with several beams and batches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fairseq import utils
from fairseq.data import Dictionary
from random_sentences import make_batches
from sizes import Sizes

_ALONE = 4  # sentences that are translated one by one


class System(Protocol):
    """What is measured: a model with all that training and translation take."""

    name: str

    @property
    def parameters(self) -> int:
        """How many numbers are trained."""

    def train(self, batches: Sequence[dict[str, Any]]) -> None:
        """One update for each batch."""

    def decode(self, batches: Sequence[dict[str, Any]], beam: int) -> None:
        """Beam search for each batch."""


@dataclass(frozen=True)
class Load:
    """Work with its data.

    Attributes:
        work: does it once.
        items: tokens or sentences that are done.
        unit: of the items.
    """

    work: Callable[[System], None]
    items: int
    unit: str


# Beam and sentences in a batch, None = those of the size; None alone = training.
WORKS: dict[str, tuple[int, int | None] | None] = {
    "training": None,
    "beam4": (4, None),
    "beam5": (5, None),
    "beam5-batch1": (5, 1),
}


def load(name: str, dictionary: Dictionary, sizes: Sizes, batches: int, device: str) -> Load:
    """The work of a name on random sentences.

    Args:
        name: one of `WORKS`.
        batches: how many.
    """
    search = WORKS[name]
    sentences = sizes.sentences
    if search is not None and search[1] is not None:
        sentences, batches = search[1], _ALONE
    data = make_batches(dictionary, sizes.length, sentences, batches)
    if device == "cuda":
        data = [utils.move_to_cuda(batch) for batch in data]
    if search is None:
        tokens = sum(batch["ntokens"] for batch in data)
        return Load(lambda system: system.train(data), tokens, "tokens")
    beam = search[0]
    return Load(lambda system: system.decode(data, beam), sentences * batches, "sentences")
