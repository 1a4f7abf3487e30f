"""UDPipe 1: a tagger, lemmatiser and transition-based parser in one file (Straka and Straková,
2017). Its package is loaded with a model, and not before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.analyser import Analyser, Columns, tree_of
from syntax_nmt.parsing.parser import OneModel


@dataclass(frozen=True)
class UDPipeModel(OneModel):
    """A model file of UDPipe 1."""

    parser: ClassVar[str] = "udpipe"
    package: ClassVar[str] = "ufal.udpipe"
    title: ClassVar[str] = "UDPipe"
    what: ClassVar[str] = "its .udpipe file"
    where: ClassVar[str] = "UDPipe's page has one for each treebank of Universal Dependencies"


class UDPipeParser(Analyser[DependencyTree]):
    """A model of UDPipe, loaded. It works on the CPU, one sentence after another.

    Raises:
        UserError: the file is no model of UDPipe, or one without a tagger or a parser.
    """

    def __init__(self, found: UDPipeModel) -> None:
        from ufal import udpipe

        super().__init__(found.title, found.lang)
        self._udpipe = udpipe
        self._model = udpipe.Model.load(str(found.model))
        if self._model is None:
            raise UserError(f"{found}: is no model of UDPipe 1: give {found.what}")
        try:
            self._columns(["a"])
        except ValueError as error:
            raise UserError(f"{found}: {error}: give a model with a tagger and a parser") from None

    def _analyse_all(self, sentences: Sequence[Sequence[str]]) -> list[DependencyTree | None]:
        return [tree_of(words, self._columns(self._spelled(words))) for words in sentences]

    def _columns(self, words: Sequence[str]) -> list[Columns]:
        """What the model says of each word.

        Raises:
            ValueError: it has no tagger or no parser.
        """
        sentence, error = self._udpipe.Sentence(), self._udpipe.ProcessingError()
        for word in words:
            sentence.addWord(word)
        default = self._udpipe.Model.DEFAULT
        for step in (self._model.tag, self._model.parse):
            if not step(sentence, default, error):
                raise ValueError(error.message)
        return [_columns(word) for word in list(sentence.words)[1:]]  # the first is the root


def _columns(word: Any) -> Columns:
    return Columns(word.head, word.deprel, word.upostag, word.lemma, word.xpostag, word.feats)


def load_udpipe(models: UDPipeModel, device: str, batch_size: int) -> UDPipeParser:
    """The analyser of a model.

    Args:
        device: not used: UDPipe works on the CPU.
        batch_size: not used: it parses sentence by sentence.

    Raises:
        UserError: as of :class:`UDPipeParser`.
    """
    return UDPipeParser(models)
