"""Pages have a row for every method, which says what its declaration says."""

import re

import pytest
from commands import REPOSITORY

from syntax_nmt.data.annotation.columns import loading_options
from syntax_nmt.methods import METHODS

DECLARED = [method for method in METHODS if method.presets]
LINES = [line for method in METHODS for line in method.recipes]


def page(name: str) -> str:
    return (REPOSITORY / name).read_text("utf-8")


def rows_of(text: str, name: str) -> list[str]:
    """The rows of tables whose first cell has the name as code."""
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    return [row for row in rows if f"`{name}`" in row.split("|")[1]]


@pytest.mark.parametrize("method", DECLARED, ids=lambda method: method.name)
def test_every_method_has_its_place(method):
    """In the README's table, the map of the code, the site, and an example of its own."""
    folder = method.options.__module__.split(".")[2]
    assert f"`{folder}/`" in page("ARCHITECTURE.md")
    assert any(rows_of(page("README.md"), arch) for arch in method.presets)
    for arch in method.presets:
        examples = [
            path.parent.name
            for path in (REPOSITORY / "examples").glob("*/README.md")
            if arch in path.read_text("utf-8")
        ]
        assert any(f"examples/{name}/README.md" in page("site/mkdocs.yml") for name in examples)


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.save_dir)
def test_the_table_of_trainings_is_that_of_the_declarations(line):
    """What is loaded in training, the criterion, and what is loaded to translate."""
    rows = rows_of(page("docs/training.md"), line.arch)
    wanted = [" ".join(line.training_options), f"`{line.criterion}`"]
    wanted.append(" ".join(loading_options(line.reads)))
    found = [row for row in rows if all(_words(part) <= _words(row) for part in wanted)]
    assert found, (rows, wanted)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[\w,.-]+", text))
