"""One interface to run work in this process, in a pool of processes, or on a cluster.

All parallel work is a function of one picklable task, mapped over tasks.
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
from functools import partial
from typing import Any

import torch

from syntax_nmt.errors import UserError

OrderedMap = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""A `map` that reads tasks one by one, and yields their results in order."""

LOCAL_RANK = "LOCAL_RANK"  # torchrun's name; workers of a pool get one, too
_SLURM_LOCAL_RANK = "SLURM_LOCALID"


@contextmanager
def ordered_map(workers: int, dask_scheduler: str | None = None) -> Iterator[OrderedMap]:
    """A `map` on this machine, or on a Dask cluster.

    Processes are spawned, not forked: a fork of a process that runs threads (torch does) can hang.
    Their functions must be importable by name.

    Args:
        workers: how many processes; 1 means in this process.
        dask_scheduler: address of a scheduler, `tcp://HOST:PORT`; `workers` is then ignored.

    Raises:
        UserError: the cluster cannot be used, or a worker died.
    """
    if dask_scheduler is not None:
        from syntax_nmt.preparation.annotation.dask_cluster import open_cluster

        with open_cluster(dask_scheduler) as cluster:
            yield partial(_results, *cluster)
    elif workers == 1:
        yield map
    else:
        context = multiprocessing.get_context("spawn")
        started = context.Value("i", 0)
        executor = ProcessPoolExecutor(workers, context, _start_process, (started, workers))
        try:
            yield partial(_results, executor, workers)
        except BrokenProcessPool:
            raise UserError(
                "a worker process died, probably for want of memory: start again with fewer "
                "--workers; what is finished is kept"
            ) from None
        finally:
            executor.shutdown(cancel_futures=True)


def _results(
    executor: Executor, workers: int, function: Callable[[Any], Any], tasks: Iterable[Any]
) -> Iterator[Any]:
    """Reads two tasks per worker ahead, so that not all tasks are in memory."""
    pending: deque[Future[Any]] = deque()
    for task in tasks:
        pending.append(executor.submit(function, task))
        if len(pending) >= 2 * workers:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def _start_process(started: Any, workers: int) -> None:
    """Gives a new process of the pool its local rank, so that pools of several ranks share GPUs.

    A worker ends itself if its parent was killed, because it would wait forever.
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
    """The GPU of the process's local rank for `cuda`; other names unchanged.

    Args:
        device: `cpu`, `cuda` or `cuda:N`.
    """
    if device != "cuda" or not torch.cuda.is_available():
        return device
    return f"cuda:{local_rank() % torch.cuda.device_count()}"


def local_rank() -> int:
    """The local rank of this process; 0 if unknown."""
    rank = os.environ.get(LOCAL_RANK) or os.environ.get(_SLURM_LOCAL_RANK) or "0"
    return int(rank) if rank.isdigit() else 0
