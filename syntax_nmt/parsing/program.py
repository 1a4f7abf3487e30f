"""A parser that is a program of the user: lines of words go in, CoNLL-U comes out.

The command comes from a command line and from nowhere else: no file names one.
"""

from __future__ import annotations

import os
import selectors
import shlex
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Optional

from syntax_nmt.data.annotation_transfer import transfer_dependencies
from syntax_nmt.data.conllu import attach_roots, parse_block
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.analyser import has_usable_words, parser_words

OPTION = "--parse-command"
_BLOCK = 1 << 16
_LONGEST_LINE = 1 << 20  # bytes; no line of CoNLL-U is near this
_SECONDS_TO_END = 5  # after the last answer

Sentences = Sequence[Sequence[str]]
Trees = list[Optional[DependencyTree]]
Parsed = tuple[Sentences, Trees]


@dataclass(frozen=True)
class ProgramCommand:
    """A program that parses, and how long it may be silent.

    Attributes:
        words: of the command line.
        lang: language code of the text.
        seconds: without an answer, or a line read, after which the program counts as hanging.
    """

    words: tuple[str, ...]
    lang: str
    seconds: int

    @classmethod
    def of(cls, command: str, lang: str, seconds: int) -> ProgramCommand:
        """The program of a command line, which no shell reads.

        Args:
            command: words as in a shell; quotes keep spaces.

        Raises:
            UserError: quotes do not match, or there is no such program.
        """
        try:
            words = tuple(shlex.split(command))
        except ValueError as error:
            raise UserError(f"{OPTION} {command!r}: {error}: correct the quotes") from None
        if not words:
            raise UserError(f"{OPTION}: is empty: give a program and its arguments")
        if shutil.which(words[0]) is None:
            raise UserError(
                f"{OPTION}: {words[0]!r}: no such program, or not executable: give its path (no "
                "shell reads the command: no ~, no $NAME and no pipes)"
            )
        return cls(words, lang, seconds)

    @property
    def name(self) -> str:
        """Its first word, without the folder: arguments may hold what others should not read."""
        return os.path.basename(self.words[0])

    def parse(self, groups: Iterable[Sentences], programs: int) -> Iterator[Parsed]:
        """Each group, and the trees of its sentences, in order.

        Each program runs once, and gets groups as fast as it reads them. It need not answer before
        it has read all: it may be slow to flush its output, or read to the end first. A tree over
        other tokens is transferred to the words; of several roots one stays
        (:func:`~syntax_nmt.data.conllu.attach_roots`).

        Args:
            groups: sentences of words; no sentence and no word empty.
            programs: how many run at a time.

        Yields:
            no tree of a sentence that the program marks with `# parse = none`, or that has a word
            of more than 200 characters, which it does not get.

        Raises:
            UserError: a program ends early, is silent for too long, answers other words, or what
                is not CoNLL-U.
        """
        with _Programs(self, programs) as running:
            yield from running.parse(iter(groups))


@dataclass
class _Group:
    """Some sentences, and what is known of their trees."""

    sentences: Sentences
    trees: Trees = field(default_factory=list)

    @property
    def next(self) -> Sequence[str] | None:
        """The sentence whose tree is the next to come; None = all are there.

        Sentences that programs do not get have none.
        """
        while len(self.trees) < len(self.sentences):
            words = self.sentences[len(self.trees)]
            if has_usable_words(words):
                return words
            self.trees.append(None)
        return None


class _Programs:
    """Running programs; on leaving, all of them are ended.

    One loop writes what programs can take and reads what they have written, so that none waits for
    the other.
    """

    def __init__(self, command: ProgramCommand, programs: int) -> None:
        self._command = command
        self._selector = selectors.DefaultSelector()
        self._programs: list[_Program] = []
        self._wanted = programs

    def __enter__(self) -> _Programs:
        return self

    def __exit__(self, *_: Any) -> None:
        self._selector.close()
        for program in self._programs:
            program.end()

    def parse(self, groups: Iterator[Sentences]) -> Iterator[Parsed]:
        """Each group, and its trees, in order."""
        underway: deque[_Group] = deque()
        more = True
        while more or underway:
            while more and (idle := self._idle()) is not None:
                sentences = next(groups, None)
                more = sentences is not None
                if sentences is not None:
                    group = _Group(sentences)
                    underway.append(group)
                    idle.take(group)
            if not more:
                for program in self._programs:
                    program.no_more()
            while underway and underway[0].next is None:
                done = underway.popleft()
                given = time.monotonic()
                yield done.sentences, done.trees
                for program in self._programs:  # the caller may take its time
                    program.heard += time.monotonic() - given
            if not (more or underway):
                break
            for key, _ in self._selector.select(self._seconds_left()):
                key.data()
        self._read_ends()

    def _read_ends(self) -> None:
        """Waits for the ends of programs that have answered all.

        Raises:
            UserError: one answers more.
        """
        limit = time.monotonic() + _SECONDS_TO_END
        while any(program.is_open for program in self._programs):
            left = limit - time.monotonic()
            if left <= 0:
                return
            for key, _ in self._selector.select(left):
                key.data()

    def _idle(self) -> _Program | None:
        """A new program if there are fewer than wanted, else the one with the least to do of those
        that have got all they were sent.
        """
        if len(self._programs) < self._wanted:
            self._programs.append(_Program(self._command, self._selector))
            return self._programs[-1]
        idle = [program for program in self._programs if program.is_idle]
        return min(idle, key=lambda program: program.backlog, default=None)

    def _seconds_left(self) -> float:
        """How long the one that was silent for longest may go on.

        Raises:
            UserError: it has been silent for too long.
        """
        limit, now = self._command.seconds, time.monotonic()
        left = min(
            (program.heard + limit - now for program in self._programs if program.is_busy),
            default=float(limit),
        )
        if left > 0:
            return left
        answered = sum(program.answered for program in self._programs)
        raise UserError(
            f"{OPTION}: {self._command.name} has been silent for {limit} seconds after "
            f"{answered:,} sentences, and was ended: correct it, or give a larger --parse-seconds; "
            "what is finished is kept"
        )


class _Program:
    """One process: its input, and its answers, in order.

    Attributes:
        answered: sentences so far.
        heard: when it last read or wrote.
    """

    def __init__(self, command: ProgramCommand, selector: selectors.BaseSelector) -> None:
        self.answered = 0
        self.heard = time.monotonic()
        self._command = command
        self._selector = selector
        self._groups: deque[_Group] = deque()
        self._unsent = memoryview(b"")
        self._partial = b""
        self._block: list[str] = []
        self._lines = self._first = 0
        try:
            self._process = subprocess.Popen(
                command.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise UserError(f"{OPTION}: {command.words[0]!r} does not start: {error}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        for stream in (self._stdin, self._stdout):
            os.set_blocking(stream.fileno(), False)
        selector.register(self._stdout, selectors.EVENT_READ, self._read)

    @property
    def is_idle(self) -> bool:
        """Whether all groups have been sent, and it still reads."""
        return not self._unsent and not self._stdin.closed

    @property
    def backlog(self) -> int:
        """Groups that it has not answered."""
        return len(self._groups)

    @property
    def is_open(self) -> bool:
        """Whether it may still answer."""
        return not self._stdout.closed

    @property
    def is_busy(self) -> bool:
        """Whether it has something to read or to answer."""
        return bool(self._unsent) or self._next() is not None

    def take(self, group: _Group) -> None:
        """Sends a group, as far as the program reads it."""
        if not self.is_busy:
            self.heard = time.monotonic()
        self._groups.append(group)
        lines = (
            " ".join(parser_words(words, self._command.lang))
            for words in group.sentences
            if has_usable_words(words)
        )
        self._unsent = memoryview("".join(f"{line}\n" for line in lines).encode("utf-8"))
        if self._unsent:
            self._selector.register(self._stdin, selectors.EVENT_WRITE, self._write)

    def no_more(self) -> None:
        """Ends the input when all is sent."""
        if self.is_idle:
            self._stdin.close()

    def end(self) -> None:
        """Ends it, and all programs that it has started."""
        for stream in (self._stdin, self._stdout):
            with suppress(OSError):
                stream.close()
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _write(self) -> None:
        self.heard = time.monotonic()
        try:
            self._unsent = self._unsent[os.write(self._stdin.fileno(), self._unsent[:_BLOCK]) :]
        except BlockingIOError:
            return
        except OSError:  # it has closed its input: what it answers, or its end, says why
            self._unsent = memoryview(b"")
            self._selector.unregister(self._stdin)
            self._stdin.close()
            if self._stdout.closed:
                raise self._ended() from None
            return
        if not self._unsent:
            self._selector.unregister(self._stdin)

    def _read(self) -> None:
        self.heard = time.monotonic()
        try:
            found = os.read(self._stdout.fileno(), _BLOCK)
        except BlockingIOError:
            return
        *lines, self._partial = (self._partial + found).split(b"\n")
        if not found:
            lines.append(self._partial)
        for line in lines:
            self._add_line(line)
        if len(self._partial) > _LONGEST_LINE:
            raise UserError(f"{self._where}: a line without an end: {_NOT_CONLLU}")
        if not found:
            self._add_block()
            self._selector.unregister(self._stdout)
            self._stdout.close()
            if self._next() is not None:
                raise self._ended()

    def _add_line(self, line: bytes) -> None:
        self._lines += 1
        try:
            text = line.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError:
            raise UserError(f"{self._where}: is not UTF-8: {_NOT_CONLLU}") from None
        if text and not text.isspace():
            self._first = self._first if self._block else self._lines
            self._block.append(text)
        else:
            self._add_block()

    def _add_block(self) -> None:
        """Takes the tree of the next sentence."""
        block, self._block = self._block, []
        if not block:
            return
        group = self._next()
        if group is None:
            raise UserError(
                f"{self._where}: answers more sentences than it was given ({self.answered:,}): "
                "each line is one sentence, also one with several sentences"
            )
        words = group.next
        assert words is not None
        tree = parse_block(attach_roots(block), self._output, self._first)
        group.trees.append(None if tree is None else self._over(words, tree))
        self.answered += 1

    def _over(self, words: Sequence[str], tree: DependencyTree) -> DependencyTree:
        given = parser_words(words, self._command.lang)
        found = transfer_dependencies(tree, given)
        if found is None:
            raise UserError(
                f"{self._where}: sentence {self.answered + 1:,} has other words than it was given: "
                f"{' '.join(tree.words)[:80]!r}, given {' '.join(given)[:80]!r}: each line is one "
                "sentence, and has one block, in order"
            )
        return found.annotation

    def _next(self) -> _Group | None:
        """The group of the next answer; None = all are there."""
        while self._groups and self._groups[0].next is None:
            self._groups.popleft()
        return self._groups[0] if self._groups else None

    @property
    def _output(self) -> str:
        return f"{OPTION}: output of {self._command.name}"

    @property
    def _where(self) -> str:
        return f"{self._output}:{self._lines:,}"

    def _ended(self) -> UserError:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_SECONDS_TO_END)
        status = self._process.poll()
        how = "closed its output" if status is None else f"ended with status {status}"
        if status is not None and status < 0:
            how = f"was killed ({signal.Signals(-status).name})"
        return UserError(
            f"{OPTION}: {self._command.name} {how} after {self.answered:,} sentences, before it "
            "had answered all: see what it says above, and start again; what is finished is kept"
        )


_NOT_CONLLU = "write CoNLL-U in UTF-8, a blank line after each sentence"
