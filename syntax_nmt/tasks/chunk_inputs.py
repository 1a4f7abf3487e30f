"""Batches that have the chunk annotation of the target where their models read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import nn

from syntax_nmt.errors import UserError
from syntax_nmt.tasks.net_input import with_input, without_input

KEY, _ALL = "chunk_tags", "all_annotated"


def reads_chunks(models: Sequence[Any]) -> bool:
    """Whether all models take `chunk_tags` (B×T int32) and `all_annotated` in their forward pass.

    Args:
        models: an ensemble, which is given one input.
    """
    return all(getattr(model, "reads_chunks", False) for model in models)


class ChunkInputs:
    """Gives models that read chunks `net_input["chunk_tags"]`: to be trained, validated, scored.

    Beside them is `all_annotated`, which the data loader knows: a model would have to wait for its
    GPU to read it off the tags. A search is given none: there the model chooses boundaries itself.

    Attributes:
        tags: the types of chunks of the side files; None = none have been loaded.
    """

    def __init__(self) -> None:
        self.tags: tuple[str, ...] | None = None

    def check(self, model: nn.Module) -> None:
        """Compares the types of chunks of a model and of the side files that have been loaded.

        Args:
            model: of any kind.

        Raises:
            UserError: they are others.
        """
        if self.tags is None or not reads_chunks([model]):
            return
        decoder: Any = model.decoder
        if decoder.chunk_tags != self.tags:
            raise UserError(
                f"the model's chunk tags are {' '.join(decoder.chunk_tags) or 'none'}, those of "
                f"the data folder's dict.chunks.txt {' '.join(self.tags)}: give the folder that "
                "the model was trained with, or leave --load-chunks out"
            )

    def for_forward(self, models: Sequence[nn.Module], sample: dict[str, Any]) -> dict[str, Any]:
        """The batch with the annotation among the inputs, if it came with one and models read it.

        Args:
            models: the ensemble.
            sample: the batch, which stays as it is.

        Raises:
            UserError: the model was trained with other types of chunks.
        """
        if KEY not in sample or not reads_chunks(models):
            return sample
        for model in models:
            self.check(model)
        return with_input(with_input(sample, KEY, sample[KEY]), _ALL, sample.get(_ALL))

    def for_search(self, sample: dict[str, Any]) -> dict[str, Any]:
        """The batch without the annotation among the inputs.

        Args:
            sample: the batch, which stays as it is.
        """
        return without_input(without_input(sample, KEY), _ALL)
