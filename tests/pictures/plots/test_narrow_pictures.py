"""Trees that go down the page where there is no room for them."""

import re

import pytest
from matplotlib.text import Text
from trees_of import tree_of

from syntax_nmt.cli import main
from syntax_nmt.data.conllu import format_conllu
from syntax_nmt.data.constituents import parse_tree
from syntax_nmt.pictures.plots.constituency_tree import draw_constituents
from syntax_nmt.pictures.plots.dependency_arcs import ARC, draw_dependencies

CM = 72 / 2.54
LENGTH = 41


def width_of(path):
    """In points."""
    return float(re.search(r' width="([0-9.]+)pt"', path.read_text(encoding="utf-8"))[1])


def chain(words=LENGTH):
    names = [f"word{number}" for number in range(words)]
    return names, [max(0, number - 1) for number in range(words)]


def test_long_sentences_go_down_the_page(tmp_path, capsys):
    words, heads = chain()
    path = tmp_path / "trees.conllu"
    path.write_text(format_conllu(words, heads), encoding="utf-8")
    picture = tmp_path / "a.svg"
    for options, width in ((["--width", "7.7"], 7.7), ([], 16.0)):
        main(["plot", "dependencies", str(path), "--output", str(picture), *options])
        assert width_of(picture) <= width * CM + 1


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


@pytest.mark.parametrize("width", ["0", "x"])
def test_a_width_that_is_none(capsys, width):
    with pytest.raises(SystemExit):
        main(["plot", "dependencies", "x", "--output", "x.svg", "--width", width])
    assert "--width" in capsys.readouterr().err


def count(figure, label):
    return sum(patch.get_label() == label for patch in figure.axes[0].patches)
