"""Files of figures: their kinds, the same bytes every time, whole or not there."""

import xml.etree.ElementTree as ET

import matplotlib as mpl
import pytest

from syntax_nmt.errors import UserError
from syntax_nmt.pictures.plots.alignment_matrix import draw_alignment
from syntax_nmt.pictures.plots.figure_file import save_figure, svg_text, unshown
from syntax_nmt.pictures.plots.group_curves import Group, Point, draw_curves
from syntax_nmt.scoring.alignments.alignment import GoldAlignment

SIGNATURES = {"svg": b"<?xml", "png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-"}


def alignment(word="house"):
    gold = GoldAlignment(frozenset({(0, 0)}), frozenset({(0, 0), (1, 0)}))
    return draw_alignment([word, "$x$"], ["Haus"], frozenset({(0, 0)}), gold)


def curves():
    return draw_curves([Group("1", 10), Group("2", 10)], {"a": [Point(1), Point(2)]}, "x", "y")


@pytest.mark.parametrize("form", SIGNATURES)
def test_each_format_begins_as_it_should_and_repeats(tmp_path, form):
    first, second = tmp_path / f"a.{form}", tmp_path / f"b.{form.upper()}"
    save_figure(alignment(), first)
    save_figure(alignment(), second)
    assert first.read_bytes().startswith(SIGNATURES[form])
    assert first.read_bytes() == second.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [first.name, second.name]


def test_a_picture_of_its_own_is_dark_on_dark_pages(tmp_path):
    """One in a page is as the page says."""
    save_figure(alignment(), tmp_path / "a.svg")
    rule = "@media (prefers-color-scheme: dark) { svg:root {"
    style = ET.parse(tmp_path / "a.svg").find(".//{http://www.w3.org/2000/svg}style")
    assert rule in style.text
    assert rule not in svg_text(alignment())


@pytest.mark.parametrize("name", ["picture.jpg", "picture", "picture.svg.gz"])
def test_other_formats_are_refused(tmp_path, name):
    with pytest.raises(UserError, match=r"\.svg, \.png or \.pdf") as refused:
        save_figure(alignment(), tmp_path / name)
    assert "\n" not in str(refused.value)


def test_what_was_there_stays_when_writing_fails(tmp_path, monkeypatch):
    path = tmp_path / "picture.svg"
    path.write_text("old")
    figure = alignment()

    def fails(*args, **kwargs):
        raise UserError("full")

    monkeypatch.setattr(figure, "savefig", fails)
    with pytest.raises(UserError, match="full"):
        save_figure(figure, path)
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_svg_text_is_one_element_whose_ids_are_its_own():
    texts = [svg_text(figure) for figure in (alignment(), curves())]
    ids = []
    for text in texts:
        root = ET.fromstring(text)
        assert root.tag.endswith("}svg")
        own = [element.get("id") for element in root.iter() if element.get("id")]
        assert len(own) == len(set(own))
        for element in root.iter():
            for value in element.attrib.values():
                if value.startswith(("#", "url(#")):
                    assert value.strip("url()#") in own
        ids.append(set(own))
        assert ids[-1]
    assert not ids[0] & ids[1]
    assert svg_text(alignment()) == texts[0]


@pytest.mark.parametrize("word", ['id="main"', 'href="#x"', "url(#a)", "'DejaVu Sans'"])
def test_words_that_look_like_svg_stay_words(word):
    root = ET.fromstring(svg_text(alignment(word)))
    assert word in [text.text for text in root.iter() if text.tag.endswith("}text")]


def test_characters_that_xml_does_not_have_are_replaced(tmp_path):
    word = "a\x01\x1f\x9b\r\u202e\u2066\ufffe\uffffb"
    save_figure(alignment(word), tmp_path / "picture.svg")
    for text in (svg_text(alignment(word)), (tmp_path / "picture.svg").read_text("utf-8")):
        assert f"a{chr(0xFFFD) * 8}b" in "".join(ET.fromstring(text).itertext())


def test_svg_has_text_and_a_title(tmp_path):
    text = svg_text(alignment())
    assert "<title>word alignment</title>" in text
    assert all(f">{word}</text>" in text for word in ("house", "$x$", "Haus"))
    assert "'DejaVu Sans', Verdana, sans-serif" in text
    assert "date" not in text


def test_settings_outside_do_not_change_pictures_nor_pictures_them():
    expected = svg_text(alignment())
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "none", "axes.facecolor": "red"}):
        before = dict(mpl.rcParams)
        assert svg_text(alignment()) == expected
        assert dict(mpl.rcParams) == before


def test_letters_without_a_font_are_named(tmp_path):
    assert unshown(alignment("größe Дом")) == ""
    rare = "\U0001fffe"  # no character, so no font has it
    assert unshown(alignment(f"a{rare}b")) == rare
    save_figure(alignment(rare), tmp_path / "boxes.svg")  # and a box stands there
