"""fairseq's programs, run by ours."""

import os
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, Literal

from syntax_nmt.errors import UserError

_MODULES = {
    f"fairseq-{name}": f"fairseq_cli.{name}" for name in ("train", "generate", "interactive")
}
_ERROR = ": error: "  # what our messages begin with, in fairseq's programs, too
_SHOWN = 3  # lines of a program that failed without one


def lines_of(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    errors: Literal["hidden", "among", "after"] = "hidden",
    stdin: BinaryIO | None = None,
) -> Iterator[str]:
    """What a program prints, line by line while it runs. It ends when nobody asks for more.

    Args:
        command: one of fairseq's programs, and its arguments.
        environment: variables beside those of this process.
        errors: where the lines of its standard error are: among the others as they come, after
            them so that they cut none in two, or nowhere unless it fails.
        stdin: what the program reads; None = what this process would.

    Raises:
        UserError: it failed; with its last lines.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as kept:
        process = subprocess.Popen(
            [sys.executable, "-m", _MODULES[command[0]], *command[1:]],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if errors == "among" else kept,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "PYTHONIOENCODING": "utf-8", **(environment or {})},
        )
        assert process.stdout is not None
        last: deque[str] = deque(maxlen=_SHOWN)
        try:
            for line in process.stdout:
                last.append(line)
                yield line
            status = process.wait()
        finally:
            process.terminate()
            process.wait()
        kept.seek(0)
        if status:
            said = [*last, *kept]
            named = [line.split(_ERROR, 1)[1] for line in said if _ERROR in line]
            reason = named[-1] if named else " / ".join(map(str.strip, said[-_SHOWN:]))
            raise UserError(f"{command[0]} failed: {reason.strip() or f'exit status {status}'}")
        if errors == "after":
            yield from kept
