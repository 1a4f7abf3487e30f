"""Structures of a trained model for each sentence of a text, in batches, in the text's order."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from fairseq.data import data_utils
from fairseq.models import BaseFairseqModel
from fairseq.tasks import FairseqTask

from syntax_nmt.inference.checkpoint import choose_device, load_model, quiet_fairseq
from syntax_nmt.inference.forced_decoding import ForcedDecoder
from syntax_nmt.inference.parsed_sources import ParsedSources, source_parser
from syntax_nmt.inference.settings import CorpusText, ModelFiles
from syntax_nmt.inference.source_text import (
    SourceSentence,
    SourceText,
    length_batches,
    read_side,
    read_sides,
)
from syntax_nmt.scoring.parallel_text import TokenPair
from syntax_nmt.task.source_parser import SourceParser
from syntax_nmt.text.languages import SOURCE

_WINDOW = 4096  # number of sentences sorted by length together; results follow window by window

T = TypeVar("T")


class StructureExtractor(Protocol):
    """Gets a model's structures for the sentences of a text.

    Attributes:
        labels: names of the labels that the structures have.
    """

    labels: Sequence[str]

    def fits(self, index: int) -> bool:
        """Whether the model has positions for a sentence."""

    def of(
        self, indices: Sequence[int], max_tokens: int, batch_size: int | None
    ) -> Iterator[tuple[int, np.ndarray]]:
        """The structures of some sentences, as (index, numbers of the pieces, without EOS).

        The order may differ.

        Args:
            indices: of the sentences; each fits.
            max_tokens: of a batch, padding included; a longer sentence is a separate batch.
            batch_size: sentences of a batch; None = as many as fit.
        """


class EncoderAnswers:
    """Uses only the encoder, whose positions are those of the source.

    Args:
        model: in evaluation mode.
        read: the numbers in the encoder's output, B×S or B×S×S.
        parser: for source annotation that the model reads; None = there is none.
        labels: names of the labels that the numbers have.
        options: of the encoder's forward.

    Raises:
        UserError: the model reads parses, and there is no parser.
    """

    def __init__(
        self,
        model: BaseFairseqModel,
        text: SourceText,
        read: Callable[[Any], np.ndarray],
        parser: SourceParser | None = None,
        labels: Sequence[str] = (),
        **options: Any,
    ) -> None:
        self.labels = labels
        self.sources = ParsedSources(model, parser)
        self.encoder: Any = model.encoder
        self.text = text
        self.read = read
        self.options = options

    def fits(self, index: int) -> bool:
        """Whether the encoder has positions for a sentence."""
        return len(self.text.tokens[index]) <= int(self.encoder.max_positions())

    @torch.no_grad()
    def of(
        self, indices: Sequence[int], max_tokens: int, batch_size: int | None
    ) -> Iterator[tuple[int, np.ndarray]]:
        """The answers for some sentences; see :class:`StructureExtractor`."""
        device = next(self.encoder.parameters()).device
        sentences = [self.text.tokens[index].long() for index in indices]
        lengths = [len(tokens) for tokens in sentences]
        for batch in length_batches(range(len(indices)), lengths, max_tokens, batch_size):
            # Padding goes to the right, so that the pieces of a row are its first tokens.
            source = data_utils.collate_tokens(
                [sentences[place] for place in batch], self.text.dictionary.pad(), left_pad=False
            )
            sizes = torch.tensor([lengths[place] for place in batch])
            known = [self.text.segmented(indices[place]) for place in batch]
            tokens = {"src_tokens": source.to(device), "src_lengths": sizes.to(device)}
            sample = self.sources.annotated({"net_input": tokens}, known)
            out = self.encoder(**sample["net_input"], **self.options)
            for place, numbers in zip(batch, self.read(out)):
                yield indices[place], numbers[(slice(lengths[place] - 1),) * numbers.ndim]


class ForcedAnswers:
    """Forced decoding of given translations, whose structures are requested.

    Args:
        model: in evaluation mode.
        read: the numbers of a target's pieces, from what the model returned beside its logits, the
            row of the batch, and the number of these pieces, without EOS.
        parser: for source annotation that the model reads; None = there is none.
        labels: names of the labels that the numbers have.
        options: of the model's forward.

    Raises:
        UserError: the model reads parses, and there is no parser.
    """

    def __init__(
        self,
        model: BaseFairseqModel,
        task: FairseqTask,
        source: SourceText,
        target: SourceText,
        read: Callable[[Any, int, int], np.ndarray],
        parser: SourceParser | None = None,
        labels: Sequence[str] = (),
        **options: Any,
    ) -> None:
        self.labels = labels
        self.decoder = ForcedDecoder(model, task, parser)
        self.source, self.target = source, target
        self.read = read
        self.options = options

    def fits(self, index: int) -> bool:
        """Whether the model has positions for a sentence and its translation."""
        return self.decoder.fits(self._pair(index))

    def of(
        self, indices: Sequence[int], max_tokens: int, batch_size: int | None
    ) -> Iterator[tuple[int, np.ndarray]]:
        """The structures of some translations; see :class:`StructureExtractor`."""
        pairs = [self._pair(index) for index in indices]
        for batch in self.decoder.batches(pairs, max_tokens, batch_size):
            _, extra = self.decoder.forward(batch, features_only=True, **self.options)
            for row, place in enumerate(batch.indices):
                yield indices[place], self.read(extra, row, batch.targets[row] - 1)

    def _pair(self, index: int) -> TokenPair:
        return TokenPair(tuple(self.source.pieces(index)), tuple(self.target.pieces(index)))


def answers_of_corpus(
    files: ModelFiles,
    wanted: CorpusText,
    side: str,
    of_source: Callable[..., StructureExtractor],
    of_target: Callable[..., StructureExtractor],
) -> tuple[StructureExtractor, SourceText]:
    """Loads a model and the text whose structures are requested.

    Args:
        side: `source` or `target`, whose structures are found by forced decoding.
        of_source: takes a model, the text, and a parser of the source or None.
        of_target: takes a model, its task, the sources, the text, and the parser.

    Raises:
        UserError: as of these two, or files do not belong together.
    """
    with quiet_fairseq():
        model, task, _ = load_model(files.path, files.data, choose_device(files.device))
        parser = source_parser(model, task, files.parser_config)
        if side == SOURCE:
            text = read_side(task, wanted, SOURCE)
            return of_source(model, text, parser), text
        sources, text = read_sides(task, wanted)
        return of_target(model, task, sources, text, parser), text


def structures_of(
    answers: StructureExtractor,
    text: SourceText,
    structure: Callable[[SourceSentence, np.ndarray | None], T],
    max_tokens: int,
    batch_size: int | None = None,
    known_words: Sequence[tuple[str, ...] | None] | None = None,
) -> Iterator[T]:
    """The structures of a text, in the order of its sentences.

    Args:
        structure: computes that of a sentence; the result is None if the sentence has no word or is
            too long for the model.
        max_tokens: of a batch, padding included; a longer sentence is a separate batch.
        batch_size: sentences of a batch; None = as many as fit.
        known_words: for each sentence its words, if the text does not have them all.
    """
    for start in range(0, len(text), _WINDOW):
        window = range(start, min(start + _WINDOW, len(text)))
        sentences = {index: text[index] for index in window}
        if known_words is not None:
            for index, sentence in sentences.items():
                words = known_words[index] or sentence.words
                sentences[index] = replace(sentence, words=words)
        found = {index: structure(sentence, None) for index, sentence in sentences.items()}
        usable = [index for index in window if sentences[index].words and answers.fits(index)]
        for index, numbers in answers.of(usable, max_tokens, batch_size):
            found[index] = structure(sentences[index], numbers)
        yield from found.values()
