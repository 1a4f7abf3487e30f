"""JSON that users give, and that other commands wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from syntax_nmt.errors import UserError


def read_json(path: str | Path) -> Any:
    """The value in a JSON file.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not UTF-8, no JSON, or nested too deeply to be read.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parse_json(text: str, path: str | Path, wanted: str) -> Any:
    """The value that a file's text stands for.

    Args:
        path: of the file, for messages.
        wanted: what to give instead, for messages ("COMET's JSON").

    Raises:
        UserError: the text is no JSON, or nested too deeply to be read.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        reason = getattr(error, "msg", "nested too deeply, or a number too long")
        raise UserError(f"{path}:{line}: is not JSON ({reason}): give {wanted}") from None
