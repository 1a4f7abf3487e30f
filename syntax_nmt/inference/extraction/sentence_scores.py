"""Log-probabilities of given translations under a model."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from fairseq.data import data_utils
from torch import Tensor
from tqdm import tqdm

from syntax_nmt.inference.forced_decoding import ForcedBatch, ForcedDecoder
from syntax_nmt.scoring.parallel_text import TokenPair


def sentence_scores(
    decoder: ForcedDecoder,
    pairs: Sequence[TokenPair],
    max_tokens: int,
    batch_size: int | None = None,
) -> list[float | None]:
    """For each pair the natural log of P(target, EOS included | source), not divided by length.

    The tokens' log-probabilities are the model's own (float32); they are added up in float64.
    Duplicate pairs are scored once, so that they have bit-identical scores.

    Args:
        pairs: sentences and their translations.
        max_tokens: as of :meth:`ForcedDecoder.batches`.

    Returns:
        one score a pair; None = too long for the model.
    """
    distinct = list(dict.fromkeys(pairs))
    scores: dict[TokenPair, float] = {}
    with tqdm(total=len(distinct), unit="sentence", leave=False, disable=None) as progress:
        for batch in decoder.batches(distinct, max_tokens, batch_size):
            for index, score in zip(batch.indices, _batch_scores(decoder, batch).tolist()):
                scores[distinct[index]] = score
            progress.update(len(batch.indices))
    return [scores.get(pair) for pair in pairs]


@torch.no_grad()
def _batch_scores(decoder: ForcedDecoder, batch: ForcedBatch) -> Tensor:
    """The sums of a batch, B, in float64."""
    target = batch.sample["target"]
    probabilities = decoder.model.get_normalized_probs(
        decoder.forward(batch), log_probs=True, sample=batch.sample
    )
    tokens = probabilities.gather(2, target.unsqueeze(2)).squeeze(2)
    lengths = torch.tensor(batch.targets, device=target.device)
    padding = data_utils.lengths_to_padding_mask(lengths)
    return tokens.cpu().double().masked_fill(padding.cpu(), 0.0).sum(dim=1)
