"""fairseq's sentence pairs with side information in the batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from fairseq.data import BaseWrapperDataset, Dictionary, LanguagePairDataset

from syntax_nmt.data.collation import collate_chunk_tags, collate_heads, collate_phrases
from syntax_nmt.data.side_information import SideInformation
from syntax_nmt.errors import UserError


class SyntaxDataset(BaseWrapperDataset):
    """Adds side information to the batches of a `LanguagePairDataset`.

    The batch gets, in its own order of sentences (S and T are the padded widths of source and
    target, EOS included; nothing is added for what was not given):

    - `heads`, B×S int32: the column of each source token's head, the root's being its own; −1 at
      pads, at EOS and in a sentence without parse
    - `phrase_lengths`, B×P int32: lengths of the source's phrases from left to right, 0 = no
      phrase; EOS is a phrase of its own in a parsed sentence, and a sentence without parse is cut
      into n-grams; in `net_input`, as it is the one that models read, not losses
    - `chunk_tags`, B×T int32: the tag id (1..K) where a chunk of the target opens, 0 inside, K+1
      at EOS; −1 at pads and everywhere in a sentence without annotation
    - `all_annotated`: whether no sentence of the batch is without chunks
    """

    def __init__(
        self,
        pair_dataset: LanguagePairDataset,
        heads: SideInformation | None = None,
        phrases: SideInformation | None = None,
        chunks: SideInformation | None = None,
    ) -> None:
        """Wraps a dataset.

        Args:
            pair_dataset: the sentence pairs.
            heads: dependency heads of the source.
            phrases: phrase lengths of the source.
            chunks: chunks of the target.

        Raises:
            UserError: side information of another number of sentences.
        """
        super().__init__(pair_dataset)
        self.heads = heads
        self.phrases = phrases
        self.chunks = chunks
        for side in (heads, phrases, chunks):
            if side is not None and len(side) != len(pair_dataset):
                raise UserError(
                    f"{side.kind}: {len(side)} sentences, the text has {len(pair_dataset)}: "
                    f"binarize the side files of this very text"
                )

    def collater(self, samples: list[dict], pad_to_length: dict | None = None) -> dict[str, Any]:
        """Merges samples to a batch.

        Args:
            samples: items of this dataset.
            pad_to_length: least widths, `{"source": …, "target": …}`.

        Returns:
            The wrapped dataset's batch with the side information; {} for no samples.
        """
        options = {} if pad_to_length is None else {"pad_to_length": pad_to_length}
        batch = self.dataset.collater(samples, **options)
        if not batch:
            return batch
        ids = batch["id"].numpy()  # the wrapped collater has sorted the sentences by length
        if self.heads is not None:
            width = batch["net_input"]["src_tokens"].size(1)
            batch["heads"] = collate_heads(self.heads.rows, ids, width, self.left_pad_source)
        if self.phrases is not None:
            lengths = batch["net_input"]["src_lengths"].numpy()
            batch["net_input"]["phrase_lengths"] = collate_phrases(self.phrases.rows, ids, lengths)
        if self.chunks is not None and batch["target"] is not None:
            tags = collate_chunk_tags(
                self.chunks.rows,
                ids,
                batch["target"].size(1),
                self.left_pad_target,
                len(self.chunks.tags) + 1,
            )
            batch["chunk_tags"] = tags
            batch["all_annotated"] = bool(tags.amax(dim=1).ge(0).all())
        return batch

    def __getitems__(self, indices: list[int]) -> list[dict]:
        """The samples of a batch, for torch's data loader: one call fewer a sentence.

        Args:
            indices: sentences.
        """
        dataset = self.dataset
        return [dataset[index] for index in indices]

    # What fairseq reads off a sentence-pair dataset and BaseWrapperDataset does not hand through.

    def num_tokens_vec(self, indices: np.ndarray) -> np.ndarray:
        """The larger of source and target length of each pair, which `--max-tokens` counts.

        Args:
            indices: sentences.
        """
        return self.dataset.num_tokens_vec(indices)

    @property
    def supports_fetch_outside_dataloader(self) -> bool:
        """Whether items may be read outside the data loader's workers."""
        return self.dataset.supports_fetch_outside_dataloader

    @property
    def src(self) -> Any:
        """The source sentences (`--replace-unk` reads their text)."""
        return self.dataset.src

    @property
    def tgt(self) -> Any:
        """The target sentences, or None."""
        return self.dataset.tgt

    @property
    def src_sizes(self) -> np.ndarray:
        """Source lengths with EOS."""
        return self.dataset.src_sizes

    @property
    def tgt_sizes(self) -> np.ndarray | None:
        """Target lengths with EOS, or None."""
        return self.dataset.tgt_sizes

    @property
    def src_dict(self) -> Dictionary:
        """The source vocabulary."""
        return self.dataset.src_dict

    @property
    def tgt_dict(self) -> Dictionary | None:
        """The target vocabulary, or None."""
        return self.dataset.tgt_dict

    @property
    def left_pad_source(self) -> bool:
        """Whether sources are padded on the left."""
        return self.dataset.left_pad_source

    @property
    def left_pad_target(self) -> bool:
        """Whether targets are padded on the left."""
        return self.dataset.left_pad_target
