"""What pages say of the experiments stands in the tables."""

import re

import pytest
from commands import REPOSITORY

EXPERIMENTS = REPOSITORY / "examples" / "experiments"
PAGES = [
    EXPERIMENTS / "GAINS.md",
    *sorted(EXPERIMENTS.glob("results/*/notes.md")),
    *sorted(REPOSITORY.glob("examples/*/README.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.parent.name)
def test_means_over_seeds_are_those_of_a_table(page):
    tables = "".join(path.read_text("utf-8") for path in EXPERIMENTS.glob("results/*/table.md"))
    said = re.findall(r"\d+\.\d ± \d+\.\d", page.read_text("utf-8"))
    assert [figure for figure in said if figure not in tables] == []
