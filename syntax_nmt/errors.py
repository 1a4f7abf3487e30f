"""Mistakes that a user can correct, reported in one line without a traceback."""

import re
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_JOINERS = "\u200c\u200d"  # of letters, in Persian and Hindi
_SHOWN = 200  # characters of what a library said
# Of values, such as a label of a damaged file: a name in a path has at most 255 bytes.
_LONG = re.compile(r"([^\s/]{200})[^\s/]{100,}")


class UserError(Exception):
    """A mistake in the user's input: a file, an option, a value.

    The message is one line that names the file and line, the values that disagree, and what to do.
    Of a value of 300 characters or more it shows the first 200.
    """

    def __init__(self, message: str) -> None:
        super().__init__(_LONG.sub(r"\1…", printable(" ".join(message.split()))))


def note(text: str) -> None:
    """Tells the user on stderr of something that is no mistake."""
    print(f"note: {text}", file=sys.stderr)


def printable(text: str) -> str:
    """A line that disturbs no terminal and no table: U+FFFD stands for control characters, line
    ends and marks of direction; visible characters, spaces and joiners stay. So do bytes of names
    that are no UTF-8 (surrogates), which streams write escaped.
    """
    return "".join(char if _is_printable(char) else "\ufffd" for char in text)


def _is_printable(char: str) -> bool:
    return char.isprintable() or char in _JOINERS or unicodedata.category(char) in ("Zs", "Cs")


def not_installed(package: str | None) -> str:
    """What to do where a package is missing; in a checkout, any Python finds this one."""
    return (
        f"{package} is not installed in {sys.prefix}: activate the environment that has "
        "syntax-nmt (in a checkout: . .venv/bin/activate), or install it as README.md says"
    )


def reason_of(error: BaseException) -> str:
    """The first line of what a library said.

    Args:
        error: whatever it raised.
    """
    lines = str(error).strip().splitlines()
    return lines[0][:_SHOWN] if lines else type(error).__name__


@contextmanager
def errors_of(name: str | Path) -> Iterator[None]:
    """Puts a file's name before the message of a :class:`UserError` raised inside."""
    try:
        yield
    except UserError as error:
        raise UserError(f"{name}: {error}") from None


_OPTION = re.compile(r"(?<![\w/-])--([a-z][a-z0-9-]*)")


@contextmanager
def named_as_in_python(*arguments: str) -> Iterator[None]:
    """Names arguments in the messages of a :class:`UserError` as Python has them.

    `parser_config` in place of `--parser-config`: for functions that share their checks with
    commands.

    Args:
        *arguments: of the functions; other options, such as those of a training, keep their form.
    """

    def as_in_python(option: re.Match[str]) -> str:
        name = option[1].replace("-", "_")
        return name if name in arguments else option[0]

    try:
        yield
    except UserError as error:
        error.args = (_OPTION.sub(as_in_python, str(error)),)
        raise


@contextmanager
def one_line_errors(program: str) -> Iterator[None]:
    """Turns a user's or system error into one line on stderr and exit status 1.

    Used at the boundary to a command line.

    Args:
        program: the name that the line begins with.

    Raises:
        SystemExit: in place of a :class:`UserError` or an OSError; Python prints its message and
            exits with 1.
    """
    try:
        yield
    except UserError as error:
        raise SystemExit(f"{program}: error: {error}") from None
    except OSError as error:  # a full disk, a folder without write permission
        said = UserError(f"{error.filename or 'system'}: {error.strerror or error}")
        raise SystemExit(f"{program}: error: {said}") from error


@contextmanager
def exits_in_fairseq_programs() -> Iterator[None]:
    """As :func:`one_line_errors` in a process of one of fairseq's programs; elsewhere does nothing.

    For the hooks that fairseq calls. Its programs would wrap an exception into others, or print a
    traceback for each process; from Python, as in a notebook, an error remains an exception.

    Raises:
        SystemExit: in place of a :class:`UserError`, in a program.
    """
    try:
        yield
    except UserError as error:
        if not is_a_program_of_fairseq():
            raise
        raise SystemExit(f"syntax-nmt: error: {error}") from None


def is_a_program_of_fairseq() -> bool:
    """Whether this process was started as `fairseq-train`, `python -m fairseq_cli.train`, …

    The processes that such a program spawns are told its name.
    """
    started = Path(sys.argv[0])
    return started.name.startswith("fairseq-") or started.parent.name == "fairseq_cli"
