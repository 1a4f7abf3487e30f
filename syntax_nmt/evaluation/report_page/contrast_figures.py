"""The figures of contrastive evaluation, as `syntax-nmt contrast --json` wrote them."""

from __future__ import annotations

import json
from typing import Any

from syntax_nmt.data.text_files import open_text
from syntax_nmt.errors import UserError

_NEEDED = {"accuracy", "interval", "correct", "pairs", "by_distance"}


def read_contrast(path: str, name: str) -> dict[str, Any]:
    """The figures of one model.

    Args:
        path: the file.
        name: of the system; where the file has several models, it must be one of theirs.

    Raises:
        UserError: the file is something else, or has several models and none of this name.
    """
    try:
        with open_text(path) as stream:
            models = {model["name"]: model for model in json.load(stream)["models"]}
    except (ValueError, KeyError, TypeError):
        models = {}
    if not models or not all(model.keys() >= _NEEDED for model in models.values()):
        raise UserError(f"{path}: is not what syntax-nmt contrast --json writes: give that")
    if len(models) > 1 and name not in models:
        raise UserError(
            f"{path}: has no model {name} but {', '.join(models)}: measure it with --name {name}"
        )
    return models.get(name) or next(iter(models.values()))
