"""The workers of a Dask cluster as an executor (extra `cluster`)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from syntax_nmt.errors import UserError

_SECONDS_TO_ANSWER = 10


@contextmanager
def open_cluster(scheduler: str) -> Iterator[tuple[Executor, int]]:
    """The cluster's executor and its number of parallel calls.

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
            yield client.get_executor(pure=False), threads
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
    return ", ".join(f"{name} {version(name)}" for name in ("stanza", "torch"))
