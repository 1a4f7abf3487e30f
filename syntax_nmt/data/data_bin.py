"""Errors for folders that are no data-bin folder, and reading of fairseq's vocabularies."""

from __future__ import annotations

from pathlib import Path

from fairseq.data import Dictionary

from syntax_nmt.errors import UserError

_SHOWN = 120  # characters: fairseq quotes the line, which may be anything


def no_data_bin(folder: Path, lacks: str) -> UserError:
    """The message for a path that is no data-bin folder: what is missing, and what to give.

    Args:
        lacks: the files that every data-bin folder has, as a pattern.
    """
    if not folder.is_dir():
        return UserError(
            f"{folder}: no such folder; give the data-bin folder that `syntax-nmt prepare` or "
            "fairseq-preprocess wrote"
        )
    inside = folder / "data-bin"
    hint = f"did you mean {inside}?" if inside.is_dir() else "run `syntax-nmt prepare`"
    return UserError(f"{folder}: no data-bin folder, it has no {lacks}; {hint}")


def load_dictionary(path: str | Path) -> Dictionary:
    """Reads a vocabulary.

    Args:
        path: `dict.LANGUAGE.txt`.

    Raises:
        UserError: it is missing or damaged.
    """
    try:
        return Dictionary.load(str(path))
    except Exception as error:  # fairseq raises nothing narrower for a wrong encoding
        reason = f"cannot be read ({str(error)[:_SHOWN]})" if Path(path).is_file() else "not found"
        raise UserError(f"{path}: {reason}: run fairseq-preprocess again") from error
