"""Files that other commands wrote with --json."""

from collections.abc import Mapping
from typing import Any, TypeVar

from syntax_nmt.data.text_files import parse_json, read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.result import Result

_R = TypeVar("_R", bound=Result)


def read_result(
    path: str, of: type[_R], command: str, remedy: str = "give what its --json wrote"
) -> _R:
    """The result of a command.

    Args:
        command: that writes such files, for messages.
        remedy: what to do if the file is another, likewise.

    Raises:
        UserError: the file cannot be read, or is of another command.
    """
    figures = parse_json("\n".join(read_lines(path)), path, f"what `{command} --json` wrote")
    try:
        return of.from_json(figures)
    except ValueError as error:
        raise UserError(f"{path}: not the figures of `{command}` ({error}): {remedy}") from None


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
