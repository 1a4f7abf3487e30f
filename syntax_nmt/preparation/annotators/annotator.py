"""Annotators of sentences, and the entries of their output."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from syntax_nmt.data.base_chunks import base_chunks
from syntax_nmt.data.chunks import Chunk, iob2_tags
from syntax_nmt.data.conllu import format_no_parse, format_tree
from syntax_nmt.data.constituents import parse_tree
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.text_columns import share_text
from syntax_nmt.parsing.models import StanzaModels
from syntax_nmt.parsing.parsers import loaded_analyser
from syntax_nmt.preparation.executor import pinned_device
from syntax_nmt.preparation.foreign_text import LINES, first_lines, is_foreign, known_share

# Increased when the same models and options give other entries.
FORMAT = 3


class _Entries(NamedTuple):
    """Writes the results of a task."""

    found: Callable[[Sequence[str], Any], str]
    missing: Callable[[Sequence[str]], str]


def _dependencies(words: Sequence[str], tree: DependencyTree) -> str:
    return format_tree(words, tree)


def _constituents(words: Sequence[str], tree: str) -> str:
    return f"{tree}\n"


def _chunks(words: Sequence[str], chunks: Sequence[Chunk]) -> str:
    return " ".join(iob2_tags(chunks)) + "\n"


def _chunks_by_rules(words: Sequence[str], tree: str) -> str:
    parsed = parse_tree(tree, "Stanza's tree", 1)
    if parsed is None:
        return _EMPTY_LINE
    return _chunks(words, base_chunks(parsed))


_EMPTY_LINE = "\n"
_ENTRIES = {
    "dependencies": _Entries(_dependencies, format_no_parse),
    "constituents": _Entries(_constituents, lambda words: "()\n"),
    "chunks": _Entries(_chunks, lambda words: _EMPTY_LINE),
    "chunks by rules": _Entries(_chunks_by_rules, lambda words: _EMPTY_LINE),
}


@dataclass(frozen=True)
class StanzaAnnotator:
    """Stanza with the models of one task. It is sent to other processes: small, to be pickled.

    Attributes:
        models: models to load; their task decides the kind of annotation.
        device: `cpu`, `cuda` (the GPU of this process's local rank) or `cuda:N`.
        max_words: longer sentences are not annotated; memory grows with the square of the length.
        batch_size: words in a batch.
        as_chunks: whether to write the base chunks of constituency trees.
    """

    models: StanzaModels
    device: str = "cpu"
    max_words: int = 250
    batch_size: int = 1000
    as_chunks: bool = False

    def fingerprint(self) -> str:
        """A string that changes when annotation might change."""
        import stanza
        import torch

        versions = [FORMAT, stanza.__version__, torch.__version__]
        kind = self.device.split(":")[0]
        options = [kind, self.max_words, self.batch_size, self.as_chunks]
        return json.dumps([*versions, *options, *self.models.fingerprint()])

    def load(self) -> None:
        """Loads the models, so that errors occur before the work.

        Raises:
            UserError: they do not load, or are of another language.
        """
        self._analyser()

    def foreign(self, text: Path) -> str | None:
        """A line on a text most words of which the models do not know; None = they do.

        Args:
            text: words separated by spaces, one sentence per line; may be `.gz`.
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

    def annotate(self, sentences: Sequence[Sequence[str]]) -> list[str | None]:
        """The entry of each sentence, its line end included; None where Stanza fails.

        Args:
            sentences: words; no sentence empty, in order of length.

        Raises:
            UserError: the models do not load, or Stanza fails on one sentence after another.
        """
        write = self._entries.found
        return [
            None if found is None else write(words, found)
            for words, found in zip(sentences, self._analyser().analyse(sentences))
        ]

    def no_annotation(self, words: Sequence[str]) -> str:
        """The entry of a sentence that has no annotation.

        Args:
            words: its words; none for an empty line.
        """
        return self._entries.missing(words)

    @property
    def _entries(self) -> _Entries:
        return _ENTRIES["chunks by rules" if self.as_chunks else self.models.task]

    def _analyser(self) -> Any:
        return loaded_analyser(self.models, pinned_device(self.device), self.batch_size)
