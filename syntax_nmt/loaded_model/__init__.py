"""A trained model in Python: translations of raw text, and the structures that the model sees."""

from syntax_nmt.loaded_model.answers import AlignedPair, AttendedPair, ChunkedSentence
from syntax_nmt.loaded_model.loading import load
from syntax_nmt.loaded_model.model import CHUNKED, CONSTITUENTS, DEPENDENCIES, LoadedModel

__all__ = [
    "CHUNKED",
    "CONSTITUENTS",
    "DEPENDENCIES",
    "AlignedPair",
    "AttendedPair",
    "ChunkedSentence",
    "LoadedModel",
    "load",
]
