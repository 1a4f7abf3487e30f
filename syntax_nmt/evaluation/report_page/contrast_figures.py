"""The figures of contrastive evaluation, as `syntax-nmt contrast --json` wrote them."""

from __future__ import annotations

from typing import Any

from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.base.json_figures import CONTRAST, contrast_models, other_file


def read_contrast(path: str, name: str) -> dict[str, Any]:
    """The figures of one model.

    Args:
        name: of the system; where the file has several models, it must be one of theirs.

    Raises:
        UserError: the file is something else, or has several models and none of this name.
    """
    models = contrast_models(path)
    if not models or not all("accuracy" in model for model in models.values()):
        raise other_file(path, CONTRAST)
    if len(models) > 1 and name not in models:
        raise UserError(
            f"{path}: has no model {name} but {', '.join(models)}: measure it with --name {name}"
        )
    return models.get(name) or next(iter(models.values()))
