"""The reference, made while mkdocs builds the site: its pages, and the links in its docstrings.

mkdocs calls the functions; mkdocstrings takes the extension.
"""

import re
from pathlib import Path
from typing import Any

import griffe
from mkdocs.structure.files import File, Files

PACKAGE = "syntax_nmt"
ITSELF = f"::: {PACKAGE}\n    options:\n      show_submodules: false\n"
ROLE = re.compile(r":(attr|class|data|func|meth|mod):`(~?)([\w.]+)`")
LINKED = {"class", "func", "meth", "mod"}  # all that have docstrings; constants do without


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


class RolesAsLinks(griffe.Extension):
    """Sphinx's roles: `:class:`~package.module.Name`` is shown as `Name` and leads to it."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrites the object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = ROLE.sub(_shown, obj.docstring.value)


def _shown(role: re.Match[str]) -> str:
    kind, shortened, name = role.groups()
    code = f"`{name.rpartition('.')[2] if shortened else name}`"
    return f"[{code}][{name}]" if kind in LINKED else code
