"""Files damaged at random: refused in one line, or harmless; never a wrong one accepted.

To repeat one attempt: `CORRUPTION_SEED=123 pytest tests/endurance/test_corruption.py -s -k NAME`.
"""

import logging
import os

import pytest
from corrupted_commands import command_subjects
from corrupted_data import data_subjects, text_subjects
from corrupted_models import model_subjects
from corruption_attempts import attempt_all

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
