"""What programs send to `syntax-nmt serve`: an answer or a message, never a hang."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPResponse
from subprocess import PIPE
from types import SimpleNamespace
from typing import ClassVar

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")
from served import post, served

from syntax_nmt.cli import main
from syntax_nmt.errors import UserError
from syntax_nmt.inference.given_sentences import TooLongError
from syntax_nmt.serve import connections
from syntax_nmt.serve.application import Limits, names_of
from syntax_nmt.serve.systems import SentenceStructures, TranslatedSentence, Translations

LOCK = threading.Lock()


class Upper:
    """A system that writes in capitals, slowly if a text says so, and knows two mistakes."""

    running = most = 0  # of all systems
    computed: ClassVar[Counter[str]] = Counter()

    def __init__(self, name):
        self.name = name
        self.model = SimpleNamespace(structures=(), reads=(), features=("upos",))

    def translate(self, sentences):
        with LOCK:
            Upper.running += 1
            Upper.most = max(Upper.most, Upper.running)
            Upper.computed.update(sentences)
        time.sleep(sum(float(text[5:]) for text in sentences if text.startswith("slow ")))
        with LOCK:
            Upper.running -= 1
        if "mistake" in sentences:
            raise UserError("a sentence is too long")
        if "long" in sentences:
            raise TooLongError(sentences.index("long"), 2000, 1024)
        if "failure" in sentences:
            raise RuntimeError("out of memory\nand more")
        pairs = [TranslatedSentence(text, text.upper()) for text in sentences]
        return Translations(self.name, pairs, 0.0)

    def structures(self, source, translation):
        return SentenceStructures(self.name, [], None, None)


@pytest.fixture(scope="module")
def systems():
    return [Upper("one"), Upper("two")]


@pytest.fixture(scope="module")
def address(systems):
    with served(systems, Limits(characters=100, seconds=1.0)) as address:
        yield address


def sent(address, content, length, receives=None):
    """A connection on which a request was sent that says to be so long.

    With `receives` it takes no more bytes of an answer than about so many, before they are read.
    """
    place = urllib.parse.urlsplit(address).netloc
    connection = socket.socket()
    if receives is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
    host, port = place.split(":")
    connection.connect((host, int(port)))
    head = f"POST /translate HTTP/1.1\r\nHost: {place}\r\nContent-Type: application/json\r\n"
    connection.sendall(f"{head}Content-Length: {length}\r\n\r\n{content}".encode())
    return connection


def half_sent(address):
    """A connection on which the rest of a request never comes."""
    return sent(address, '{"text"', 100)


def test_each_line_is_a_sentence(address):
    status, found = post(f"{address}/translate", {"text": "a b\n\n  c\u2028d\r\n", "system": "two"})
    assert status == 200
    assert found["system"] == "two"
    assert [pair["translation"] for pair in found["sentences"]] == ["A B", "C\u2028D"]
    assert post(f"{address}/translate", {"text": ""})[1]["sentences"] == []
    assert post(f"{address}/translate", {"text": "a"})[1]["system"] == "one"


@pytest.mark.parametrize(
    ("path", "body", "status", "part"),
    [
        ("translate", {"text": "x" * 101}, 413, "100 characters"),
        ("translate", b"x" * 100_000, 413, "100 characters"),
        ("translate", b"no json", 400, "JSON"),
        ("translate", b"[" * 2000, 400, "JSON"),
        ("translate", b"\xff\xfe", 400, "JSON"),
        ("translate", ["text"], 400, "object"),
        ("translate", {"text": 1}, 400, "strings"),
        ("translate", {"text": "a", "path": "/etc/passwd"}, 400, "object"),
        ("translate", {"source": "a"}, 400, "text"),
        ("translate", {"text": "a", "system": "three"}, 404, "one, two"),
        ("structures", {"source": "a"}, 400, "translation"),
        ("translate", {"text": "mistake"}, 422, "too long"),
        ("translate", {"text": "\n\na\n" + "b\n" * 20 + "\nlong"}, 422, "line 25 has 2000 tokens"),
        ("translate", {"text": "failure"}, 500, "out of memory"),
    ],
)
def test_what_is_refused_has_one_line(address, path, body, status, part):
    found = post(f"{address}/{path}", body)
    assert found[0] == status
    assert part in found[1]["error"]
    assert "\n" not in found[1]["error"]
    assert post(f"{address}/translate", {"text": "a", "system": "two"})[0] == 200


def test_the_type_of_content_has_no_case(address):
    kind = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert post(f"{address}/translate", {"text": "a"}, **kind)[0] == 200
    assert post(f"{address}/translate", {"text": "a"}, **{"Content-Type": "text/json"})[0] == 415


def test_what_the_systems_are(address):
    with urllib.request.urlopen(f"{address}/systems") as answer:
        found = json.loads(answer.read())
    one, two = ({"name": name, "structures": [], "reads": []} for name in ("one", "two"))
    features = {"features": ["upos"]}
    assert found == {"systems": [one | features, two | features], "characters": 100}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "translate", 405),
        ("POST", "systems", 405),
        ("GET", "favicon.ico", 404),
        ("POST", "a\nb", 404),
    ],
)
def test_what_is_not_there_is_refused_in_json_too(address, method, path, status):
    request = urllib.request.Request(f"{address}/{urllib.parse.quote(path)}", method=method)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    assert refused.value.code == status
    assert refused.value.headers["Content-Type"] == "application/json"
    assert refused.value.headers["Cache-Control"] == "no-store"
    assert ("Allow" in refused.value.headers) == (status == 405)
    message = json.loads(refused.value.read())["error"]
    assert "POST /translate" in message
    assert "\n" not in message


def test_lone_surrogates_are_replaced(address):
    status, found = post(f"{address}/translate", b'{"text": "a \\ud800 b"}')
    assert (status, found["sentences"][0]["translation"]) == (200, "A ? B")


def test_every_text_may_have_as_many_characters(address):
    longest = "\U0001f600" * 100  # twelve bytes each, as JSON escapes them
    body = json.dumps({"source": longest, "translation": longest, "system": "one"}).encode()
    assert post(f"{address}/structures", body)[0] == 200


def test_many_at_once_wait_for_each_other(address):
    texts = [f"slow 0.0{i}" for i in range(10)]
    bodies = [{"text": text, "system": name} for text, name in zip(texts, ["one", "two"] * 5)]
    with ThreadPoolExecutor(10) as threads:
        found = list(threads.map(lambda body: post(f"{address}/translate", body), bodies))
    assert [answer["sentences"][0]["source"] for _, answer in found] == texts
    assert Upper.most == 1


def test_who_waits_too_long_for_a_turn_is_told(address):
    """At a limit of 1 s: the first two of five are answered, the others are not computed."""
    body = {"text": "slow 0.6"}
    Upper.computed.clear()
    with ThreadPoolExecutor(5) as threads:
        found = list(threads.map(lambda _: post(f"{address}/translate", body)[0], range(5)))
    assert sorted(found) == [200, 200, 503, 503, 503]
    assert post(f"{address}/translate", {"text": "next"})[0] == 200
    assert Upper.computed["slow 0.6"] == 2


def test_what_was_hung_up_on_is_not_computed(address):
    Upper.computed.clear()
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(post, f"{address}/translate", {"text": "slow 0.5"})
        while not Upper.running:
            time.sleep(0.01)
        content = '{"text": "gone"}'
        with sent(address, content, len(content)):
            time.sleep(0.1)
        assert first.result()[0] == 200
    assert post(f"{address}/translate", {"text": "next"})[0] == 200
    assert Upper.computed == {"slow 0.5": 1, "next": 1}


def test_pages_of_other_sites_cannot_ask(address):
    assert post(f"{address}/translate", {"text": "a"}, **{"Content-Type": "text/plain"})[0] == 415


@pytest.mark.parametrize(
    "host",
    ["example.org", "127.0.0.1.example.org", "localhost", "", "127.0.0.1:x", "127.0.0.1:80:80"],
)
def test_other_names_are_refused(address, host):
    status, found = post(f"{address}/translate", {"text": "a"}, Host=host)
    assert status == 400
    assert found["error"].endswith("is not the name of this page: ask 127.0.0.1")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:9", "127.0.0.2", "10.1.2.3:80", "[::1]", "[::1]:8000"]
)
def test_the_name_at_every_port_and_addresses_are_no_foreign_page(address, host):
    assert post(f"{address}/translate", {"text": "a"}, Host=host)[0] == 200


@pytest.mark.parametrize(
    ("host", "names"),
    [
        ("127.0.0.1", {"127.0.0.1", "localhost"}),
        ("127.0.0.2", {"127.0.0.2", "localhost"}),
        ("::1", {"[::1]", "localhost"}),
        ("LocalHost", {"localhost"}),
        ("box.example.org", {"box.example.org", "localhost", "box", "box.lan"}),
        ("0.0.0.0", {"0.0.0.0", "localhost", "box", "box.lan"}),
        ("192.168.1.5", {"192.168.1.5", "localhost", "box", "box.lan"}),
    ],
)
def test_names_follow_from_the_address(monkeypatch, host, names):
    monkeypatch.setattr(socket, "gethostname", lambda: "Box")
    monkeypatch.setattr(socket, "getfqdn", lambda: "box.lan")
    assert set(names_of(host)) == names


def test_a_request_that_does_not_come_is_given_up(address):
    with half_sent(address) as connection:
        connection.settimeout(30)
        answer = HTTPResponse(connection)
        answer.begin()
        assert answer.status == 408
        assert b"not complete after 1 s" in answer.read()


def test_a_head_that_never_ends_is_given_up(address):
    """On a new connection, and after an answer."""
    place = urllib.parse.urlsplit(address).netloc
    for before in (b"", f"GET /systems HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()):
        with socket.create_connection(place.split(":")) as connection:
            connection.settimeout(30)
            connection.sendall(before + b"GET /systems HT")
            while connection.recv(4096):
                pass  # until it is closed


class Wordy(Upper):
    """Its answers are longer than what a machine keeps for a client that does not read."""

    def translate(self, sentences):
        return Translations(self.name, [TranslatedSentence("a", "a" * 20_000_000)], 0.0)


def test_an_answer_that_nobody_reads_is_given_up(monkeypatch):
    """With room for a single connection, which others get then."""
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 1)
    content = '{"text": "a"}'
    with served([Wordy("wordy")], Limits(characters=100, seconds=1.0)) as address:
        with sent(address, content, len(content), receives=4096):
            time.sleep(0.5)
            with pytest.raises((ConnectionError, urllib.error.URLError)):
                urllib.request.urlopen(f"{address}/systems", timeout=5)
            end = time.monotonic() + 20
            while time.monotonic() < end:
                with suppress(OSError), urllib.request.urlopen(f"{address}/systems", timeout=5):
                    return
                time.sleep(0.1)
        pytest.fail("nobody else was answered")


def test_long_texts_share_the_turns(systems):
    """Nobody waits until all lines of another request are translated."""
    Upper.computed.clear()
    limits = Limits(characters=1000, seconds=30.0, lines=2)
    with served(systems, limits) as address, ThreadPoolExecutor() as pool:
        lines = [f"slow 0.3{i}" for i in range(8)]
        long = pool.submit(post, f"{address}/translate", {"text": "\n".join(lines)})
        while not Upper.computed:
            time.sleep(0.01)
        assert post(f"{address}/translate", {"text": "a"})[0] == 200
        assert not long.done()
        status, found = long.result()
    assert status == 200
    assert [pair["source"] for pair in found["sentences"]] == lines


# The command itself, with a model that nobody asks for a translation.
SERVING = """
import sys
from types import SimpleNamespace
from syntax_nmt import cli
from syntax_nmt.inference import loading

loading.load = lambda *args, **kwargs: SimpleNamespace(structures=(), reads=(), features=("upos",))
sys.exit(cli.main(["serve", "--system", "name", "m.pt", "data", "--port", "0"]))
"""


@pytest.mark.dear
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_ends_the_server_while_a_request_is_half_sent(ending):
    command = [sys.executable, "-c", SERVING]
    with subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True) as server:
        try:
            address = server.stdout.readline().split()[0]
            with half_sent(address):
                with urllib.request.urlopen(f"{address}/systems"):
                    server.send_signal(ending)  # the half-sent request came before this answer
                _, errors = server.communicate(timeout=120)
        finally:
            server.kill()
    assert server.returncode == 0
    assert len(errors.splitlines()) <= 1, errors  # uvicorn tells that it gave a request up


@pytest.mark.dear
def test_many_half_sent_requests_stop_no_other():
    """With as few file descriptors as a system may give a process."""
    few = "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))\n"
    command = [sys.executable, "-c", few + SERVING]
    with subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True) as server:
        try:
            address = server.stdout.readline().split()[0]
            place = urllib.parse.urlsplit(address).netloc.split(":")
            half = [socket.create_connection(place) for _ in range(300)]
            for connection in half:
                with suppress(OSError):  # it may be closed by now
                    connection.sendall(b"GET /systems HT")
            end = time.monotonic() + 30
            for connection in half[:30]:  # as when some clients give up
                connection.close()
            while time.monotonic() < end:
                with suppress(OSError), urllib.request.urlopen(f"{address}/systems", timeout=5):
                    break
                time.sleep(0.1)
            else:
                pytest.fail("nobody else was answered")
            server.send_signal(signal.SIGINT)
            _, errors = server.communicate(timeout=120)
        finally:
            server.kill()
    assert len(errors.splitlines()) <= 2, errors[:2000]


@pytest.mark.parametrize(
    ("port", "part"), [("99999", "0 to 65535"), ("-1", "0 or more"), ("http", "whole number")]
)
def test_a_port_that_is_none_is_refused_before_anything_is_loaded(port, part, capsys):
    with pytest.raises(SystemExit):
        main(["serve", "--system", "name", "nowhere.pt", "nowhere", "--port", port])
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "error:" in line]
    assert "--port" in line
    assert part in line


def test_nothing_is_loaded_from_elsewhere_or_kept(address):
    headers = {
        "Content-Security-Policy": "default-src 'self'; img-src data:; frame-ancestors 'none'; "
        "base-uri 'none'; form-action 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }
    for path in ("", "page.js", "page.css", "systems"):
        with urllib.request.urlopen(f"{address}/{path}") as answer:
            assert {name: answer.headers[name] for name in headers} == headers
            assert b"http" not in answer.read().replace(b"http-equiv", b"")
    foreign = urllib.request.Request(address, headers={"Host": "evil.example"})
    for wrong in (foreign, f"{address}/../application.py"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(wrong)
        assert {name: refused.value.headers[name] for name in headers} == headers
