"""Every method has its place on the pages that people write."""

import pytest
from commands import REPOSITORY

from syntax_nmt.methods import METHODS

DECLARED = [method for method in METHODS if method.presets]


def page(name: str) -> str:
    return (REPOSITORY / name).read_text("utf-8")


def rows_of(text: str, name: str) -> list[str]:
    """The rows of tables whose first cell has the name as code."""
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    return [row for row in rows if f"`{name}`" in row.split("|")[1]]


@pytest.mark.parametrize("method", DECLARED, ids=lambda method: method.name)
def test_every_method_has_its_place(method):
    """In the README's table, the site, and an example of its own."""
    assert any(rows_of(page("README.md"), arch) for arch in method.presets)
    for arch in method.presets:
        examples = [
            path.parent.name
            for path in (REPOSITORY / "examples").glob("*/README.md")
            if arch in path.read_text("utf-8")
        ]
        assert any(f"examples/{name}/README.md" in page("site/mkdocs.yml") for name in examples)
