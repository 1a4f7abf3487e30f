"""What Stanza calls a language that others call `en_US` or `cmn`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from syntax_nmt.data.text import base_language

# Stanza's names have two letters where ISO 639-1 has; corpora go by the three of 639-2 and 639-3.
_THREE_LETTERS = (
    "ara-ar ben-bn bul-bg cat-ca ces-cs cze-cs chi-zh cmn-zh zho-zh dan-da deu-de ger-de dut-nl "
    "nld-nl ell-el gre-el eng-en est-et eus-eu baq-eu fas-fa per-fa pes-fa fin-fi fra-fr fre-fr "
    "gle-ga glg-gl heb-he hin-hi hrv-hr hun-hu hye-hy arm-hy ice-is isl-is ind-id ita-it jpn-ja "
    "kaz-kk khm-km kor-ko lat-la lav-lv lvs-lv lit-lt mar-mr mya-my bur-my nno-nn nob-nb pol-pl "
    "por-pt ron-ro rum-ro rus-ru slk-sk slo-sk slv-sl spa-es srp-sr swe-sv tam-ta tel-te tha-th "
    "tur-tr ukr-uk urd-ur vie-vi"
)
_TWO_LETTERS = dict(pair.split("-") for pair in _THREE_LETTERS.split())
# Those of Chinese go by script, not region.
_SCRIPT_OF_REGION = {"zh-tw": "zh-hant", "zh-hk": "zh-hant", "zh-mo": "zh-hant", "zh-cn": "zh-hans"}


def plain_language(lang: str) -> str:
    """The language in two letters where it has them, without script and region.

    Models and text are of one language where this is the same: `en` of `en_US`, `eng` and `EN`.

    Args:
        lang: language code.
    """
    base = base_language(lang)
    return _TWO_LETTERS.get(base, base)


def stanza_names(lang: str, folder: Path) -> list[str]:
    """What Stanza may call a language, the most exact name first.

    Args:
        lang: language code.
        folder: in Stanza's own layout; what its list of resources calls by another name is.
    """
    _, *rest = lang.lower().replace("_", "-").split("-")
    exact = "-".join([plain_language(lang), *rest])
    parts = _SCRIPT_OF_REGION.get(exact, exact).split("-")
    names = ["-".join(parts[:length]) for length in range(len(parts), 0, -1)]
    listed = resources(folder)
    return [listed.get(name, {}).get("alias", name) for name in names]


def resources(folder: Path) -> dict[str, dict[str, Any]]:
    """What a folder in Stanza's own layout lists, by language; nothing if it has no such list."""
    try:
        listed = json.loads((folder / "resources.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(listed, dict):
        return {}
    return {name: entry for name, entry in listed.items() if isinstance(entry, dict)}
