"""Files that other commands wrote with --json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from syntax_nmt.data.text_files import parse_json, read_lines
from syntax_nmt.errors import UserError

CONTRAST = "syntax-nmt contrast"


def read_figures(path: str, command: str) -> dict[str, Any]:
    """The JSON object of a file.

    Args:
        command: that writes such files, for messages.

    Raises:
        UserError: the file cannot be read, or is no JSON object.
    """
    figures = parse_json("\n".join(read_lines(path)), path, f"what `{command} --json` wrote")
    if not isinstance(figures, dict):
        raise other_file(path, command)
    return figures


def other_file(path: str, command: str) -> UserError:
    """What to say of a file that is JSON, but another command's.

    Args:
        command: that writes the files that are wanted.
    """
    return UserError(f"{path}: not the figures of `{command}`: give what its --json wrote")


def free_name(name: str, path: str, taken: Mapping[str, Any]) -> str:
    """A system's name, with its file where another system has the same.

    Args:
        taken: the names so far.

    Raises:
        UserError: the same file is given twice.
    """
    if name not in taken:
        return name
    longer = f"{name} ({path})"
    if longer in taken:
        raise UserError(f"{path}: given twice, or has two systems of one name: leave one out")
    return longer


def contrast_models(path: str) -> dict[str, dict[str, Any]]:
    """The figures of each model, by its name.

    Args:
        path: the file; what 0.1.0 wrote is read as well.

    Raises:
        UserError: the file is something else.
    """
    figures = read_figures(path, CONTRAST)
    models: dict[str, dict[str, Any]] = {}
    try:
        for model in figures["models"]:
            models[free_name(str(model["name"]), path, models)] = {
                **(_accuracy(model) if "accuracy" in model else model),
                "by_distance": [_at_distance(part) for part in model["by_distance"]],
            }
    except (KeyError, TypeError, ValueError) as error:
        raise other_file(path, CONTRAST) from error
    return models


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


def _at_distance(part: dict[str, Any]) -> dict[str, Any]:
    return {**_accuracy(part), "least": int(part["least"]), "distance": str(part["distance"])}


def _accuracy(part: dict[str, Any]) -> dict[str, Any]:
    """An accuracy and what it is of, in today's form."""
    low, high = (
        part["interval"].values() if isinstance(part["interval"], dict) else part["interval"]
    )
    accuracy = None if part["accuracy"] is None else float(part["accuracy"])
    return {
        **part,
        "accuracy": accuracy,
        "interval": {"low": float(low), "high": float(high)},
        "total": int(part["total"] if "total" in part else part["pairs"]),
    }
