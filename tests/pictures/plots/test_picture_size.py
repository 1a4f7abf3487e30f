"""How large pictures are: width, letters, dots; trees that go down the page where they must."""

from __future__ import annotations

import re
import struct

import pytest
from matplotlib.text import Text
from test_figure_file import alignment
from trees_of import tree_of

from syntax_nmt.cli import main
from syntax_nmt.data.conllu import format_conllu
from syntax_nmt.data.constituents import parse_tree
from syntax_nmt.pictures.plots.constituency_tree import draw_constituents
from syntax_nmt.pictures.plots.dependency_arcs import ARC, draw_dependencies
from syntax_nmt.pictures.plots.figure_file import save_figure
from syntax_nmt.pictures.plots.picture_format import PictureSize

CM = 72 / 2.54
LENGTH = 41


def sides(path):
    """Width and height of a picture, in points, or in dots of a PNG."""
    content = path.read_bytes()
    if path.suffix == ".png":
        return struct.unpack(">II", content[16:24])
    if path.suffix == ".pdf":
        return tuple(map(float, re.findall(rb"/MediaBox \[ ([^]]*)\]", content)[-1].split()[2:]))
    return tuple(
        float(re.search(rf' {side}="([0-9.]+)pt"', content.decode())[1])
        for side in ("width", "height")
    )


def chain(words=LENGTH):
    names = [f"word{number}" for number in range(words)]
    return names, [max(0, number - 1) for number in range(words)]


@pytest.mark.parametrize("form", ["svg", "pdf", "png"])
def test_letters_and_the_whole_grow_together(tmp_path, form):
    paths = [tmp_path / f"{number}.{form}" for number in range(3)]
    letters = [
        save_figure(alignment(), path, size)
        for path, size in zip(paths, (None, PictureSize(font_size=18), PictureSize(width=6)))
    ]
    first, double, narrow = map(sides, paths)
    assert double == pytest.approx([2 * side for side in first], rel=0.03)
    dots = 150 / 72 if form == "png" else 1
    assert narrow[0] == pytest.approx(6 * CM * dots, rel=0.06)
    assert narrow[0] / narrow[1] == pytest.approx(first[0] / first[1], rel=0.05)
    assert letters[:2] == [9, 18]
    assert letters[2] == pytest.approx(9 * narrow[0] / first[0], rel=0.05)


def test_dots_per_inch(tmp_path):
    for dpi in (100, 300):
        save_figure(alignment(), tmp_path / f"{dpi}.png", PictureSize(dpi=dpi))
    ratio = sides(tmp_path / "300.png")[0] / sides(tmp_path / "100.png")[0]
    assert ratio == pytest.approx(3, rel=0.02)


def test_a_scaled_pdf_keeps_its_page(tmp_path):
    path = tmp_path / "a.pdf"
    save_figure(alignment(), path, PictureSize(font_size=4.5))
    content = path.read_bytes()
    start = int(re.findall(rb"startxref\n(\d+)", content)[-1])
    assert content[start:].startswith(b"xref\n")
    for number, offset in re.findall(rb"(\d+) 1\n(\d{10}) 00000 n", content[start:]):
        assert content[int(offset) :].startswith(b"%s 0 obj" % number)
    assert b"0.500000 0 0 0.500000 0 0 cm" in content
    page = re.findall(rb"/Contents \[ (\d+) 0 R (\d+) 0 R \]", content)[-1]
    assert all(b"\n%s 0 obj\n" % number in content for number in page)


def test_long_sentences_go_down_the_page(tmp_path, capsys):
    words, heads = chain()
    path = tmp_path / "trees.conllu"
    path.write_text(format_conllu(words, heads), encoding="utf-8")
    for width in (7.7, 16.0):
        main(
            [
                "plot",
                "dependencies",
                str(path),
                "--output",
                str(tmp_path / "a.svg"),
                "--width",
                str(width),
            ]
        )
        assert sides(tmp_path / "a.svg")[0] <= width * CM + 1
        assert capsys.readouterr().err == ""  # letters are as large as ever
    main(["plot", "dependencies", str(path), "--output", str(tmp_path / "a.svg")])
    assert sides(tmp_path / "a.svg")[0] < 16 * CM


def test_every_word_arc_and_relation_is_drawn_down_the_page():
    words, heads = chain(5)
    tree = tree_of(heads, words)
    across, down = draw_dependencies(tree), draw_dependencies(tree, room=10)
    assert [count(figure, ARC) for figure in (across, down)] == [5, 5]
    for figure in (across, down):
        assert set(words) <= {text.get_text() for text in figure.findobj(Text)}
    places = {text.get_text(): text.get_position() for text in down.axes[0].texts}
    assert len({places[word][0] for word in words}) == 1
    rows = [places[word][1] for word in words]
    assert rows == sorted(rows, reverse=True)


def test_constituents_go_down_the_page():
    tree = parse_tree("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))", "f", 1)
    across, down = draw_constituents(tree), draw_constituents(tree, room=10)
    texts = [sorted(text.get_text() for text in figure.axes[0].texts) for figure in (across, down)]
    assert texts[0] == texts[1]
    places = {text.get_text(): text.get_position() for text in down.axes[0].texts}
    assert places["S"][0] < places["NP"][0] < places["DT"][0] < places["the"][0]
    assert places["the"][1] > places["dog"][1] > places["barks"][1]


def test_sizes_that_are_none(capsys):
    for option in ("--width", "--font-size", "--dpi"):
        with pytest.raises(SystemExit):
            main(["plot", "dependencies", "x", "--output", "x.svg", option, "0"])
        assert option in capsys.readouterr().err


def count(figure, label):
    return sum(patch.get_label() == label for patch in figure.axes[0].patches)
