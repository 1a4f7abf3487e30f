"""One interface to run work in this process, in a pool of processes, or on a cluster.

All parallel work is a function of one picklable task, mapped over tasks.
"""

import asyncio
import logging
import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError  # Python 3.10 has one of its own
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from syntax_nmt.errors import UserError
from syntax_nmt.parsing.parsers import PACKAGES

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
        with open_cluster(dask_scheduler) as cluster:
            yield partial(_results, *cluster)
    elif workers == 1:
        yield map
    else:
        context = multiprocessing.get_context("spawn")
        started = context.Value("i", 0)
        others = set(multiprocessing.active_children())
        executor = ProcessPoolExecutor(workers, context, _start_process, (started, workers))
        try:
            yield partial(_results, executor, workers, Future.result)
        except BrokenProcessPool:
            raise UserError(
                "a worker process died, probably for want of memory: start again with fewer "
                "processes; what is finished is kept"
            ) from None
        except KeyboardInterrupt:
            for process in set(multiprocessing.active_children()) - others:
                process.kill()  # the pool would wait for their tasks
            raise
        finally:
            executor.shutdown(cancel_futures=True)


def _results(
    executor: Executor,
    workers: int,
    wait: Callable[[Future[Any]], Any],
    function: Callable[[Any], Any],
    tasks: Iterable[Any],
) -> Iterator[Any]:
    """Reads two tasks per worker ahead, so that not all tasks are in memory.

    Args:
        wait: gives the result of a call that the executor was given.
    """
    pending: deque[Future[Any]] = deque()
    for task in tasks:
        pending.append(executor.submit(function, task))
        if len(pending) >= 2 * workers:
            yield wait(pending.popleft())
    while pending:
        yield wait(pending.popleft())


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
    if device != "cuda":
        return device
    import torch

    if not torch.cuda.is_available():
        return device
    return f"cuda:{local_rank() % torch.cuda.device_count()}"


def local_rank() -> int:
    """The local rank of this process; 0 if unknown."""
    rank = os.environ.get(LOCAL_RANK) or os.environ.get(_SLURM_LOCAL_RANK) or "0"
    return int(rank) if rank.isdigit() else 0


_SECONDS_TO_ANSWER = 10


@contextmanager
def open_cluster(
    scheduler: str,
) -> Iterator[tuple[Executor, int, Callable[[Future[Any]], Any]]]:
    """The cluster's executor, its number of parallel calls, and what waits for a call's result.

    The workers must see the same model files as this process. If a worker dies, another does its
    work again.

    Args:
        scheduler: the scheduler's address, `tcp://HOST:PORT`.

    Raises:
        UserError: Dask is not installed, the scheduler does not answer, or the cluster has no
            workers.
    """
    try:
        from distributed import Client, KilledWorker
        from distributed.comm import CommClosedError, parse_address, parse_host_port
    except ImportError:
        raise UserError("--dask-scheduler needs Dask: pip install 'syntax-nmt[cluster]'") from None
    # The error is reported here, in one line.
    for name in ("asyncio", "distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        parse_host_port(parse_address(scheduler, strict=True)[1])
        asyncio.run(_greet(scheduler))
        client = Client(scheduler, timeout=_SECONDS_TO_ANSWER, set_as_default=False)
    except Exception as error:  # Dask can raise anything on an unexpected answer
        said = str(error) or "it listens and says nothing"
        raise UserError(
            f"--dask-scheduler {scheduler}: no scheduler answers ({said}): check the address"
        ) from None
    with client:
        threads = sum(client.nthreads().values())
        if threads == 0:
            raise UserError(
                f"--dask-scheduler {scheduler}: the cluster has no workers: start some with "
                f"`dask worker {scheduler} --nthreads 1`"
            )
        _check_versions(client)
        try:
            # Impure: the cluster caches no result by the hash of its arguments.
            yield client.get_executor(pure=False), threads, partial(_wait_while_open, client)
        except KilledWorker as error:
            raise UserError(
                f"workers of the cluster died again and again over one piece ({error}), probably "
                "for want of memory: start again with smaller parts; what is finished is kept"
            ) from None
        except (CancelledError, CommClosedError):
            raise UserError(
                f"--dask-scheduler {scheduler}: the cluster went away: start it and this again; "
                "what is finished is kept"
            ) from None


def _wait_while_open(client: Any, call: Future[Any]) -> Any:
    """The result of a call.

    A client that has lost its scheduler cancels the calls that it knows of, and tries to reconnect.
    A call that comes at that moment can stay without an answer.

    Raises:
        CancelledError: the client has been without a scheduler for longer than it tries.
    """
    without = 0
    while True:
        try:
            return call.result(_SECONDS_TO_ANSWER)
        except FutureTimeoutError:
            if call.done():  # the call's own error
                raise
            without = 0 if client.status == "running" else without + 1
            if without > 1:
                raise CancelledError from None


async def _greet(scheduler: str) -> None:
    """Checks whether a scheduler answers, because a client waits forever for another server.

    Raises:
        Exception: whatever went wrong.
    """
    from distributed.comm import connect
    from distributed.security import Security

    options = Security().get_connection_args("client")
    greeting = connect(scheduler, timeout=_SECONDS_TO_ANSWER, **options)
    comm = await asyncio.wait_for(greeting, _SECONDS_TO_ANSWER + 1)
    await comm.close()


def _check_versions(client: Any) -> None:
    """Refuses workers with other versions, which may annotate differently.

    Raises:
        UserError: a worker has other versions than this process.
    """
    own = _versions()
    for worker, found in client.run(_versions).items():
        if found != own:
            raise UserError(f"Dask worker {worker} has {found}, this process {own}: install one")


def _versions() -> str:
    """The packages that tokenise, cut, parse and binarise, those that are installed."""
    found = []
    for name in (*PACKAGES, "torch", "sacremoses", "sentencepiece", "fairseq-fixed", "syntax-nmt"):
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return ", ".join(found)
