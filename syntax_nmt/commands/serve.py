"""`syntax-nmt serve`: serves trained systems on a local web page."""

import argparse
import logging
import signal
from asyncio import CancelledError
from contextlib import suppress
from pathlib import Path

from syntax_nmt.arguments import add_numbers, natural_int, positive_int
from syntax_nmt.errors import UserError

EXAMPLE = "syntax-nmt serve --system heads checkpoints/checkpoint_best.pt prepared"
DESCRIPTION = """\
Serves a page at http://127.0.0.1:8000: type a sentence, and see its translation and syntax from
each system. The page loads nothing from the network, and the server stores no text. Programs send
JSON: POST /translate {"text": "…", "system": "NAME"}; POST /structures {"source": "…",
"translation": "…", "system": "NAME"}; GET /systems.
"""
LOCAL = "127.0.0.1"
_SECONDS_TO_END = 2  # for requests that are running when the server is interrupted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.description = DESCRIPTION
    parser.add_argument(
        "--system",
        nargs=3,
        action="append",
        required=True,
        metavar=("NAME", "CHECKPOINT", "DATA"),
        help="a name to show, a checkpoint of fairseq-train, and the folder "
        "that `syntax-nmt prepare` wrote, which stores how to segment text; repeat for each system",
    )
    add_numbers(parser, positive_int, beam=(5, "beam size"))
    parser.add_argument(
        "--host",
        default=LOCAL,
        help="address to listen at (default: %(default)s); with any other, everyone who can reach "
        "this machine can translate; requests must be to this name, its host name, localhost, or "
        "an IP address",
    )
    parser.add_argument(
        "--port", type=_port, default=8000, help="the port to listen on (default: %(default)s)"
    )
    add_numbers(
        parser,
        positive_int,
        characters=(10_000, "longest text of a request, in characters"),
        seconds=(
            60,
            "limit in seconds of each: receiving a request's headers, receiving its text, waiting "
            "for the model, and sending the answer",
        ),
    )
    parser.add_argument("--device", help="such as cuda:1 (default: a GPU if there is one)")


def run(args: argparse.Namespace) -> None:
    """Serves until it is interrupted.

    Raises:
        UserError: a system cannot be loaded, two have one name, or the port is taken.
    """
    try:
        from syntax_nmt.serve.application import Limits, application, names_of
        from syntax_nmt.serve.connections import server_of
    except ImportError:
        raise UserError(
            "the page needs starlette and uvicorn: pip install starlette uvicorn"
        ) from None
    from syntax_nmt.inference.loading import load
    from syntax_nmt.serve.systems import ServedSystem

    names = [name for name, _, _ in args.system]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"--system {name}: given twice: choose different names")
    systems = [
        ServedSystem(name, load(Path(path), Path(data), device=args.device), args.beam)
        for name, path, data in args.system
    ]
    limits = Limits(args.characters, args.seconds)
    app = application(systems, names_of(args.host), limits)
    server = server_of(app, args.host, args.port, args.seconds, _SECONDS_TO_END)
    # fairseq's import lowers the level of all logs to DEBUG.
    logging.getLogger("asyncio").setLevel(logging.WARNING)
    # A request that is cancelled while the server ends is no error.
    logging.getLogger("uvicorn.error").addFilter(
        lambda record: not (record.exc_info and isinstance(record.exc_info[1], CancelledError))
    )
    try:
        listening = server.config.bind_socket()
        listening.listen(server.config.backlog)  # a client that reads the address can connect
    except SystemExit:
        raise UserError(
            f"--port {args.port}, --host {args.host}: cannot listen there: give another of either"
        ) from None
    host = f"[{args.host}]" if ":" in args.host else args.host  # IPv6
    print(f"http://{host}:{listening.getsockname()[1]}  (Ctrl-C ends)", flush=True)
    # uvicorn raises the signal that ended it again, for the previous handler.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):  # the normal end
        server.run(sockets=[listening])


def _port(text: str) -> int:
    """A number of 16 bits; 0 = any free port."""
    if natural_int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: give 0 to 65535")
    return int(text)
