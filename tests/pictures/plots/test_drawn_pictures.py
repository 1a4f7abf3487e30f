"""What is in a picture, read off the figure's artists."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch, Rectangle
from matplotlib.text import Text
from nonempty import some
from trees_of import tree_of

from syntax_nmt.data.chunks import Chunk
from syntax_nmt.data.constituents import parse_tree
from syntax_nmt.pictures.plots import (
    alignment_matrix,
    attention_panels,
    constituency_tree,
    dependency_arcs,
    distance_bars,
)
from syntax_nmt.pictures.plots.alignment_matrix import draw_alignment
from syntax_nmt.pictures.plots.attention_panels import Panel, draw_attention
from syntax_nmt.pictures.plots.chunk_strips import draw_chunks
from syntax_nmt.pictures.plots.constituency_tree import draw_constituents
from syntax_nmt.pictures.plots.dependency_arcs import draw_dependencies
from syntax_nmt.pictures.plots.distance_bars import TokenDistances, draw_distances
from syntax_nmt.pictures.plots.dot_rows import draw_dots
from syntax_nmt.pictures.plots.group_curves import Group, Point, draw_curves
from syntax_nmt.pictures.plots.style import AGREES, DIFFERS
from syntax_nmt.pictures.plots.translated_sentence import draw_translation
from syntax_nmt.scoring.alignments.alignment import GoldAlignment


def patches(axes, label, kind=Rectangle):
    return [patch for patch in axes.patches if patch.get_label() == label and type(patch) is kind]


def cells(axes, label):
    """The (column, row) of each marked cell."""
    return {
        tuple(round(value + 0.5 * size) for value, size in zip(patch.xy, (patch.get_width(),) * 2))
        for patch in patches(axes, label)
    }


def texts(figure):
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def dashed(artist):
    return artist.get_linestyle() not in ("-", "solid") and artist._dash_pattern[1] is not None


def tick_labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


class TestAlignment:
    GOLD = GoldAlignment(frozenset({(0, 1)}), frozenset({(0, 1), (2, 0), (9, 0)}))

    def test_links_are_filled_and_gold_links_framed(self):
        links = frozenset({(0, 1), (1, 1), (0, 7)})
        (axes,) = draw_alignment(["a", "b", "c"], ["x", "y"], links, self.GOLD).axes
        assert cells(axes, alignment_matrix.FOUND) == {(0, 1), (1, 1)}
        assert cells(axes, alignment_matrix.SURE) == {(0, 1)}
        assert cells(axes, alignment_matrix.POSSIBLE) == {(2, 0)}
        (sure,) = patches(axes, alignment_matrix.SURE)
        (possible,) = patches(axes, alignment_matrix.POSSIBLE)
        assert dashed(possible)
        assert not dashed(sure)

    def test_source_above_and_target_on_the_left_from_top_to_bottom(self):
        (axes,) = draw_alignment(["a", "b", "c"], ["x", "y"], None, self.GOLD).axes
        assert tick_labels(axes.xaxis) == ["a", "b", "c"]
        assert tick_labels(axes.yaxis) == ["x", "y"]
        assert axes.get_ylim() == (1.5, -0.5)
        assert axes.xaxis.get_ticks_position() == "top"


class TestDependencies:
    def test_one_arrow_a_word_from_its_head(self):
        figure = draw_dependencies(tree_of([1, 1, 3, 1]), title="title")
        arrows = patches(figure.axes[0], dependency_arcs.ARC, FancyArrowPatch)
        assert len(arrows) == 4
        places = {text.get_text(): text.get_position()[0] for text in figure.axes[0].texts}
        names = list(places)[:4]
        assert names == ["a", "b", "c", "d"]
        ends = [x for arrow in arrows for x in arrow._path_original.vertices[[0, -1], 0]]
        nearest = [min(names, key=lambda name, x=x: abs(places[name] - x)) for x in ends]
        assert "".join(nearest) == "ba" + "bb" + "dc" + "bd"
        assert {"root", "title"} <= set(texts(figure))

    def test_relations_are_written_if_wanted(self):
        tree = replace(tree_of([1, 1, 1]), relations=("nsubj", "root", "_"))
        assert "nsubj" in texts(draw_dependencies(tree))
        assert "_" not in texts(draw_dependencies(tree))
        assert "nsubj" not in texts(draw_dependencies(tree, relations=False))

    def test_what_differs_from_the_reference_is_dashed_and_below(self):
        figure = draw_dependencies(tree_of([1, 1, 1, 2]), tree_of([1, 1, 1, 1]))
        (axes,) = figure.axes
        counts = Counter(patch.get_label() for patch in axes.patches)
        assert counts == {
            AGREES: 3, DIFFERS: 1, dependency_arcs.MISSED: 1
        }  # fmt: skip
        (wrong,) = patches(axes, DIFFERS, FancyArrowPatch)
        (missed,) = patches(axes, dependency_arcs.MISSED, FancyArrowPatch)
        (right, *_) = patches(axes, AGREES, FancyArrowPatch)
        assert dashed(wrong)
        assert dashed(missed)
        assert not dashed(right)
        words = next(text.get_position()[1] for text in axes.texts if text.get_text() == "a")
        assert wrong._path_original.vertices[:, 1].min() > words
        assert missed._path_original.vertices[:, 1].max() < words

    def test_no_two_arcs_lie_on_each_other(self):
        heads = [1, 4, 1, 2, 4, 9, 5, 6, 5, 4, 4, 2]  # the last arc crosses others
        figure = draw_dependencies(tree_of(heads))
        tops = []
        for arrow in patches(figure.axes[0], dependency_arcs.ARC, FancyArrowPatch):
            vertices = arrow._path_original.vertices
            tops.append((round(vertices[:, 1].max(), 3), *sorted(vertices[[0, -1], 0])))
        for height, left, right in some(tops):
            others = [(a, b) for h, a, b in tops if h == height and (a, b) != (left, right)]
            assert all(b <= left or right <= a for a, b in others)

    def test_names_fit_on_their_arcs(self):
        relations = ("root", "compound:extremely:long", "x")
        figure = draw_dependencies(replace(tree_of([0, 0, 1]), relations=relations))
        name = next(t for t in figure.axes[0].texts if t.get_text().startswith("compound"))
        arrow = patches(figure.axes[0], dependency_arcs.ARC, FancyArrowPatch)[1]
        box = name.get_window_extent(figure._get_renderer())
        width = box.transformed(figure.axes[0].transData.inverted()).width
        assert width < np.ptp(arrow._path_original.vertices[[0, -1], 0])


class TestConstituents:
    TREE = "(S (NP (D the) (N dog)) (VP (V sees) (NP (D a) (N cat))))"

    def test_words_labels_and_branches(self):
        tree = parse_tree(self.TREE, "t", 1)
        (axes,) = draw_constituents(tree).axes
        labels = [text.get_text() for text in axes.texts if text.get_gid() == "node"]
        assert Counter(labels) == Counter(["S", "NP", "D", "N", "VP", "V", "NP", "D", "N"])
        assert {"the", "dog", "sees", "a", "cat"} <= set(texts(axes))
        branches = [x for x in axes.lines if x.get_label() == constituency_tree.BRANCH]
        assert len(branches) == len(tree.nodes) - 1

    def test_brackets_that_gold_lacks_are_hollow_and_dashed(self):
        tree = parse_tree("(X (X (X (W a) (W b)) (W c)) (W d))", "t", 1)
        gold = parse_tree("(S (NP (D a) (N b)) (VP (V c) (N d)))", "t", 1)
        (axes,) = draw_constituents(tree, gold).axes
        kinds = Counter(line.get_label() for line in axes.lines)
        assert kinds[AGREES] == 2  # the sentence, and (a b)
        assert kinds[DIFFERS] == 1
        wrong = next(x for x in axes.lines if x.get_label() == DIFFERS)
        assert wrong.get_markerfacecolor() == "white"
        branches = [x for x in axes.lines if x.get_label() == constituency_tree.BRANCH]
        assert sum(dashed(branch) for branch in branches) == 2
        assert "X" not in texts(axes.figure)

    def test_branches_of_a_deep_tree_never_meet_another_node(self):
        text = "(X " * 30 + "(W a) " + " ".join(f"(W w{i}))" for i in range(30))
        (axes,) = draw_constituents(parse_tree(text, "t", 1)).axes
        nodes = [x for x in axes.lines if x.get_label() == AGREES]
        assert len(nodes) == 30
        heights = sorted(float(node.get_ydata()[0]) for node in nodes)
        assert min(np.diff(heights)) > 8


class TestAttention:
    WEIGHTS = np.array([[0.1, 0.9], [0.4, 0.2]])

    def test_a_panel_a_head_with_one_scale(self):
        panels = [Panel(f"head {i}", self.WEIGHTS * (i + 1) / 2) for i in range(2)]
        figure = draw_attention(panels, ["x", "y"], ["a", "b"], "rows", "columns", "title")
        shaded = [axes for axes in figure.axes if axes.images]
        assert [axes.texts[0].get_text() for axes in shaded] == ["head 0", "head 1"]
        for axes, panel in zip(shaded, panels):
            np.testing.assert_array_equal(axes.images[0].get_array(), panel.weights)
            assert axes.images[0].get_clim() == (0, 0.9)
        assert {"rows", "columns", "title", "attention weight"} <= set(texts(figure))

    def test_marked_cells_are_framed(self):
        panels = [Panel("head", self.WEIGHTS, frozenset({(0, 1)})), Panel("other", self.WEIGHTS)]
        figure = draw_attention(panels, ["x", "y"], ["a", "b"])
        assert cells(figure.axes[0], attention_panels.GOLD) == {(1, 0)}
        assert not cells(figure.axes[1], attention_panels.GOLD)
        assert attention_panels.GOLD in texts(figure)
        unmarked = draw_attention(panels[1:], ["x", "y"], ["a", "b"])
        assert attention_panels.GOLD not in texts(unmarked)


class TestDistances:
    def test_bars_stand_over_gaps_and_tell_words_apart(self):
        values = np.array([9.0, 0.5, -0.5, 0.25])
        side = TokenDistances("source", ["▁a", "b", "▁c", "d"], [1, 0, 1, 0], {"mean": values})
        figure = draw_distances([side])
        (axes,) = figure.axes
        bars = {
            container.get_label(): {
                bar.get_x() + bar.get_width() / 2: bar.get_y() + bar.get_height()
                for bar in container
            }
            for container in axes.containers
        }
        assert bars[distance_bars.BETWEEN] == pytest.approx({1.5: -0.5})
        assert bars[distance_bars.WITHIN] == pytest.approx({0.5: 0.5, 2.5: 0.25})
        assert tick_labels(axes.xaxis) == ["▁a", "b", "▁c", "d"]
        hatches = {bar.get_hatch() for container in axes.containers for bar in container}
        assert len(hatches) == 2
        assert distance_bars.WITHIN in texts(figure)

    def test_rows_of_both_sides_share_a_scale(self):
        rows = {"head 0": np.array([0, 0.1]), "head 1": np.array([0, 0.9])}
        sides = [TokenDistances(name, ["a", "b"], [1, 1], rows) for name in ("source", "target")]
        figure = draw_distances(sides)
        assert len(figure.axes) == 4
        assert len({axes.get_ylim() for axes in figure.axes}) == 1
        assert distance_bars.WITHIN not in texts(figure)

    def test_one_token_has_no_gap(self):
        side = TokenDistances("source", ["a"], [True], {"mean": np.array([0.5])})
        assert not draw_distances([side]).axes[0].patches


class TestChunks:
    MODEL = (Chunk("NP", 0, 2), Chunk("VP", 2, 3), Chunk("O", 3, 4))
    GOLD = (Chunk("NP", 0, 1), Chunk("NP", 1, 2), Chunk("VP", 2, 3), Chunk("O", 3, 4))

    def test_a_box_a_chunk_with_its_type(self):
        figure = draw_chunks(["a", "b", "c", "."], {"model": self.MODEL})
        (axes,) = figure.axes
        assert [len(patches(axes, tag)) for tag in ("NP", "VP", "O")] == [1, 1, 0]
        assert texts(figure).count("NP") == 1
        assert "model" not in texts(figure)

    def test_chunks_that_gold_lacks_are_dashed(self):
        rows = {"model": self.MODEL, "gold": self.GOLD}
        figure = draw_chunks(["a", "b", "c", "."], rows, "gold")
        boxes = [patch for patch in figure.axes[0].patches if patch.get_label() in ("NP", "VP")]
        assert [dashed(box) for box in boxes] == [True, False, False, False, False]
        assert {"model", "gold", DIFFERS} <= set(texts(figure))

    @pytest.mark.parametrize("word", ["sea", "lovely", "wonderful", "extraordinary"])
    def test_long_sentences_take_lines_that_end_with_chunks_of_all_rows(self, word):
        twos = tuple(Chunk("NP", i, i + 2) for i in range(0, 80, 2))
        threes = (*(Chunk("VP", i, i + 3) for i in range(0, 78, 3)), Chunk("O", 78, 80))
        figure = draw_chunks([word] * 80, {"model": twos, "gold": threes})
        heights = [t.get_position()[1] for t in figure.axes[0].texts if t.get_text() == word]
        lines = list(Counter(heights).values())
        assert sum(lines) == 80
        assert len(lines) > 2
        assert all(count % 6 == 0 for count in lines[:-1])
        boxes = [p for p in figure.axes[0].patches if p.get_label() in ("NP", "VP")]
        assert len(boxes) == 40 + 26
        assert min(box.get_width() for box in boxes) > 10


class TestCurves:
    GROUPS = (Group("<15", 10), Group("≥15", 3))

    def test_lines_differ_without_colours_and_gaps_stay_open(self):
        systems = {f"s{i}": [Point(i), None if i == 1 else Point(2)] for i in range(8)}
        figure = draw_curves(self.GROUPS, systems, "length", "BLEU")
        (axes,) = figure.axes
        looks = {(x.get_marker(), x.get_markerfacecolor() == "white") for x in axes.lines[::2]}
        assert len(looks) == 8
        assert np.isnan(axes.lines[2].get_ydata()[1])
        assert tick_labels(axes.xaxis) == ["<15\nn = 10", "≥15\nn = 3"]
        assert set(systems) <= set(texts(figure))

    def test_no_line_goes_through_a_few_sentences(self):
        groups = [Group("<15", 10), Group("15–29", 9), Group("≥30", 40)]
        figure = draw_curves(groups, {"a": [Point(1), Point(2), Point(3)]}, "length", "BLEU")
        line, alone = figure.axes[0].lines
        assert line.get_ydata()[[0, 2]].tolist() == [1, 3]
        assert np.isnan(line.get_ydata()[1])
        assert (alone.get_linestyle(), list(alone.get_ydata())) == ("None", [2])

    def test_intervals_are_bars(self):
        """The second, of few sentences, lies above its score."""
        figure = draw_curves(self.GROUPS, {"a": [Point(5, 4, 7), Point(6, 7, 8)]}, "x", "y")
        segments = [x for bars in figure.axes[0].collections for x in bars.get_segments()]
        assert [segment[:, 1].tolist() for segment in segments] == [[4, 7], [7, 8]]

    @pytest.mark.parametrize("count", [2, 13, 28, 72])
    def test_many_systems_stay_with_their_group_and_differ(self, count):
        systems = {f"s{i}": [Point(i), Point(i)] for i in range(count)}
        lines = draw_curves([Group("a", 10), Group("b", 10)], systems, "x", "y").axes[0].lines
        places = [line.get_xdata() for line in lines]
        assert all(abs(x[group] - group) < 0.5 for x in places for group in (0, 1))
        assert len({x[0] for x in places}) == count
        looks = {(x.get_color(), x.get_marker(), x.get_markerfacecolor()) for x in lines}
        assert len(looks) == count

    def test_a_name_may_begin_with_an_underscore(self):
        points = [Point(1), Point(2)]
        axes = draw_curves(self.GROUPS, {"_a": points, "b": points}, "x", "y").axes[0]
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["_a", "b"]


class TestTranslation:
    TREE = tree_of((1, 2, 2), ["old", "trees", "grow"])
    WEIGHTS = np.array([[0.9, 0.05, 0.05], [0.0, 0.7, 0.3]])

    def test_arcs_stand_above_and_lines_lead_where_a_word_attends(self):
        (axes,) = draw_translation(self.TREE, ("Bäume", "wachsen"), self.WEIGHTS).axes
        assert len(patches(axes, dependency_arcs.ARC, FancyArrowPatch)) == 3
        places = {text.get_text(): text.get_position()[0] for text in axes.texts if text.get_text()}
        lines = {tuple(line.get_xdata()): line.get_alpha() for line in axes.lines}
        expected = {("old", "Bäume"): 0.9, ("trees", "wachsen"): 0.7, ("grow", "wachsen"): 0.3}
        assert lines == {(places[x], places[y]): alpha for (x, y), alpha in expected.items()}

    def test_a_longer_translation_has_room(self):
        target = tuple(f"a_longer_word_{number}" for number in range(9))
        (axes,) = draw_translation(self.TREE, target, np.full((9, 3), 0.3)).axes
        centres = [text.get_position()[0] for text in axes.texts if text.get_text() in target]
        assert min(np.diff(centres)) > 60


class TestDots:
    GROUPS = (Group("nsubj", 1200), Group("obj", 3))

    def test_systems_stand_below_each_other_with_their_intervals(self):
        systems = {"a": [Point(5, 4, 7), Point(6)], "b": [Point(5, 3, 6), None]}
        (axes,) = draw_dots(self.GROUPS, systems, "F1", title="words").axes
        assert tick_labels(axes.yaxis) == ["nsubj (1,200)", "obj (3)"]
        first, bar, second, other = axes.lines
        assert list(first.get_xdata()) == [5, 6]
        assert list(bar.get_xdata()) == [4, 7]
        assert list(second.get_xdata()) == [5]
        assert list(other.get_xdata()) == [3, 6]
        assert first.get_ydata()[0] < second.get_ydata()[0] < first.get_ydata()[1]
        assert first.get_marker() != second.get_marker()
        assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first row on top

    def test_differences_have_a_line_at_0(self):
        (axes,) = draw_dots(self.GROUPS, {"a": [Point(1), Point(2)]}, "Δ", zero=True).axes
        assert list(axes.lines[0].get_xdata()) == [0, 0]

    def test_room_makes_it_narrower(self):
        wide, narrow = (
            draw_dots(self.GROUPS, {"a": [Point(1), Point(2)]}, "F1", room=room)
            for room in (None, 200.0)
        )
        assert narrow.get_size_inches()[0] < wide.get_size_inches()[0] <= 5
