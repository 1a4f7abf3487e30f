"""fairseq's sentence pairs with annotation in the batch."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from fairseq.data import BaseWrapperDataset, LanguagePairDataset

from syntax_nmt.data.annotation.kind import BatchedText
from syntax_nmt.data.batch import Batch, source_tokens
from syntax_nmt.data.binarised_annotation import BinarisedAnnotation
from syntax_nmt.errors import UserError
from syntax_nmt.text.languages import SOURCE, TARGET


class SyntaxDataset(BaseWrapperDataset):
    """Adds annotation to the batches of a `LanguagePairDataset`.

    The batch gets the tensor of each kind under its key, in the batch's order of sentences; see
    :mod:`syntax_nmt.data.annotation`. Without a target, no annotation of the target is added.

    Args:
        annotations: the annotation of these sentences.

    Raises:
        UserError: annotation of another number of sentences.
    """

    def __init__(
        self, pair_dataset: LanguagePairDataset, annotations: Iterable[BinarisedAnnotation] = ()
    ) -> None:
        super().__init__(pair_dataset)
        self.annotations = tuple(annotations)
        for annotation in self.annotations:
            if len(annotation) != len(pair_dataset):
                raise UserError(
                    f"{annotation.kind.name}: {len(annotation)} sentences, the text has "
                    f"{len(pair_dataset)}: binarise the annotation of this very text"
                )

    def collater(self, samples: list[dict], pad_to_length: dict | None = None) -> Batch:
        """Merges samples to a batch.

        Args:
            samples: items of this dataset.
            pad_to_length: least widths, `{"source": …, "target": …}`.

        Returns:
            The wrapped dataset's batch with the annotation; {} for no samples.
        """
        options = {} if pad_to_length is None else {"pad_to_length": pad_to_length}
        batch = self.dataset.collater(samples, **options)
        if not batch:
            return batch
        ids = batch["id"].numpy()  # the wrapped collater has sorted the sentences by length
        source, target = source_tokens(batch), batch["target"]
        texts = {SOURCE: BatchedText(ids, self.src_sizes, source.size(1), self.left_pad_source)}
        if self.tgt_sizes is not None:
            texts[TARGET] = BatchedText(ids, self.tgt_sizes, target.size(1), self.left_pad_target)
        for annotation in self.annotations:
            if annotation.kind.side in texts:
                batch.update(annotation.batched(texts[annotation.kind.side]))
        return batch

    def __getitems__(self, indices: list[int]) -> list[dict]:
        """The samples of a batch, for torch's data loader: this saves one call per sentence."""
        dataset = self.dataset
        return [dataset[index] for index in indices]

    # Attributes that fairseq reads from a sentence-pair dataset and BaseWrapperDataset lacks.

    def num_tokens_vec(self, indices: np.ndarray) -> np.ndarray:
        """The larger of source and target length of each pair, which `--max-tokens` counts."""
        return self.dataset.num_tokens_vec(indices)

    @property
    def supports_fetch_outside_dataloader(self) -> bool:
        """Whether items may be read outside the data loader's workers."""
        return self.dataset.supports_fetch_outside_dataloader

    def __getattr__(self, name: str) -> Any:
        """Texts, lengths and dictionaries."""
        if name == "dataset":  # not yet set during unpickling
            raise AttributeError(name)
        return getattr(self.dataset, name)
