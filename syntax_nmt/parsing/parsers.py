"""The parsers that can be chosen: finding their models, and loading them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from syntax_nmt.parsing.analyser import Analyser
from syntax_nmt.parsing.parser import DEPENDENCIES, OneModel, ParserModels
from syntax_nmt.parsing.spacy import SpacyModel, load_spacy
from syntax_nmt.parsing.stanza.analysers import load_stanza
from syntax_nmt.parsing.stanza.models import StanzaModels, find_models
from syntax_nmt.parsing.udpipe import UDPipeModel, load_udpipe

STANZA = StanzaModels.parser
_OF_ONE_MODEL: Mapping[str, type[OneModel]] = {
    found.parser: found for found in (UDPipeModel, SpacyModel)
}
_LOADERS: Mapping[str, Callable[[Any, str, int], Analyser]] = {
    STANZA: load_stanza,
    UDPipeModel.parser: load_udpipe,
    SpacyModel.parser: load_spacy,
}
PARSERS = tuple(_LOADERS)
PACKAGES = (StanzaModels.package, *(found.package for found in _OF_ONE_MODEL.values()))
_LOADED = 4  # at a time: dependencies of both sides, constituents, chunks


class ModelPaths(NamedTuple):
    """Where models of parsers lie.

    Attributes:
        parser: of dependencies, one of :data:`PARSERS`.
        model: its file or folder, if it is not Stanza.
        stanza_dir: folder of Stanza's models; None = its own.
        stanza_files: in place of the folder's, by Stanza's names of the files.
    """

    parser: str = STANZA
    model: Path | None = None
    stanza_dir: Path | None = None
    stanza_files: Mapping[str, Path | None] = {}


def find_parser(task: str, lang: str, paths: ModelPaths) -> ParserModels:
    """The models of a task, from disk only, and not loaded: those of dependencies are the chosen
    parser's, all others Stanza's.

    Args:
        task: `dependencies`, `constituents` or `chunks`.
        lang: language code of the text.

    Raises:
        UserError: the parser is not installed, or models are missing; says what to do.
    """
    if task == DEPENDENCIES and paths.parser != STANZA:
        return _OF_ONE_MODEL[paths.parser].find(lang, paths.model)
    return find_models(task, lang, paths.stanza_dir, paths.stanza_files)


@lru_cache(maxsize=_LOADED)
def loaded_analyser(models: ParserModels, device: str, batch_size: int) -> Analyser:
    """The analyser of some models, which stays loaded in this process.

    Args:
        models: what to load; their parser and task say which analyser.
        device: `cpu`, `cuda` or `cuda:N`.

    Raises:
        UserError: when the models do not load or are of another language.
    """
    return _LOADERS[models.parser](models, device, batch_size)
