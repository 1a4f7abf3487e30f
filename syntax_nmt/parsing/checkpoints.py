"""Which of several model files is at fault when Stanza does not load them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from syntax_nmt.parsing.offline import first_sentence

# By the name that Stanza's pipeline has for each file.
_KINDS = {
    "pos_model_path": "tagger",
    "depparse_model_path": "dependency parser",
    "mwt_model_path": "model of multiword tokens",
    "constituency_model_path": "constituency parser",
    "constituency_pretrain_path": "set of word vectors",
    "ner_model_path": "sequence tagger of chunks or names",
}
# A parser's vocabularies include those of tags.
_VOCABULARIES = {"deprel": "depparse_model_path", "tag": "ner_model_path", "upos": "pos_model_path"}


def fault(files: tuple[tuple[str, Path], ...]) -> str | None:
    """The file that cannot be what it is given for, and why; None if none is seen to be wrong.

    Args:
        files: (Stanza's name, path) of each file.
    """
    unreadable = None
    for name, path in files:
        try:
            checkpoint = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:
            unreadable = (
                unreadable or f"{path}: it is damaged or no model ({first_sentence(error)})"
            )
            continue
        kind = _kind(checkpoint)
        if kind not in (None, name):
            return f"{path}: it is a {_KINDS[str(kind)]}, and a {_KINDS[name]} is needed"
    return unreadable


def _kind(checkpoint: Any) -> str | None:
    """Stanza's name of what was saved; None if it is nothing known."""
    if not isinstance(checkpoint, Mapping):
        return None
    parameters, vocabulary = checkpoint.get("params"), checkpoint.get("vocab")
    if isinstance(parameters, Mapping) and "transitions" in parameters:
        return "constituency_model_path"
    if "emb" in checkpoint:
        return "constituency_pretrain_path"
    if "dict" in checkpoint:
        return "mwt_model_path"
    if isinstance(vocabulary, Mapping):
        for key, name in _VOCABULARIES.items():
            if key in vocabulary:
                return name
    return None
