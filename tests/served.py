"""The application in a thread, at a port of this machine."""

import json
import socket
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

from syntax_nmt.serve.application import Limits, application
from syntax_nmt.serve.connections import server_of


@contextmanager
def served(systems, limits=None):
    """Gives the address."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    limits = limits or Limits()
    app = application(systems, ["127.0.0.1"], limits)
    server = server_of(app, "127.0.0.1", 0, limits.seconds, 2)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(timeout=20)
    listening.close()


def post(url, body, **headers):
    """The status and the answer; what is no bytes is sent as JSON."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(url, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}")
