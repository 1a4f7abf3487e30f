"""Programs on damaged files, each in a process of its own: one line, and nothing left behind."""

import shutil

import pytest
from commands import fairseq, refuse
from methods import COMMON, METHODS

pytestmark = pytest.mark.dear

TRAIN = (*METHODS["dependency_transformer"].training, *COMMON, "--load-phrases", "--load-chunks")


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(bytes(content))


def cut(path):
    path.write_bytes(path.read_bytes()[:-7])


def empty(path):
    path.write_bytes(b"")


def remove(path):
    path.unlink()


@pytest.mark.parametrize(
    "damage", [cut, *(pytest.param(way, marks=pytest.mark.slow) for way in (flip, empty, remove))]
)
@pytest.mark.parametrize("program", ["generate", "interactive", "restore", "finetune"])
def test_a_damaged_checkpoint(prepared, good, tmp_path, program, damage):
    path = shutil.copy(good, tmp_path / "model.pt")
    damage(path)
    saved = tmp_path / "saved"
    train = ("train", prepared.data, *TRAIN, "--max-update", "1", "--save-dir", saved)
    command = {
        "generate": ("generate", prepared.data, "--path", path),
        "interactive": ("interactive", prepared.data, "--path", path),
        "restore": (*train, "--restore-file", path),
        "finetune": (*train, "--finetune-from-model", path),
    }[program]
    if (program, damage) == ("restore", remove):
        pytest.skip("fairseq then trains from the beginning")
    assert "model.pt" in refuse(*fairseq(*command))
    assert not list(tmp_path.glob("saved/*"))


def test_a_checkpoint_of_other_data(prepared, good, tmp_path):
    data = shutil.copytree(prepared.data, tmp_path / "data-bin")
    for lang in ("src", "tgt"):
        lines = (data / f"dict.{lang}.txt").read_text().splitlines(keepends=True)
        (data / f"dict.{lang}.txt").write_text("".join(lines[:-80]))
    message = refuse(*fairseq("generate", data, "--path", good))
    assert "model knows" in message
    assert "source tokens, the dictionary of the data has" in message
