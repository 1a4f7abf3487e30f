"""Forced decoding: a trained model reads given translations token by token (teacher forcing).

Also the log-probabilities of the translations.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from fairseq import utils
from fairseq.data import LanguagePairDataset, data_utils
from fairseq.models import BaseFairseqModel
from fairseq.tasks import FairseqTask
from torch import Tensor

from syntax_nmt.data.batch import Batch
from syntax_nmt.errors import errors_of
from syntax_nmt.inference.checkpoint import choose_device, load_model, quiet_fairseq
from syntax_nmt.inference.parsed_sources import ParsedSources, check_parser, source_parser
from syntax_nmt.inference.settings import BatchLimits, ModelFiles
from syntax_nmt.inference.source_text import length_batches, token_ids
from syntax_nmt.progress import Progress
from syntax_nmt.scoring.parallel_text import TokenPair
from syntax_nmt.task.source_parser import SourceParser

T = TypeVar("T")


@dataclass(frozen=True)
class ForcedBatch:
    """Pairs that go through the model together, the longest source first.

    Attributes:
        indices: the indices of the pairs, in the order of the rows.
        sources: their numbers of source tokens, EOS included.
        targets: their numbers of target tokens, EOS included.
        sample: fairseq's batch: `net_input` is the model's input, `target` (B×T) the tokens to
            predict.
    """

    indices: list[int]
    sources: list[int]
    targets: list[int]
    sample: Batch


class ForcedDecoder:
    """A trained model of any architecture, in evaluation mode, prepared for forced decoding.

    Args:
        parser: for source annotation that the model reads; None = there is none.

    Raises:
        UserError: the model reads parses, and there is no parser.
    """

    def __init__(
        self, model: BaseFairseqModel, task: FairseqTask, parser: SourceParser | None = None
    ) -> None:
        self.sources = ParsedSources(model, parser)
        model.eval()  # gives None for a model that fairseq has prepared for a search
        self.model: Any = model
        self.task: Any = task
        self.device = next(model.parameters()).device
        self.max_positions = utils.resolve_max_positions(
            task.max_positions(), model.max_positions()
        )

    def batches(
        self, pairs: Sequence[TokenPair], max_tokens: int, batch_size: int | None = None
    ) -> Iterator[ForcedBatch]:
        """Every pair that is not too long for the model, in batches of similar length.

        Args:
            max_tokens: of a batch on either side, padding included; a longer pair is a separate
                batch.
            batch_size: pairs of a batch; None = as many as fit.
        """
        lengths = [max(len(pair.source), len(pair.target)) + 1 for pair in pairs]
        fit = [index for index, pair in enumerate(pairs) if self.fits(pair)]
        for batch in length_batches(fit, lengths, max_tokens, batch_size):
            yield self._batch(batch, [pairs[index] for index in batch])

    def fits(self, pair: TokenPair) -> bool:
        """Whether the model has positions for a pair, EOS included."""
        source, target = self.max_positions
        return len(pair.source) < source and len(pair.target) < target

    @torch.no_grad()
    def forward(self, batch: ForcedBatch, **options: Any) -> tuple[Tensor, Any]:
        """The model's output for a batch: logits (B×T×V), and its extra output.

        Args:
            **options: of the model's own forward.
        """
        return self.model(**batch.sample["net_input"], **options)

    def _batch(self, indices: list[int], pairs: Sequence[TokenPair]) -> ForcedBatch:
        """Collates pairs as fairseq does in training: the previous tokens begin with EOS."""
        vocabularies = self.task.source_dictionary, self.task.target_dictionary
        sources = [token_ids(pair.source, vocabularies[0]) for pair in pairs]
        targets = [token_ids(pair.target, vocabularies[1]) for pair in pairs]
        lengths = [len(ids) for ids in sources], [len(ids) for ids in targets]
        dataset = LanguagePairDataset(
            sources, lengths[0], vocabularies[0], targets, lengths[1], vocabularies[1],
            # Padding goes to the right, so that the tokens of a row are its first ones.
            left_pad_source=False, left_pad_target=False,
        )  # fmt: skip
        # The longest source is first, as fairseq's recurrent encoders require.
        sample = dataset.collater([dataset[row] for row in range(len(dataset))])
        order = sample["id"].tolist()
        pieces = [list(pairs[row].source) for row in order]
        # A piece of a split that the vocabulary lacks has lost its string: the parser takes tokens.
        unknown = vocabularies[0].unk_word
        known = [None if unknown in of_sentence else of_sentence for of_sentence in pieces]
        sample = self.sources.annotated(sample, known)
        return ForcedBatch(
            indices=[indices[row] for row in order],
            sources=[lengths[0][row] for row in order],
            targets=[lengths[1][row] for row in order],
            sample=utils.apply_to_sample(lambda tensor: tensor.to(self.device), sample),
        )


def load_forced_decoder(files: ModelFiles, parser_option: str = "--parser-config") -> ForcedDecoder:
    """Loads a checkpoint for forced decoding.

    Args:
        files: the parser's configuration is read only if the model needs it.
        parser_option: to recommend if it is missing.

    Raises:
        UserError: the checkpoint or the parser's configuration cannot be used; names the file.
    """
    device = choose_device(files.device)
    with quiet_fairseq():
        model, task, _ = load_model(files.path, files.data, device)
        parser = source_parser(model, task, files.parser_config)
    with errors_of(files.path):
        check_parser(model, parser, parser_option)
        return ForcedDecoder(model, task, parser)


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
    limits = BatchLimits(max_tokens, batch_size)
    found = _scores(decoder, pairs, limits, lambda batch, tokens: tokens.sum(dim=1).tolist())
    return [found.get(pair) for pair in pairs]


def token_scores(
    decoder: ForcedDecoder, pairs: Sequence[TokenPair], limits: BatchLimits
) -> list[list[float] | None]:
    """For each pair the natural logs of the probabilities of its target's tokens, EOS last.

    Args:
        pairs: sentences and their translations.

    Returns:
        None = too long for the model.
    """

    def of_tokens(batch: ForcedBatch, tokens: Tensor) -> list[list[float]]:
        return [row[:length] for row, length in zip(tokens.tolist(), batch.targets)]

    found = _scores(decoder, pairs, limits, of_tokens)
    return [found.get(pair) for pair in pairs]


def _scores(
    decoder: ForcedDecoder,
    pairs: Sequence[TokenPair],
    limits: BatchLimits,
    read: Callable[[ForcedBatch, Tensor], Sequence[T]],
) -> dict[TokenPair, T]:
    """What is read from the scores of the tokens (B×T) of each batch, by pair."""
    distinct = list(dict.fromkeys(pairs))
    scores: dict[TokenPair, T] = {}
    with Progress(None, "scores", "sentences", len(distinct), leave=False) as progress:
        for batch in decoder.batches(distinct, *limits):
            for index, score in zip(batch.indices, read(batch, _token_scores(decoder, batch))):
                scores[distinct[index]] = score
            progress.update(len(batch.indices))
    return scores


@torch.no_grad()
def _token_scores(decoder: ForcedDecoder, batch: ForcedBatch) -> Tensor:
    """The log-probabilities of a batch's tokens, B×T, in float64; 0 at pads."""
    target = batch.sample["target"]
    probabilities = decoder.model.get_normalized_probs(
        decoder.forward(batch), log_probs=True, sample=batch.sample
    )
    tokens = probabilities.gather(2, target.unsqueeze(2)).squeeze(2)
    lengths = torch.tensor(batch.targets, device=target.device)
    padding = data_utils.lengths_to_padding_mask(lengths)
    return tokens.cpu().double().masked_fill(padding.cpu(), 0.0)
