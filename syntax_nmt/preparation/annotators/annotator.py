"""Annotators of sentences, and the entries of their output."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Optional

from syntax_nmt.data.annotation.formats import BRACKETED, CHUNK_TAGS, CONLLU, AnnotationFormat
from syntax_nmt.data.base_chunks import base_chunks
from syntax_nmt.data.text_columns import share_text
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.parser import ParserModels
from syntax_nmt.parsing.parsers import loaded_analyser
from syntax_nmt.parsing.program import OPTION, ProgramCommand
from syntax_nmt.preparation.executor import ordered_map, pinned_device
from syntax_nmt.preparation.foreign_text import LINES, first_lines, is_foreign, known_share

# Increased when the same models and options give other entries.
FORMAT = 3


# By the task of a parser.
_FORMATS = {"dependencies": CONLLU, "constituents": BRACKETED, "chunks": CHUNK_TAGS}

Sentences = Sequence[Sequence[str]]
Entries = list[Optional[str]]
"""The entry of each of some sentences, its line end included; None where there is none."""
Annotating = Callable[[Iterable[Sentences]], Iterator[Entries]]
"""What reads groups of sentences one by one, and yields their entries in order."""


class Annotator(ABC):
    """Annotates sentences. It is sent to other processes: small, to be pickled.

    Attributes:
        max_words: longer sentences are not annotated.
        batch_size: words in a batch.
        models: that are loaded, and can parse typed text, too; None = there are none.
    """

    max_words: int
    batch_size: int = 1000
    models: ParserModels | None = None

    @abstractmethod
    def fingerprint(self) -> str:
        """A string that changes when annotation might change."""

    @property
    @abstractmethod
    def made_by(self) -> str:
        """The parser and its version, in a line that a prepared folder keeps."""

    @abstractmethod
    def load(self) -> None:
        """Loads what can be loaded, so that errors occur before the work.

        Raises:
            UserError: it does not load.
        """

    def foreign(self, text: Path) -> str | None:
        """A line on a text most words of which the models do not know; None = they do.

        Args:
            text: words separated by spaces, one sentence per line; may be `.gz`.
        """
        return None

    @contextmanager
    def on(self, workers: int, dask_scheduler: str | None) -> Iterator[Annotating]:
        """Annotates on several workers.

        Args:
            workers: processes of this machine; 1 = this one.
            dask_scheduler: address of a Dask scheduler whose workers do the work.

        Raises:
            UserError: the cluster cannot be used, or a worker died.
        """
        with ordered_map(workers, dask_scheduler) as mapped:
            yield partial(mapped, self.annotate)

    @abstractmethod
    def annotate(self, sentences: Sentences) -> Entries:
        """The entry of each sentence; None where the parser fails.

        Args:
            sentences: words; no sentence empty, in order of length.

        Raises:
            UserError: the models do not load, or the parser fails on one sentence after another.
        """

    @abstractmethod
    def no_annotation(self, words: Sequence[str]) -> str:
        """The entry of a sentence that has no annotation.

        Args:
            words: its words; none for an empty line.
        """


@dataclass(frozen=True)
class ModelAnnotator(Annotator):
    """A parser with the models of one task.

    Attributes:
        models: models to load; their task decides the kind of annotation.
        device: `cpu`, `cuda` (the GPU of this process's local rank) or `cuda:N`.
        max_words: longer sentences are not annotated; memory grows with the square of the length.
        batch_size: words in a batch.
        as_chunks: whether to write the base chunks of constituency trees.
    """

    models: ParserModels
    device: str = "cpu"
    max_words: int = 250
    batch_size: int = 1000
    as_chunks: bool = False

    def fingerprint(self) -> str:
        """A string that changes when annotation might change."""
        kind = self.device.split(":")[0]
        options = [kind, self.max_words, self.batch_size, self.as_chunks]
        return json.dumps([FORMAT, *self.models.versions, *options, *self.models.fingerprint()])

    @property
    def made_by(self) -> str:
        """Parser, version and models."""
        return self.models.made_by

    def load(self) -> None:
        """Loads the models.

        Raises:
            UserError: they do not load, or are of another language.
        """
        self._analyser()

    def foreign(self, text: Path) -> str | None:
        """A line on a text most words of which the models do not know; None = they do, or do not
        say.
        """
        knows = self._analyser().knows
        if knows("") is None:
            return None
        share = known_share(first_lines(text), lambda word: bool(knows(word)))
        if share is None or not is_foreign(share):
            return None
        return (
            f"warning: {text}: the models of '{self.models.lang}' know {share_text(share)} of the "
            f"words of its first {LINES:,} lines: is it of another language?"
        )

    def annotate(self, sentences: Sentences) -> Entries:
        """The entry of each sentence; None where the parser fails."""
        return [
            None if found is None else self._entry(words, found)
            for words, found in zip(sentences, self._analyser().analyse(sentences))
        ]

    def _entry(self, words: Sequence[str], analysis: Any) -> str:
        annotation = _FORMATS[self.models.task].of_analysis(analysis)
        if self.as_chunks and annotation is not None:
            annotation = base_chunks(annotation)
        return self._format.write(annotation, words)

    def no_annotation(self, words: Sequence[str]) -> str:
        """The entry of a sentence that has no annotation."""
        return self._format.write(None, words)

    @property
    def _format(self) -> AnnotationFormat:
        return CHUNK_TAGS if self.as_chunks else _FORMATS[self.models.task]

    def _analyser(self) -> Any:
        return loaded_analyser(self.models, pinned_device(self.device), self.batch_size)


@dataclass(frozen=True)
class ProgramAnnotator(Annotator):
    """Dependencies by a program, which runs once a worker.

    Attributes:
        command: the program.
    """

    command: ProgramCommand
    max_words: int = 250

    def fingerprint(self) -> str:
        """The command: what else the program's trees depend on, only its user knows."""
        return json.dumps([FORMAT, OPTION, *self.command.words, self.command.lang, self.max_words])

    @property
    def made_by(self) -> str:
        """The program's name, and a checksum of its command: arguments may be private."""
        digest = hashlib.sha256(json.dumps(self.command.words).encode("utf-8")).hexdigest()[:8]
        return f"the program {self.command.name} ({digest})"

    def load(self) -> None:
        """Nothing: programs are started with their work."""

    @contextmanager
    def on(self, workers: int, dask_scheduler: str | None) -> Iterator[Annotating]:
        """Annotates with as many programs as there are workers.

        Raises:
            UserError: on a Dask cluster; as of :meth:`ProgramCommand.parse`.
        """
        if dask_scheduler is not None:
            raise UserError(
                f"{OPTION} runs on this machine alone: leave --dask-scheduler out, or run it in "
                "shards (--num-shards)"
            )

        def annotating(groups: Iterable[Sentences]) -> Iterator[Entries]:
            for sentences, trees in self.command.parse(groups, workers):
                yield [
                    None if tree is None else CONLLU.write(tree, words)
                    for words, tree in zip(sentences, trees)
                ]

        yield annotating

    def annotate(self, sentences: Sentences) -> Entries:
        """The entry of each sentence, by a program that is started for them."""
        with self.on(1, None) as annotating:
            (entries,) = annotating([sentences])
        return entries

    def no_annotation(self, words: Sequence[str]) -> str:
        """The block of a sentence without a tree."""
        return CONLLU.write(None, words)
