"""The picture of a loss in the course of trainings, and its place on a page."""

import re

from syntax_nmt.pictures.plots.training_curves import (
    TRAINING,
    VALIDATION,
    TrainingRun,
    draw_training,
)
from syntax_nmt.pictures.report_page.picture import Pictures

FALLING = [(float(i), 1 / i) for i in range(1, 40)]
FEW = [(20.0, 0.5), (40.0, 0.25)]


def lines(figure, label):
    return [line for line in figure.axes[0].get_lines() if line.get_label() == label]


def legend(figure):
    found = figure.axes[0].get_legend()
    return None if found is None else [text.get_text() for text in found.get_texts()]


def test_values_and_names():
    runs = {"base": [TrainingRun(FALLING, FEW)], "ours": [TrainingRun([], FEW)] * 2}
    figure = draw_training(runs, "loss")
    assert [line.get_xydata().tolist() for line in lines(figure, VALIDATION)] == [
        [list(point) for point in FEW]
    ] * 3
    (training,) = lines(figure, TRAINING)
    assert training.get_xydata().tolist() == [list(point) for point in FALLING]
    assert legend(figure) == ["base", "ours", VALIDATION, TRAINING]
    assert figure.axes[0].get_ylabel() == "loss"


def test_a_quantity_of_some_systems_only():
    runs = {"base": [TrainingRun([], [])], "ours": [TrainingRun([], FEW)]}
    figure = draw_training(runs, "UAS")
    assert legend(figure) == ["ours"]
    alone = lines(draw_training({"ours": runs["ours"]}, "UAS"), VALIDATION)[0]
    assert lines(figure, VALIDATION)[0].get_marker() != alone.get_marker()  # as in other pictures


def test_systems_differ_without_colour_and_runs_of_one_do_not():
    figure = draw_training({str(i): [TrainingRun([], FEW)] * 2 for i in range(8)}, "loss")
    looks = [
        (line.get_marker(), line.get_linestyle(), line.get_markerfacecolor())
        for line in lines(figure, VALIDATION)
    ]
    assert looks[::2] == looks[1::2]
    assert len(set(looks)) == 8


def test_training_is_thin_beside_validation_and_takes_its_look_where_alone():
    both = draw_training({"ours": [TrainingRun(FALLING, FEW)]}, "loss")
    alone = draw_training({"ours": [TrainingRun(FALLING, [])]}, "loss")
    assert lines(both, TRAINING)[0].get_marker() == "None"
    assert lines(both, TRAINING)[0].get_linewidth() < lines(both, VALIDATION)[0].get_linewidth()
    assert lines(alone, TRAINING)[0].get_marker() == lines(both, VALIDATION)[0].get_marker()
    assert legend(both) == [VALIDATION, TRAINING]
    assert legend(alone) is None


def test_the_same_figure_twice_has_other_ids():
    pictures = Pictures()
    runs = {"ours": [TrainingRun([], [(1.0, 2.0), (2.0, 1.0)])]}
    one, two = (pictures.add(draw_training(runs, "loss"), "caption", 'a "b" <c>') for _ in "12")
    ids = [set(re.findall(r'\bid="([^"]+)"', str(picture.svg))) for picture in (one, two)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for picture, known in zip((one, two), ids):
        used = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', str(picture.svg))
        assert {first or second for first, second in used} <= known
    assert 'aria-label="a &quot;b&quot; &lt;c&gt;"' in one.svg
    assert "<metadata" not in one.svg
