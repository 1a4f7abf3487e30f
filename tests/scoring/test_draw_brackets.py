"""Constituency trees as indented brackets."""

from syntax_nmt.data.constituents import parse_tree
from syntax_nmt.scoring.constituents.draw_brackets import draw_brackets


def drawn(line, **options):
    return draw_brackets(parse_tree(line, "t", 1), **options).splitlines()


def test_by_hand():
    line = "(X (X (W the) (W old)) (X (W house) (X (X (W sees) (W us)) (W .))))"
    assert drawn(line) == [
        "  (",
        "    (the old)",
        "    (",
        "      house",
        "      (",
        "        (sees us)",
        "        .)))",
    ]


def test_marks_stand_before_their_brackets():
    line = "(X (X (W a) (W b)) (X (W c) (W d)))"
    lines = drawn(line, wrong=lambda node: (node.start, node.end) in {(0, 1), (2, 4)})
    assert lines == ["  (", "    (a b)", "✗   (c d))"]
    assert drawn(line, wrong=lambda node: True, colour=True)[1] == "\033[31m✗   (a b)\033[0m"


def test_labels():
    line = "(S (NP (NP (NN fish))) (VP (VBP swim)) (. .))"
    assert drawn(line) == ["  (S", "    (NP", "      (NP fish))", "    (VP swim)", "    .)"]


def test_one_word():
    assert drawn("(X (W see))") == ["  (see)"]
    assert drawn("(DT the)") == ["  the"]


def test_labels_do_not_disturb_a_terminal():
    assert drawn("(\x1b[2J (\u202eB a) (C b\x9b))") == ["  (\ufffd[2J a b\ufffd)"]
