"""The analyser of each task, kept loaded."""

from __future__ import annotations

from functools import lru_cache

from syntax_nmt.parsing.analyser import StanzaAnalyser
from syntax_nmt.parsing.models import StanzaModels
from syntax_nmt.parsing.parsers import ChunkTagger, ConstituencyParser, DependencyParser

ANALYSERS: dict[str, type[StanzaAnalyser]] = {
    "dependencies": DependencyParser,
    "constituents": ConstituencyParser,
    "chunks": ChunkTagger,
}


@lru_cache(maxsize=len(ANALYSERS))
def loaded_analyser(models: StanzaModels, device: str, batch_size: int) -> StanzaAnalyser:
    """The analyser of some models, which stays loaded in this process.

    Args:
        models: what to load; their task says which analyser.
        device: `cpu`, `cuda` or `cuda:N`.

    Raises:
        UserError: when the models do not load or are of another language.
    """
    return ANALYSERS[models.task](models, device, batch_size)
