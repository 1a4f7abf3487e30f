"""Pictures of one page."""

import re

from syntax_nmt.pictures.plots.training_curves import TrainingRun, draw_training
from syntax_nmt.pictures.report_page.picture import Pictures


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
