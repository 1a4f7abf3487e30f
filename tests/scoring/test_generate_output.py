"""fairseq's output put back in order, and what is said when it is damaged."""

import random

import pytest

from syntax_nmt.errors import UserError
from syntax_nmt.scoring.translations.output_formats import (
    is_generate_output,
    parse_factors,
    parse_generate_output,
)

SOURCES = ["one .", "two", "", "four four"]
TARGETS = ["eins .", "zwei", "drei", "vier\tvier"]
HYPOTHESES = ["ein s .", "zwei", "", "vier\tvier"]


def sentence(i, nbest=1, detokenised=True):
    lines = [f"S-{i}\t{SOURCES[i]}", f"T-{i}\t{TARGETS[i]}"]
    for n in range(nbest):
        text = HYPOTHESES[i] if n == 0 else f"worse {n}"
        lines.append(f"H-{i}\t-0.{n + 1}\t▁{text}")
        if detokenised:
            lines.append(f"D-{i}\t-0.{n + 1}\t{text}")
        lines.append(f"P-{i}\t-0.1 -0.2")
    return lines


def output(order=range(4), **options):
    body = [line for i in order for line in sentence(i, **options)]
    head = ["INFO:fairseq_cli.generate:{...}", "  warnings.warn('H-5')", ""]
    return [*head, *body, "Generate test with beam=5: BLEU4 = 32.26"]


def parsed(lines):
    assert is_generate_output(lines)
    return parse_generate_output(lines, "out.gen")


def refused(lines):
    with pytest.raises(UserError) as caught:
        parse_generate_output(lines, "out.gen")
    return str(caught.value)


@pytest.mark.parametrize("nbest", [1, 3])
def test_any_order_and_the_best_of_several(nbest):
    order = list(range(4))
    random.Random(3).shuffle(order)
    assert order != sorted(order)
    found = parsed(output(order, nbest=nbest))
    assert found.hypotheses == tuple(HYPOTHESES)
    assert found.references == tuple(TARGETS)
    assert found.sources == tuple(SOURCES)


def test_without_detokenised_lines():
    found = parsed(output(detokenised=False))
    assert found.hypotheses == tuple(f"▁{text}" for text in HYPOTHESES)


def test_interactive_output_has_no_references():
    """`--buffer-size`: W- lines with the time, log lines between the buffers."""
    lines = ["INFO:fairseq_cli.interactive:Sentence buffer size: 2"]
    for i in range(4):
        lines += [f"S-{i}\t{SOURCES[i]}", f"W-{i}\t0.011\tseconds"]
        lines += [f"H-{i}\t-0.5\t▁{HYPOTHESES[i]}", f"D-{i}\t-0.5\t{HYPOTHESES[i]}"]
    found = parsed(lines)
    assert found.hypotheses == tuple(HYPOTHESES)
    assert found.references is None
    assert found.sources == tuple(SOURCES)


def test_a_trailing_tab_that_an_editor_took_away():
    assert parsed(["H-0\t-0.5\ta", "H-1\t-1.5"]).hypotheses == ("a", "")


def test_plain_text_is_plain_text():
    assert not is_generate_output(["H-1 is a visa", "S-0\tx", "H-3\tno score", ""])


def test_a_missing_sentence_is_named():
    lines = [line for line in output() if not line.startswith(("H-2", "D-2"))]
    assert refused(lines).startswith("out.gen: D-2 is missing, 3 of 4 sentences")
    assert "H-0 is missing" in refused(output([1, 2], detokenised=False))


def test_a_hypothesis_missing_at_the_end_is_found_by_its_source():
    lines = output()
    cut = lines.index("T-3\tvier\tvier")
    assert "D-3 is missing, 3 of 4" in refused(lines[:cut])


def test_a_damaged_line_is_named():
    lines = output()
    place = next(i for i, line in enumerate(lines) if line.startswith("H-2"))
    lines[place] = "H-2\t▁drei"
    assert refused(lines).startswith(f"out.gen:{place + 1}: a score is expected after 'H-2")
    lines[place] = "H-2"
    assert refused(lines).startswith(f"out.gen:{place + 1}: a score")


def test_two_runs_in_one_file_are_refused():
    lines = output() + output()
    place = lines.index("S-0\tone .", 10) + 1
    assert refused(lines).startswith(f"out.gen:{place}: S-0 for the second time")


def test_two_shards_in_one_file_are_one_corpus():
    assert parsed(output([3, 1]) + output([0, 2])).hypotheses == tuple(HYPOTHESES)


def test_factors_of_words():
    """They stand among the other lines, in the order of batches."""
    lines = ["F-1\tform\tzwei", "F-1\tupos\tNUM", "F-0\tform\teins .", "F-0\tupos\tNUM PUNCT"]
    found = parse_factors([*lines, *output()], "x.gen", 2)
    assert found == [
        {"form": ["eins", "."], "upos": ["NUM", "PUNCT"]},
        {"form": ["zwei"], "upos": ["NUM"]},
    ]
    assert parse_generate_output([*lines, *output()], "x.gen").hypotheses == tuple(HYPOTHESES)
    with pytest.raises(
        UserError, match=r"x\.gen: no F- lines: .* and the file of its standard out"
    ):
        parse_factors(output(), "x.gen", 2)
    with pytest.raises(UserError, match=r"x\.gen:4: 1 values of upos for 2 words: the line is"):
        parse_factors([*lines[:3], "F-0\tupos\tNUM"], "x.gen", 2)
    with pytest.raises(UserError, match=r"x\.gen: F-0 is missing, in the output of 2 sentences: "):
        parse_factors(lines[:2], "x.gen", 2)
    with pytest.raises(UserError, match=r"x\.gen: F-1 is there, in the output of 1 sentences: "):
        parse_factors(lines, "x.gen", 1)
