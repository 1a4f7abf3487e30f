"""Work in this process or in others, through one interface."""

import socket
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from syntax_nmt.errors import UserError
from syntax_nmt.preparation.executor import local_rank, ordered_map, pinned_device

pytestmark = pytest.mark.dear


def local_rank_of(number: int) -> int:
    return local_rank()


def test_workers_of_a_pool_take_one_gpu_each(monkeypatch):
    """The second rank of a machine with two workers a rank takes the third and fourth GPU."""
    monkeypatch.setenv("LOCAL_RANK", "1")
    with ordered_map(2) as mapped:
        ranks = set(mapped(local_rank_of, range(20)))
    assert ranks <= {2, 3}
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 4)
    monkeypatch.setenv("LOCAL_RANK", "7")
    assert pinned_device("cuda") == "cuda:3"
    assert (pinned_device("cuda:1"), pinned_device("cpu")) == ("cuda:1", "cpu")
    monkeypatch.delenv("LOCAL_RANK")
    monkeypatch.setenv("SLURM_LOCALID", "2")
    assert pinned_device("cuda") == "cuda:2"


@pytest.mark.parametrize("address", ["foo", "tcp://127.0.0.1:9"])
def test_nobody_is_at_the_address(monkeypatch, address):
    monkeypatch.setattr("syntax_nmt.preparation.executor._SECONDS_TO_ANSWER", 0.5)
    message = f"--dask-scheduler {address}: no scheduler answers"
    with pytest.raises(UserError, match=message), ordered_map(1, address):
        pass


@pytest.mark.parametrize(
    ("answer", "said"),
    [(b"", "it listens and says nothing"), (b"HTTP/1.0 400 Bad Request\r\n\r\n", ".+")],
)
def test_a_port_that_is_no_schedulers(monkeypatch, answer, said):
    """Dask's client waits for the first for ever, and takes the second for a size."""
    monkeypatch.setattr("syntax_nmt.preparation.executor._SECONDS_TO_ANSWER", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept = []

        def serve():
            with suppress(OSError):
                while True:
                    kept.append(server.accept()[0])
                    kept[-1].sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        address = "tcp://{}:{}".format(*server.getsockname())
        with (
            pytest.raises(UserError, match=rf"{address}: no scheduler answers \({said}\): check"),
            ordered_map(1, address),
        ):
            pass


INTERRUPTED = """
import os, signal, threading, time
from syntax_nmt.preparation.executor import ordered_map
if __name__ == "__main__":
    with ordered_map(2) as mapped:
        assert list(mapped(time.sleep, [0, 0])) == [None, None]
        threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
        list(mapped(time.sleep, [600] * 9))
"""


def test_an_interrupt_does_not_wait_for_tasks(tmp_path):
    program = tmp_path / "interrupted.py"
    program.write_text(INTERRUPTED)
    ended = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=300)
    assert ended.returncode
    assert ended.stderr.endswith("KeyboardInterrupt\n")
