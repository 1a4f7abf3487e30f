"""Connections to the page: how many may be open, and how long a client may take for its part.

uvicorn has no time limit for a request whose head never ends, and none for an answer that the
client does not read: it waits even to close the connection. asyncio logs a traceback for each
connection that finds no free file descriptor, thousands in a second.
"""

import asyncio
import logging
import resource
import time
from functools import partial
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 128
_LOG_PAUSE = 60.0  # seconds
_LOGGERS = ("uvicorn.error", "asyncio")


class BoundedHTTP(H11Protocol):
    """A connection that is closed where there are too many, or where the client does nothing.

    Args:
        most: open connections, this one included.
        seconds: for the head of a request, from its first byte or from the connection's begin; and
            for the client to take what was written of an answer.
        **arguments: as uvicorn gives them to each connection.
    """

    def __init__(self, *, most: int, seconds: float, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._most, self._seconds = most, seconds
        self._late: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to wait for a request."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # paused as soon as the client lags behind
        if len(self.connections) > self._most:
            transport.abort()
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        """Waits for the head that the data begins, or waits no longer if it is complete."""
        answered = self.cycle
        self._wait()
        super().data_received(data)
        if self.cycle is not answered:
            self._wait_no_longer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits no longer."""
        self._wait_no_longer()
        self._taken()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Begins to wait for the client to take what was written."""
        super().pause_writing()
        self._taken()
        self._unread = self.loop.call_later(self._seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Waits no longer, as the client took all."""
        self._taken()
        super().resume_writing()

    def _taken(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _wait(self) -> None:
        if self._late is None and (self.cycle is None or self.cycle.response_complete):
            self._late = self.loop.call_later(self._seconds, self.transport.close)

    def _wait_no_longer(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class _OneAMinute(logging.Filter):
    """Passes the first record of each minute: clients cause these lines, as many as they like."""

    def __init__(self) -> None:
        super().__init__()
        self._next = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + _LOG_PAUSE
        return True


def server_of(
    app: Any, host: str, port: int, seconds: float, seconds_to_end: int
) -> uvicorn.Server:
    """A server that does not run yet.

    Args:
        app: the ASGI application.
        seconds: for the head of a request, and for each part of an answer.
        seconds_to_end: for requests that are running when the server is interrupted.
    """
    # Each descriptor more than these is for the files of models and of the page. asyncio accepts as
    # many as the backlog in each round of its loop, and closes a connection some rounds later.
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = max(1, min(MOST_CONNECTIONS, descriptors // 4))
    http: Any = partial(BoundedHTTP, most=most, seconds=seconds)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=http,
        ws="none",
        log_level="warning",
        backlog=max(1, most // 4),
        timeout_graceful_shutdown=seconds_to_end,
    )
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_OneAMinute())
    return uvicorn.Server(config)
