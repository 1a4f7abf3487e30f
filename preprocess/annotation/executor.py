"""Where work runs: in this process or in a pool of processes, behind one interface.

Everything that works in parallel is a function of one picklable task, handed to an
:class:`concurrent.futures.Executor`. A cluster's executor fits in :func:`open_executor`.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Callable, TypeVar

from syntax_nmt.errors import UserError

Task = TypeVar("Task")
Result = TypeVar("Result")


class InProcessExecutor(Executor):
    """Runs each call at once, in the calling process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Runs the call and hands back a future that is done.

        Args:
            fn: what to call.
            *args: its arguments.
            **kwargs: its arguments by name.
        """
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def open_executor(workers: int) -> Iterator[Executor]:
    """An executor with so many workers; 1 means in this process.

    Processes are spawned, not forked: a fork of a process that runs threads (torch does) can hang.

    Args:
        workers: how many calls run at a time.

    Raises:
        UserError: when `workers` is below 1.
    """
    if workers < 1:
        raise UserError(f"--workers {workers}: must be 1 or more")
    if workers == 1:
        yield InProcessExecutor()
        return
    executor = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def ordered_results(
    executor: Executor,
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    in_flight: int,
) -> Iterator[Result]:
    """The results of a function over tasks, in their order, as they get ready.

    Args:
        executor: where the function runs.
        function: importable by name, with one picklable argument.
        tasks: drawn one by one, so that they need not all be in memory.
        in_flight: how many tasks may be submitted and not yet handed back.

    Raises:
        UserError: when a worker process died.
    """
    pending: deque[Future[Result]] = deque()
    try:
        for task in tasks:
            pending.append(executor.submit(function, task))
            if len(pending) >= in_flight:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    except BrokenProcessPool:
        raise UserError(
            "a worker process died, probably for want of memory: start again with fewer --workers"
        ) from None
