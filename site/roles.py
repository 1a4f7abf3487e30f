"""Sphinx's roles in docstrings become links of the reference, which a strict build follows."""

import re
from typing import Any

import griffe

ROLE = re.compile(r":(attr|class|data|func|meth|mod):`(~?)([\w.]+)`")
LINKED = {"class", "func", "meth", "mod"}  # all that have docstrings; constants do without


class RolesAsLinks(griffe.Extension):
    """`:class:`~package.module.Name`` is shown as `Name` and leads to it."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrites the object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = ROLE.sub(_shown, obj.docstring.value)


def _shown(role: re.Match[str]) -> str:
    kind, shortened, name = role.groups()
    code = f"`{name.rpartition('.')[2] if shortened else name}`"
    return f"[{code}][{name}]" if kind in LINKED else code
