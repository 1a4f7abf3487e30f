"""A folder that should have been a data-bin folder."""

from __future__ import annotations

from pathlib import Path

from syntax_nmt.errors import UserError


def no_data_bin(folder: Path, lacks: str) -> UserError:
    """What to say of a path that is no data-bin folder: what is missing, and what to give instead.

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
