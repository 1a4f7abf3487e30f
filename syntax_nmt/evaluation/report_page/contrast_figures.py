"""The figures of contrastive evaluation, as `syntax-nmt contrast --json` wrote them."""

from __future__ import annotations

from typing import Any

from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.plots.kinds.json_figures import other_file, read_figures

_COMMAND = "syntax-nmt contrast"
_NEEDED = {"accuracy", "interval", "correct", "pairs", "by_distance"}


def read_contrast(path: str, name: str) -> dict[str, Any]:
    """The figures of one model.

    Args:
        path: the file.
        name: of the system; where the file has several models, it must be one of theirs.

    Raises:
        UserError: the file is something else, or has several models and none of this name.
    """
    figures = read_figures(path, _COMMAND)
    try:
        models = {str(model["name"]): model for model in figures["models"]}
    except (KeyError, TypeError) as error:
        raise other_file(path, _COMMAND) from error
    if not models or not all(model.keys() >= _NEEDED for model in models.values()):
        raise other_file(path, _COMMAND)
    if len(models) > 1 and name not in models:
        raise UserError(
            f"{path}: has no model {name} but {', '.join(models)}: measure it with --name {name}"
        )
    return models.get(name) or next(iter(models.values()))
