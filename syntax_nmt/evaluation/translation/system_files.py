"""Files that belong to a system, which its name tells: `--log NAME FILE`."""

from __future__ import annotations

from collections.abc import Sequence

from syntax_nmt.errors import UserError

Files = dict[str, list[str]]


def named_files(
    option: str, given: Sequence[Sequence[str]], names: Sequence[str], numbers: Sequence[int]
) -> Files:
    """The files of each name.

    Args:
        option: `--log`, …, for messages.
        given: a name and files, for each time that the option was given.
        numbers: how many files may follow a name; none = any number but 0.

    Raises:
        UserError: an unknown name, one for the second time, or another number of files.
    """
    files: Files = {}
    for name, *paths in given:
        if name not in names:
            raise UserError(
                f"{option} {name}: no system has this name; the names are {', '.join(names)}"
            )
        if name in files:
            raise UserError(f"{option} {name}: for the second time: give it once a system")
        if not paths or (numbers and len(paths) not in numbers):
            wanted = " or ".join(map(str, numbers)) or "one or more"
            raise UserError(f"{option} {name}: {len(paths)} files instead of {wanted}")
        files[name] = paths
    return files
