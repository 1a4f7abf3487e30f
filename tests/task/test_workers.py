"""Processes that torchrun starts train together or not at all."""

import pytest
import torch

from syntax_nmt.errors import UserError
from syntax_nmt.task.training_checks import check_joined

TORCHRUN = {"MASTER_ADDR": "localhost", "MASTER_PORT": "1", "RANK": "1", "WORLD_SIZE": "3"}


@pytest.fixture
def torchrun(monkeypatch):
    for name, value in TORCHRUN.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.mark.parametrize("gpu", [True, False])
def test_alone(torchrun, gpu):
    torchrun.setattr(torch.cuda, "is_available", lambda: gpu)
    with pytest.raises(UserError, match="each would train alone") as refused:
        check_joined()
    assert "--distributed-world-size 3" in str(refused.value)
    assert ("--distributed-rank $RANK" in str(refused.value)) == (not gpu)


def test_the_only_one(torchrun):
    torchrun.setenv("WORLD_SIZE", "1")
    check_joined()


@pytest.mark.parametrize("name", TORCHRUN)
def test_not_started_by_torchrun(torchrun, name):
    torchrun.delenv(name)
    check_joined()


def test_joined(torchrun, tmp_path):
    torch.distributed.init_process_group(
        "gloo", f"file://{tmp_path / 'rendezvous'}", rank=0, world_size=1
    )
    try:
        check_joined()
    finally:
        torch.distributed.destroy_process_group()
