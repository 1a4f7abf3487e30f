"""Mistakes that a user can mend, and how they reach the user: one line, no traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class UserError(Exception):
    """Something is wrong with what the user gave: a file, an option, a value.

    The message is one line that names the file and line, the values that disagree, and what to do.
    """


@contextmanager
def one_line_errors(program: str) -> Iterator[None]:
    """Turns a :class:`UserError` raised inside into one line on stderr and exit status 1.

    Used at the boundaries to a command line: the `syntax-nmt` command and the hooks that fairseq's
    own programs call. Inside the library a :class:`UserError` is an ordinary exception.

    Args:
        program: the name that the line begins with.

    Raises:
        SystemExit: in place of a :class:`UserError`; Python prints its message and exits with 1.
    """
    try:
        yield
    except UserError as error:
        raise SystemExit(f"{program}: error: {_printable(str(error))}") from None


def _printable(message: str) -> str:
    """One line that no terminal trips over: damaged files hold all sorts of characters."""
    line = " ".join(message.split())
    return "".join(character if character.isprintable() else "\ufffd" for character in line)
