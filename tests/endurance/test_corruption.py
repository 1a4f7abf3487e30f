"""Damaged files: refused in one line, or harmless; never a wrong one accepted, and nothing left.

To repeat one attempt: `CORRUPTION_SEED=123 pytest tests/endurance/test_corruption.py -s -k NAME`.
"""

import logging
import os
import shutil

import pytest
from commands import fairseq, refuse
from corrupted_commands import command_subjects
from corrupted_data import data_subjects, text_subjects
from corrupted_models import model_subjects
from corruption_attempts import attempt_all
from methods import COMMON, METHODS

pytestmark = pytest.mark.dear

# Attempts in all (--slow), and how many of them in a quick run.
ATTEMPTS = {
    "annotation .bin .idx": (2500, 40),
    "text .bin .idx": (1500, 25),
    "syntax.json": (1200, 25),
    "dict.chunks.txt": (500, 10),
    "dict.COLUMN.txt": (500, 10),
    "dict.LANG.txt": (500, 10),
    "text alone": (800, 15),
    "CoNLL-U": (1000, 20),
    "CoNLL-U .gz": (300, 5),
    "trees in text": (1000, 20),
    "chunks in text": (1000, 20),
    "words, subwords": (600, 15),
    "checkpoint": (700, 15),
    "old checkpoint": (200, 5),
    "sentencepiece": (200, 5),
    "parser.json": (500, 10),
    "finished parts": (500, 10),
    # All of a command, with what it prints and leaves.
    "binarize": (250, 3),
    "inspect": (250, 3),
    "trees": (100, 2),
    "trees of a file": (150, 3),
    "constituents": (150, 3),
    "align": (100, 2),
    "chunks": (100, 2),
    "contrast": (100, 2),
    "average": (100, 3),
    "score": (100, 3),
}


@pytest.fixture(scope="module")
def subjects(prepared, tmp_path_factory):
    """Every kind of file by name."""
    logging.disable(logging.INFO)
    folder = tmp_path_factory.mktemp("corruption")
    made = [
        *data_subjects(prepared, folder / "data"),
        *text_subjects(prepared, folder / "text"),
        *model_subjects(prepared, folder / "models"),
        *command_subjects(prepared, folder / "commands"),
    ]
    yield {subject.name: subject for subject in made}
    logging.disable(logging.NOTSET)


def check(subject, seeds):
    if "CORRUPTION_SEED" in os.environ:
        seeds = [int(os.environ["CORRUPTION_SEED"])]
    counts, faults = attempt_all(subject, seeds)
    print(f"\n{subject.name}: {dict(counts)}")
    assert not faults, f"{len(faults)} faults\n" + "\n".join(faults[:20])


@pytest.mark.parametrize("name", ATTEMPTS)
def test_some_damage(subjects, name):
    check(subjects[name], range(ATTEMPTS[name][1]))


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTEMPTS)
def test_much_damage(subjects, name):
    check(subjects[name], range(ATTEMPTS[name][0]))


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
