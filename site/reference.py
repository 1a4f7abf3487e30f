"""The reference: a page for each part of the package, made while mkdocs builds the site."""

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

PACKAGE = "syntax_nmt"
ITSELF = f"::: {PACKAGE}\n    options:\n      show_submodules: false\n"


def pages() -> dict[str, str]:
    """The text of each page by its name: that of the package itself, then those of its parts."""
    folder = Path(__file__).resolve().parents[1] / PACKAGE
    parts = {path.parent.name for path in folder.glob("*/__init__.py")}
    parts |= {path.stem for path in folder.glob("*.py")} - {"__init__"}
    return {PACKAGE: ITSELF, **{part: f"::: {PACKAGE}.{part}\n" for part in sorted(parts)}}


def on_config(config: Any) -> None:
    """Puts the pages into the navigation."""
    config.nav.append({"Reference": [{name: f"reference/{name}.md"} for name in pages()]})


def on_files(files: Files, config: Any) -> None:
    """Adds the pages."""
    for name, text in pages().items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
