"""Fonts that have the letters of a text: matplotlib's own, then installed fonts."""

import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache

from matplotlib import font_manager

BASE_FAMILY = "DejaVu Sans"  # comes with matplotlib: Latin, Greek, Cyrillic, Arabic and more

# One Chinese character has several forms; text with kana is Japanese, with hangul Korean.
_KANA, _HANGUL = ("HIRAGANA", "KATAKANA"), ("HANGUL",)
_CJK = ("CJK", "IDEOGRAPHIC", "FULLWIDTH", "HALFWIDTH", "BOPOMOFO", *_KANA, *_HANGUL)
_FAMILIES = ("Noto Sans CJK {}", "Source Han Sans {}", "Noto Sans {}")
_OTHER_CJK = ("WenQuanYi Zen Hei", "Droid Sans Fallback", "Hiragino Sans", "PingFang SC")
_INVISIBLE = ("Cc", "Cf", "Zs", "Zl", "Zp")
_LAST_RESORT = "Last Resort"  # has every character, as a box


def families_for(texts: Iterable[str]) -> list[str]:
    """Font families that together have the letters of texts, the first choice first.

    Args:
        texts: what is to be written. Letters that no installed font has stay without one.
    """
    return list(_families(frozenset("".join(texts))))


def unshown_characters(texts: Iterable[str]) -> str:
    """The letters of texts that no installed font has, each once, in order.

    Args:
        texts: what is to be written.
    """
    letters = frozenset("".join(texts))
    return "".join(sorted(_without(letters, _families(letters))))


def advice(letters: str) -> str:
    """What to install so that letters show.

    Args:
        letters: of :func:`unshown_characters`; one or more.
    """
    shown = ", ".join(f"{letter} (U+{ord(letter):04X})" for letter in letters[:3])
    more = f" and {len(letters) - 3} more" if len(letters) > 3 else ""
    package = "Noto fonts (package fonts-noto-core of Debian and Ubuntu)"
    if any(_is(letter, _CJK) for letter in letters):
        package = "Noto Sans CJK (package fonts-noto-cjk of Debian and Ubuntu)"
    return f"no installed font has {shown}{more}: boxes stand there; install {package}"


@lru_cache(maxsize=64)
def _families(letters: frozenset[str]) -> tuple[str, ...]:
    chosen = [BASE_FAMILY]
    missing = _without(letters, chosen)
    if not missing:
        return tuple(chosen)
    _add_new_fonts()
    for family in _candidates(letters):
        if not missing:
            break
        found = missing & _letters_of(family)
        if found:
            chosen.append(family)
            missing -= found
    return tuple(chosen)


def _without(letters: Iterable[str], families: Iterable[str]) -> set[str]:
    """The visible ones of some letters that no family has."""
    visible = {letter for letter in letters if unicodedata.category(letter) not in _INVISIBLE}
    return visible.difference(*(_letters_of(family) for family in families))


def _candidates(letters: frozenset[str]) -> Iterator[str]:
    """Families in the order in which they are tried."""
    regions = ["SC", "JP", "KR", "TC", "HK"]
    if any(_is(letter, _KANA) for letter in letters):
        regions = ["JP", "SC", "KR"]
    elif any(_is(letter, _HANGUL) for letter in letters):
        regions = ["KR", "JP", "SC"]
    installed = sorted({entry.name for entry in font_manager.fontManager.ttflist})
    preferred = [name.format(region) for region in regions for name in _FAMILIES]
    names = [*preferred, *_OTHER_CJK]
    sans = [name for name in installed if "Sans" in name and "Mono" not in name]
    usable = [name for name in installed if not name.startswith(_LAST_RESORT)]
    tried = dict.fromkeys([*(name for name in names if name in installed), *sans, *usable])
    yield from tried


@lru_cache(maxsize=256)
def _letters_of(family: str) -> frozenset[str]:
    """The characters that a family's regular face has."""
    try:
        path = font_manager.findfont(
            font_manager.FontProperties(family=[family]), fallback_to_default=False
        )
        return frozenset(map(chr, font_manager.get_font(path).get_charmap()))
    except (OSError, RuntimeError, ValueError):  # removed since it was listed, or damaged
        return frozenset()


def _add_new_fonts() -> None:
    """matplotlib caches its list of fonts in a file, without fonts installed since."""
    known = {str(entry.fname) for entry in font_manager.fontManager.ttflist}
    for path in font_manager.findSystemFonts():
        if path not in known:
            with suppress(
                OSError, RuntimeError, ValueError, KeyError
            ):  # not readable, not scalable
                font_manager.fontManager.addfont(path)


def _is(letter: str, kinds: tuple[str, ...]) -> bool:
    return unicodedata.name(letter, "").startswith(kinds)
