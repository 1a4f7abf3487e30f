"""Which fonts are taken for which letters."""

import pytest
from matplotlib import font_manager
from translations import write

from syntax_nmt.cli import main
from syntax_nmt.pictures.plots import fonts

HAS_CJK = any("CJK" in entry.name for entry in font_manager.fontManager.ttflist)


@pytest.fixture
def nothing_installed(monkeypatch):
    """A machine with matplotlib's own fonts alone."""
    fonts._families.cache_clear()
    own = [entry for entry in font_manager.fontManager.ttflist if "mpl-data" in str(entry.fname)]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", own)
    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    yield
    fonts._families.cache_clear()


def test_european_letters_need_nothing_installed(nothing_installed):
    assert fonts.families_for(["größe naïve Дом λόγος ▁piece \u200b"]) == [fonts.BASE_FAMILY]
    assert fonts.unshown_characters(["größe \u200d\t"]) == ""


def test_without_a_font_the_advice_names_the_letter_and_the_package(nothing_installed):
    assert fonts.unshown_characters(["猫", "a犬猫"]) == "犬猫"
    advice = fonts.advice("犬猫")
    assert "犬 (U+72AC), 猫 (U+732B)" in advice
    assert "fonts-noto-cjk" in advice
    assert "fonts-noto-cjk" in fonts.advice("あ")
    assert "fonts-noto-core" in fonts.advice("\u0928")
    assert fonts.advice("abcde").count("U+") == 3
    assert "and 2 more" in fonts.advice("abcde")
    assert "\n" not in advice


def test_letters_without_a_font_bring_a_warning(nothing_installed, tmp_path, capsys, recwarn):
    trees = write(tmp_path / "trees", ["(X (W 猫) (W が))"])
    main(["plot", "constituents", str(trees), "--output", str(tmp_path / "trees.svg")])
    (warning,) = capsys.readouterr().err.splitlines()
    assert warning.startswith("warning: no installed font has が (U+304C), 猫 (U+732B)")
    assert "fonts-noto-cjk" in warning
    assert not [each for each in recwarn if "Glyph" in str(each.message)]


@pytest.mark.skipif(not HAS_CJK, reason="no CJK font is installed")
def test_the_language_chooses_the_form_of_chinese_characters():
    chosen = {text: fonts.families_for([text])[1] for text in ("骨 直", "骨 の 直", "骨 의 直")}
    assert all("CJK" in name for name in chosen.values())
    regions = [name.split()[-1] for name in chosen.values()]
    assert regions == ["SC", "JP", "KR"]
    assert fonts.unshown_characters(["骨の의"]) == ""


def test_a_font_that_was_installed_since_the_list_was_made_is_found(monkeypatch, tmp_path):
    dejavu = font_manager.findfont("DejaVu Sans")
    asked = []
    monkeypatch.setattr(font_manager.fontManager, "addfont", asked.append)
    damaged = tmp_path / "damaged.ttf"
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [str(dejavu), str(damaged)])
    fonts._families.cache_clear()
    fonts.families_for(["\U0001fffe"])
    assert asked == [str(damaged)]
    monkeypatch.undo()
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [str(damaged)])
    fonts._families.cache_clear()
    damaged.write_bytes(b"no font")
    assert fonts.families_for(["\U0001fffe"]) == [fonts.BASE_FAMILY]
