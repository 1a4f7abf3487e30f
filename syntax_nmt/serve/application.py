"""The page and the interface for programs, over HTTP; requests are bounded in size and time."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial, reduce
from ipaddress import ip_address
from operator import add
from pathlib import Path

from anyio import fail_after, to_thread
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from syntax_nmt.errors import UserError
from syntax_nmt.inference.given_sentences import TooLongError
from syntax_nmt.serve.systems import SentenceStructures, ServedSystem, Translations

_PAGE = Path(__file__).with_name("page")
_FILES = {"/": "index.html", "/page.js": "page.js", "/page.css": "page.css"}
_PATHS = "GET /systems, POST /translate and POST /structures"
# Nothing but the page's own files; pictures come inside of answers.
_HEADERS = {
    b"content-security-policy": b"default-src 'self'; img-src data:; frame-ancestors 'none'; "
    b"base-uri 'none'; form-action 'none'",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
}


@dataclass(frozen=True)
class Limits:
    """The limits of requests.

    Attributes:
        characters: of one text.
        seconds: for the rest of a request to come, and for each of its turns.
        lines: that are translated in one turn; then the requests that wait have theirs.
    """

    characters: int = 10_000
    seconds: float = 60.0
    lines: int = 16


class _RefusedError(Exception):
    """A request that gets a status and a message in place of an answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Headers:
    """Adds the headers to every answer.

    Args:
        app: what answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS.items()]
            await send(message)

        await self.app(scope, receive, send_with_headers)


_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(:[0-9]+)?", re.IGNORECASE)


def names_of(host: str) -> tuple[str, ...]:
    """The host names allowed for an address.

    Args:
        host: an address or a name.
    """
    try:
        address = ip_address(host)
        shown = f"[{host}]" if address.version == 6 else host
        only_here = address.is_loopback
    except ValueError:  # a name
        shown = host.lower()
        only_here = shown == "localhost"
    if only_here:
        return tuple(dict.fromkeys((shown, "localhost")))
    own = (socket.gethostname().lower(), socket.getfqdn().lower())
    return tuple(dict.fromkeys((shown, "localhost", *own)))


class _KnownHosts:
    """Refuses other host names, because a foreign page may have pointed one at this machine.

    An address is no such name. starlette's own TrustedHostMiddleware answers in plain text, and in
    older versions cuts an IPv6 address at its first colon.

    Args:
        app: what answers.
        hosts: names without port.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self.app
        if scope["type"] != "lifespan":
            host = Headers(scope=scope).get("host", "")
            match = _HOST.fullmatch(host)
            name = match[1].lower() if match else ""
            if name not in self.hosts and not _is_address(name):
                known = " or ".join(self.hosts)
                answer = _error(f"Host {host!r} is not the name of this page: ask {known}", 400)
        await answer(scope, receive, send)


def _is_address(name: str) -> bool:
    with suppress(ValueError):
        return bool(ip_address(name.strip("[]")))
    return False


class _Answers:
    """The answers to programs and the page.

    Args:
        systems: of different names.
    """

    def __init__(self, systems: Sequence[ServedSystem], limits: Limits) -> None:
        self.systems = {system.name: system for system in systems}
        self.limits = limits
        self.turn = asyncio.Lock()  # neither models nor matplotlib compute two things at a time

    async def about(self, _: Request) -> Response:
        listed = [
            {
                "name": system.name,
                "structures": system.model.structures,
                "reads": system.model.reads,
                "features": system.model.features,
            }
            for system in self.systems.values()
        ]
        return JSONResponse({"systems": listed, "characters": self.limits.characters})

    async def translate(self, request: Request) -> Response:
        def turns(system: ServedSystem, text: str) -> Iterator[Callable[[], Translations]]:
            lines = [
                (n, line.strip()) for n, line in enumerate(text.split("\n"), 1) if line.strip()
            ]
            for start in range(0, max(1, len(lines)), self.limits.lines):
                yield partial(_translated, system, lines[start : start + self.limits.lines])

        return await self._answered(request, ("text",), turns)

    async def structures(self, request: Request) -> Response:
        def turns(
            system: ServedSystem, source: str, translation: str
        ) -> Iterator[Callable[[], SentenceStructures]]:
            yield partial(system.structures, source.strip(), translation.strip())

        return await self._answered(request, ("source", "translation"), turns)

    async def _read(self, request: Request, texts: Sequence[str]) -> dict[str, str]:
        """The request's content, which must come in time."""
        try:
            with fail_after(self.limits.seconds):
                return await _read(request, texts, self.limits.characters)
        except TimeoutError:
            raise _RefusedError(
                408, f"the request is not complete after {self.limits.seconds:g} s: send it at once"
            ) from None

    @asynccontextmanager
    async def _turn_of(self, request: Request) -> AsyncIterator[None]:
        """Runs one computation at a time; skips requests that the client closed."""
        try:
            with fail_after(self.limits.seconds):
                await self.turn.acquire()
        except TimeoutError:
            raise _RefusedError(503, "the models are busy: try again in a moment") from None
        try:
            if await request.is_disconnected():
                raise _RefusedError(499, "nobody waits for the answer")
            yield
        finally:
            self.turn.release()

    async def _answered(
        self,
        request: Request,
        texts: Sequence[str],
        turns: Callable[..., Iterator[Callable[[], Translations | SentenceStructures]]],
    ) -> Response:
        """A system's answer to the texts of the request, or an error.

        Args:
            turns: what is computed, in parts between which other requests have their turn.
        """
        try:
            given = await self._read(request, texts)
            name = given.get("system", next(iter(self.systems)))
            if name not in self.systems:
                raise _RefusedError(404, f"no system {name!r}: one of {', '.join(self.systems)}")
            parts = []
            for turn in turns(self.systems[name], *(given[text] for text in texts)):
                async with self._turn_of(request):
                    parts.append(await to_thread.run_sync(turn))
            return JSONResponse(reduce(add, parts).to_json())
        except _RefusedError as refused:
            return _error(str(refused), refused.status)
        except UserError as error:
            return _error(str(error), 422)
        except Exception as error:  # a model that fails: the page stays
            message = f"the model failed ({type(error).__name__}): {error}"
            return _error(message.splitlines()[0][:300], 500)


def _translated(system: ServedSystem, lines: Sequence[tuple[int, str]]) -> Translations:
    """Translations of lines with their numbers, by which a message names one that is too long."""
    try:
        return system.translate([line for _, line in lines])
    except TooLongError as error:
        raise UserError(error.about(f"line {lines[error.index][0]}")) from None


def application(
    systems: Sequence[ServedSystem], hosts: Collection[str], limits: Limits | None = None
) -> Starlette:
    """The ASGI application.

    Args:
        systems: trained systems, of different names.
        hosts: the allowed host names, in addition to addresses; others come from foreign pages.
    """
    answers = _Answers(systems, limits or Limits())
    files = [
        Route(path, partial(_file, name), methods=["GET"], name=name)
        for path, name in _FILES.items()
    ]
    return Starlette(
        routes=[
            *files,
            Route("/systems", answers.about, methods=["GET"]),
            Route("/translate", answers.translate, methods=["POST"]),
            Route("/structures", answers.structures, methods=["POST"]),
        ],
        middleware=[Middleware(_Headers), Middleware(_KnownHosts, hosts=hosts)],
        exception_handlers={HTTPException: _not_there},
    )


async def _not_there(request: Request, error: Exception) -> Response:
    """Answers unknown paths and methods."""
    assert isinstance(error, HTTPException)
    asked = f"{request.method} {request.url.path}: {error.detail}"
    return _error(f"{asked}: there are {_PATHS}", error.status_code, error.headers)


def _error(message: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"error": message}, status, headers)


async def _file(name: str, _: Request) -> Response:
    return FileResponse(_PAGE / name)


async def _read(request: Request, texts: Sequence[str], characters: int) -> dict[str, str]:
    """The request's JSON: the texts, and `system` if it is given."""
    # Pages of other sites cannot send this type unasked.
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise _RefusedError(415, "send JSON, with Content-Type: application/json")
    body = b""
    async for part in request.stream():
        body += part
        # A character is at most \uXXXX twice.
        if len(body) > 12 * characters * len(texts) + 1000:
            raise _RefusedError(413, f"the text has more than {characters} characters: give less")
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        raise _RefusedError(400, "the request is not JSON") from None
    known = {*texts, "system"}
    if not isinstance(given, dict) or not set(texts) <= given.keys() <= known:
        raise _RefusedError(400, f"send an object with {', '.join(texts)} and, if wanted, system")
    if not all(isinstance(value, str) for value in given.values()):
        raise _RefusedError(400, "texts must be strings")
    for name in texts:
        if len(given[name]) > characters:
            raise _RefusedError(413, f"{name} has more than {characters} characters: give less")
        if not given[name].isascii():  # lone surrogates are no text
            given[name] = given[name].encode("utf-8", "replace").decode("utf-8")
    return given
