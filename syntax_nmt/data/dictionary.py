"""fairseq's vocabularies, read with one-line errors."""

from __future__ import annotations

from pathlib import Path

from fairseq.data import Dictionary

from syntax_nmt.errors import UserError

_SHOWN = 120  # characters: fairseq quotes the line, which may be anything


def load_dictionary(path: str | Path) -> Dictionary:
    """Reads a vocabulary.

    Args:
        path: `dict.LANGUAGE.txt`.

    Raises:
        UserError: it is not there, or damaged.
    """
    try:
        return Dictionary.load(str(path))
    except Exception as error:  # fairseq raises nothing narrower for a wrong encoding
        reason = f"cannot be read ({str(error)[:_SHOWN]})" if Path(path).is_file() else "not found"
        raise UserError(f"{path}: {reason}: run fairseq-preprocess again") from error
