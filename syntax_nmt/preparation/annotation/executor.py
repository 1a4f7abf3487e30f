"""Where work runs: in this process, in a pool of processes, or on a cluster; one interface.

Everything that works in parallel is a function of one picklable task, handed to an
:class:`concurrent.futures.Executor`.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from syntax_nmt.errors import UserError

Task = TypeVar("Task")


Result = TypeVar("Result")


LOCAL_RANK = "LOCAL_RANK"  # torchrun's name; the workers of a pool are given one, too


_SLURM_LOCAL_RANK = "SLURM_LOCALID"


@dataclass(frozen=True)
class Workers:
    """An executor and how much it does at a time.

    Attributes:
        executor: where calls run.
        count: how many calls run at a time.
        in_process: whether they run in this very process.
    """

    executor: Executor
    count: int
    in_process: bool = False


class InProcessExecutor(Executor):
    """Runs each call at once, in the calling process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Runs the call and hands back a future that is done.

        Args:
            fn: what to call.
            **kwargs: its arguments by name.
        """
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def open_workers(workers: int, dask_scheduler: str | None = None) -> Iterator[Workers]:
    """Workers on this machine, or those of a Dask cluster.

    Processes are spawned, not forked: a fork of a process that runs threads (torch does) can hang.

    Args:
        workers: how many processes; 1 means in this process.
        dask_scheduler: address of a scheduler, `tcp://HOST:PORT`; `workers` then counts for
            nothing.

    Raises:
        UserError: `workers` is below 1, the cluster cannot be used, or a worker died.
    """
    if workers < 1:
        raise UserError(f"--workers {workers}: must be 1 or more")
    if dask_scheduler is not None:
        from syntax_nmt.preparation.annotation.dask_cluster import open_cluster

        with open_cluster(dask_scheduler) as cluster:
            yield Workers(*cluster)
    elif workers == 1:
        yield Workers(InProcessExecutor(), 1, in_process=True)
    else:
        context = multiprocessing.get_context("spawn")
        started = context.Value("i", 0)
        executor = ProcessPoolExecutor(workers, context, _start_process, (started, workers))
        try:
            yield Workers(executor, workers)
        except BrokenProcessPool:
            raise UserError(
                "a worker process died, probably for want of memory: start again with fewer "
                "--workers; what is finished is kept"
            ) from None
        finally:
            executor.shutdown(cancel_futures=True)


def ordered_results(
    workers: Workers, function: Callable[[Task], Result], tasks: Iterable[Task]
) -> Iterator[Result]:
    """The results of a function over tasks, in their order, as they get ready.

    Tasks are drawn one by one, two a worker ahead, so that they need not all be in memory.

    Args:
        workers: where the function runs.
        function: importable by name, with one picklable argument.
    """
    in_flight = 1 if workers.in_process else 2 * workers.count
    pending: deque[Future[Result]] = deque()
    for task in tasks:
        pending.append(workers.executor.submit(function, task))
        if len(pending) >= in_flight:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def _start_process(started: Any, workers: int) -> None:
    """Gives a new process of the pool its local rank, so that pools of several ranks share GPUs.

    A worker waits for work for ever, also from a parent that was killed: then it ends itself.
    """
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with started.get_lock():
        number = started.value
        started.value += 1
    os.environ[LOCAL_RANK] = str(local_rank() * workers + number)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def pinned_device(device: str) -> str:
    """`cuda` made definite by the process's local rank; anything else stays as it is.

    Args:
        device: `cpu`, `cuda` or `cuda:N`.
    """
    if device != "cuda" or not torch.cuda.is_available():
        return device
    return f"cuda:{local_rank() % torch.cuda.device_count()}"


def local_rank() -> int:
    """The number of this process among those of its machine; 0 where nothing tells."""
    rank = os.environ.get(LOCAL_RANK) or os.environ.get(_SLURM_LOCAL_RANK) or "0"
    return int(rank) if rank.isdigit() else 0
