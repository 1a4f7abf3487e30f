"""The parsers of a file of `--parser-config`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from syntax_nmt.errors import UserError, errors_of
from syntax_nmt.parsing.config import ParserConfig
from syntax_nmt.parsing.models import StanzaModels
from syntax_nmt.parsing.offline import check_device
from syntax_nmt.parsing.parsers import loaded_analyser


class ConfiguredParsers:
    """Parses words with the models that a configuration names.

    Args:
        name: the configuration's file, for messages.
    """

    def __init__(self, config: ParserConfig, name: str | Path) -> None:
        self.config = config
        self.name = name
        self._models: dict[str, StanzaModels] = {}

    @classmethod
    def read(cls, file: str | Path) -> ConfiguredParsers:
        """The parsers of a file.

        Raises:
            UserError: it has a mistake.
        """
        return cls(ParserConfig.read(file), file)

    def find(self, task: str) -> None:
        """Finds the models of a task without loading them, so that missing ones are reported early.

        Args:
            task: `dependencies` or `constituents`.

        Raises:
            UserError: one is missing.
        """
        if task not in self._models:
            with errors_of(self.name):
                self._models[task] = self.config.models(task)

    def analyses(self, task: str, sentences: Sequence[Sequence[str]]) -> list[Any]:
        """The analysis of each sentence; None where it is empty or too long, or the parser fails.

        Sentences are sorted by length, which needs the least padding.

        Args:
            task: `dependencies` or `constituents`.
            sentences: the words of each.

        Raises:
            UserError: models are missing or do not load, or Stanza fails on one sentence after
                another.
        """
        self.find(task)
        config = self.config
        found: list[Any] = [None] * len(sentences)
        fit = [i for i, words in enumerate(sentences) if 0 < len(words) <= config.max_words]
        fit.sort(key=lambda place: len(sentences[place]))
        if not fit:
            return found
        check_device(config.device, f"{self.name}: device")
        try:
            analyser = loaded_analyser(self._models[task], config.device, config.batch_size)
            parsed = analyser.analyse([sentences[place] for place in fit])
        except UserError as error:
            raise UserError(f"{self.name}: {error}") from None
        for place, analysis in zip(fit, parsed):
            found[place] = analysis
        return found
