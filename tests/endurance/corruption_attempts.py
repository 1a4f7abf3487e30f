"""One attempt after another to have a damaged file accepted, each within limits, and what became
of it.
"""

import random
import re
import resource
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corruptions import Workspace, damage

from syntax_nmt.errors import UserError

SECONDS = 20  # attempts take some milliseconds
MEMORY = 2 << 30  # more than this on top of what the process has is a size field believed

REFUSED, HARMLESS, OTHER = "refused", "harmless", "other valid"
FORGIVEN = "words forgiven"
WRONG, TRACEBACK, HANG, UNCLEAR = "WRONG", "TRACEBACK", "HANG", "UNCLEAR"
FAULTS = (WRONG, TRACEBACK, HANG, UNCLEAR)

_REMEDIES = re.compile(
    r": [^:]*\b(run|give|correct|write|parse|chunk|annotate|convert|fetch|number|put|use|segment"
    r"|must|check|remove|recreate)\b"
)


class TooLongError(BaseException):
    """Raised by the alarm; no `except Exception` takes it."""


@dataclass
class Subject:
    """A kind of file, and what reads it.

    Attributes:
        name: for reports and seeds.
        space: the folder.
        read: reads what may be damaged, given the file's name, and gives what was read, to be
            compared.
        files: the names that may be damaged.
        same_kind: for a name, those it may be exchanged with.
        foreign: files from elsewhere.
        allowed: given the name of a damaged file that was accepted and read otherwise: OTHER if it
            is a valid file of the same words, so that nobody could know; FORGIVEN if at least half
            of the words of each sentence are the text's, or words cut otherwise have its letters
            and digits, which is what is asked for; or WRONG.
        has_lines: whether a message must name the line.
    """

    name: str
    space: Workspace
    read: Callable[[str], Any]
    files: Sequence[str]
    same_kind: Callable[[str], list[str]] = lambda name: []
    foreign: Callable[[str], list[Path]] = lambda name: []
    allowed: Callable[[str], str] = lambda name: WRONG
    has_lines: bool = False
    expected: dict[str, Any] = field(default_factory=dict)

    def pristine(self, name: str) -> Any:
        if name not in self.expected:
            self.expected[name] = self.read(name)
        return self.expected[name]


def attempt_all(subject: Subject, seeds: Sequence[int]) -> tuple[Counter[str], list[str]]:
    """Damages and reads once for each seed: counts by outcome, and what must not have been."""
    counts: Counter[str] = Counter()
    faults = []
    for seed in seeds:
        outcome, said = attempt(subject, seed)
        counts[outcome] += 1
        if outcome in FAULTS:
            faults.append(f"{subject.name} seed {seed}: {outcome}: {said}")
    return counts, faults


def attempt(subject: Subject, seed: int) -> tuple[str, str]:
    """One damage, and what the reader makes of it: (outcome, what happened)."""
    rng = random.Random(f"{subject.name} {seed}")
    name = rng.choice(subject.files)
    expected = subject.pristine(name)
    how = damage(rng, subject.space, name, subject.same_kind(name), subject.foreign(name))
    try:
        outcome, said = _outcome(subject, name, expected)
    finally:
        subject.space.mend()
    return outcome, f"{how}: {said}"


def _outcome(subject: Subject, name: str, expected: Any) -> tuple[str, str]:
    ignored: list[str] = []
    try:
        with _limits(), _unraisable(ignored):
            found = subject.read(name)
    except TooLongError:
        return HANG, f"more than {SECONDS} s"
    except (UserError, SystemExit) as error:
        fault = _fault_of_message(str(error), subject)
        return (UNCLEAR, f"{fault}: {error}") if fault else (REFUSED, str(error))
    except Exception as error:
        return TRACEBACK, f"{type(error).__name__}: {error}"
    if ignored:
        return TRACEBACK, ignored[0]
    if found == expected:
        return HARMLESS, "the same was read"
    return subject.allowed(name), "something else was read"


def _fault_of_message(message: str, subject: Subject) -> str | None:
    """What is wrong with a refusal: one line is to name file, line or sentence, and a remedy."""
    message = " ".join(message.split())  # as one_line_errors does
    names = [path.name for path in subject.space.pristine.rglob("*")]
    named = [name for name in names if name in message]
    if not named:
        return "the message names no file"
    if len(message) > 1000:
        return "the message is long"
    places = any(re.search(rf"{re.escape(n)}:( sentence )?\d+", message) for n in named)
    if subject.has_lines and not places and "cannot be read (" not in message:
        return "the message names no line"
    if not _REMEDIES.search(message):
        return "the message gives no next step"
    return None


@contextmanager
def _limits():
    """Time and memory that no attempt needs."""

    def too_long(signum, frame):
        raise TooLongError

    with open("/proc/self/statm") as stream:
        used = int(stream.read().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _unraisable(seen: list[str]):
    """Notes errors in destructors, which Python prints and otherwise passes over."""
    before = sys.unraisablehook
    sys.unraisablehook = lambda args: seen.append(f"ignored {args.exc_value!r} in {args.object!r}")
    try:
        yield
    finally:
        sys.unraisablehook = before
