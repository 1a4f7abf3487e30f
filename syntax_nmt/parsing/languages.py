"""Stanza's names of languages such as `en_US` or `cmn`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from syntax_nmt.data.languages import plain_language
from syntax_nmt.data.text_files import read_json

# Stanza's names have two letters where ISO 639-1 has; those of Chinese go by script, not region.
_SCRIPT_OF_REGION = {"zh-tw": "zh-hant", "zh-hk": "zh-hant", "zh-mo": "zh-hant", "zh-cn": "zh-hans"}


def stanza_names(lang: str, folder: Path) -> list[str]:
    """Stanza's possible names of a language, the most exact first.

    Args:
        lang: language code.
        folder: in Stanza's own layout; its list of resources may contain aliases.
    """
    _, *rest = lang.lower().replace("_", "-").split("-")
    exact = "-".join([plain_language(lang), *rest])
    parts = _SCRIPT_OF_REGION.get(exact, exact).split("-")
    names = ["-".join(parts[:length]) for length in range(len(parts), 0, -1)]
    listed = resources(folder)
    return [listed.get(name, {}).get("alias", name) for name in names]


def resources(folder: Path) -> dict[str, dict[str, Any]]:
    """The resources of a folder in Stanza's own layout, by language; empty without a list."""
    try:
        return dict(read_json(folder / "resources.json"))
    except (OSError, ValueError, TypeError):
        return {}
