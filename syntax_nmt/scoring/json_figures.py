"""Files that other commands wrote with --json."""

from collections.abc import Mapping
from typing import Any

from syntax_nmt.data.text_files import parse_json, read_lines
from syntax_nmt.errors import UserError


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
    """The message for a JSON file of another command.

    Args:
        command: that writes the files that are wanted.
    """
    return UserError(f"{path}: not the figures of `{command}`: give what its --json wrote")


def free_name(name: str, path: str, taken: Mapping[str, Any]) -> str:
    """A system's name, with its file if another system has the same name.

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
