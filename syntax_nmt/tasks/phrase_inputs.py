"""Batches that have the phrases which their models read, and no others."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from torch import nn

from syntax_nmt.errors import UserError
from syntax_nmt.tasks.net_input import with_input, without_input
from syntax_nmt.tasks.parsed_phrases import PhraseParser
from syntax_nmt.tasks.typed_sentences import TypedSentences

logger = logging.getLogger(__name__)

_KEY = "phrase_lengths"


def reads_phrases(models: Iterable[Any]) -> bool:
    """Whether the models need `net_input["phrase_lengths"]`: the one place that decides it.

    A model that takes an argument `phrase_lengths` (B×P int32, 0 = no phrase) in its own forward,
    which scores, and in its encoder's, which translates, has an attribute `reads_phrases`: True =
    it needs them, False = it has no use for them.

    Args:
        models: an ensemble, which is given one input.

    Raises:
        UserError: one model needs it, and another does not take it.
    """
    wanted = [getattr(model, "reads_phrases", None) for model in models if model is not None]
    if any(wanted) and None in wanted:
        raise UserError(
            "an ensemble of a model that reads phrases and one that takes none, which no "
            "architecture of syntax_nmt is: leave the latter out of --path"
        )
    return any(wanted)


class PhraseInputs:
    """Gives models their `net_input["phrase_lengths"]`.

    Phrases that no model reads are taken out, because a model of another family would not know the
    argument; the options that ask for them are warned of, once.

    Args:
        loaded: whether `--load-phrases` is given.
        parser: of `--parser-config`; None = it is not given.
    """

    def __init__(self, loaded: bool, parser: PhraseParser | None) -> None:
        self.parser = parser
        self._without_effect = [
            *(["--load-phrases"] if loaded else []),
            *(["--parser-config"] if parser is not None else []),
        ]

    def of_side_file(self, models: Sequence[nn.Module], sample: dict[str, Any]) -> dict[str, Any]:
        """The batch with the phrases that it came with, if a model reads them.

        Args:
            models: the ensemble.
            sample: the batch, which stays as it is.

        Raises:
            UserError: one model reads phrases, and another does not take any.
        """
        if reads_phrases(models):
            return sample
        if self._without_effect:
            logger.warning(
                f"{' and '.join(self._without_effect)}: has no effect, as the model reads no "
                "phrases of a parser (--phrase-segmentation parsed)"
            )
            self._without_effect = []
        return without_input(sample, _KEY)

    def of_side_file_or_parser(
        self,
        models: Sequence[nn.Module],
        sample: dict[str, Any],
        typed: TypedSentences | None,
    ) -> dict[str, Any]:
        """The batch with phrases, if a model reads them; parsed if it came without.

        Args:
            models: the ensemble.
            sample: the batch, which stays as it is.
            typed: knows the pieces of typed sentences.

        Raises:
            UserError: one model reads phrases, and another does not take any; or the parser fails.
        """
        sample = self.of_side_file(models, sample)
        inputs = sample["net_input"]
        if self.parser is None or _KEY in inputs or not reads_phrases(models):
            return sample  # if phrases are missing, the model says so
        lengths = self.parser.phrase_lengths(inputs["src_tokens"], typed)
        return with_input(sample, _KEY, lengths)
