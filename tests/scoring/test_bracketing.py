"""Unlabelled bracket F1 by hand and against figures of evalb itself; baselines by length alone;
trees as indented brackets."""

import math
from itertools import islice

import pytest

from syntax_nmt.data.constituents import parse_tree, read_trees
from syntax_nmt.scoring.constituents.bracketing import (
    BASELINES,
    COLLINS_LABELS,
    BracketCounts,
    BracketScore,
    balanced,
    brackets_of,
    comparable,
    deleted_words,
    left_branching,
    right_branching,
)
from syntax_nmt.scoring.constituents.draw_brackets import draw_brackets

# The example of evalb's README.
MONDAY = (
    "(TOP (S (INTJ (RB No)) (, ,) (NP (PRP it)) (VP (VBD was) (RB n't) (NP (NNP Black) "
    "(NNP Monday))) (. .)))"
)


def spans(line, labels=frozenset()):
    tree = parse_tree(line, "t", 1)
    return comparable(brackets_of(tree, labels), len(tree), deleted_words(tree, labels))


def test_words_and_unary_chains():
    assert spans(MONDAY) == {(0, 8), (3, 7), (5, 7)}
    assert spans("(X (W see))") == set()
    assert spans("(S (VP (NP (NN a) (NN b))))") == {(0, 2)}


def test_what_collins_prm_deletes():
    assert spans(MONDAY, COLLINS_LABELS) == {(0, 6), (2, 6), (4, 6)}
    # ? ! $ and the tags of brackets stay, and so does punctuation that is tagged as a word.
    kept = "(S (NP (-LRB- -LRB-) (NN .) (-RRB- -RRB-)) (NP ($ $) (CD 3)) (? ?))"
    assert spans(kept, COLLINS_LABELS) == spans(kept) == {(0, 6), (0, 3), (3, 5)}
    gone = "(S (`` ``) (S (A a) (: --) (B b)) (NP (C c) (, ,)) ('' '') (. !))"
    assert spans(gone, COLLINS_LABELS) == {(0, 3), (0, 2)}


def test_top_goes_even_where_it_is_no_copy():
    line = "(TOP (NP (A a) (B b)) (VP (C c) (D d)))"
    assert spans(line) == {(0, 4), (0, 2), (2, 4)}
    assert spans(line, COLLINS_LABELS) == {(0, 2), (2, 4)}


def test_nothing_left():
    assert spans("(NP (, ,) (. .))", COLLINS_LABELS) == set()


def test_figures_counted_by_hand():
    score = BracketScore()
    # ((a b) (c d)) against (a (b (c d))): whole and (2, 4) agree.
    score.add({(0, 4), (0, 2), (2, 4)}, {(0, 4), (1, 4), (2, 4)}, 4)
    # (a b c), flat, against ((a b) c).
    score.add({(0, 3)}, {(0, 3), (0, 2)}, 3)
    # Two words, and one word.
    score.add({(0, 2)}, {(0, 2)}, 2)
    score.add(set(), set(), 1)
    whole = score.with_whole
    assert (whole.correct, whole.predicted, whole.gold, whole.averaged) == (4, 5, 6, 3)
    assert whole.precision == pytest.approx(80)
    assert whole.recall == pytest.approx(100 * 4 / 6)
    assert whole.f1 == pytest.approx(100 * 8 / 11)
    assert whole.sentence_f1 == pytest.approx(100 * (4 / 6 + 2 / 3 + 1) / 3)
    inner = score.without_whole
    assert (inner.correct, inner.predicted, inner.gold, inner.averaged) == (1, 2, 3, 2)
    assert inner.f1 == pytest.approx(100 * 2 / 5)
    assert inner.sentence_f1 == pytest.approx(100 * (2 / 4 + 0) / 2)


def test_shares_of_nothing():
    counts = BracketCounts()
    assert all(map(math.isnan, (counts.precision, counts.recall, counts.f1, counts.sentence_f1)))
    counts.add(set(), {(0, 2)})
    assert math.isnan(counts.precision)
    assert (counts.recall, counts.f1, counts.sentence_f1) == (0, 0, 0)


# Matched, gold and all brackets that evalb (2013-10-22) itself counted, with `LABELED 0`, in the
# first 300 trees of CRAFT without what COLLINS.prm deletes, unary chains and brackets of one word.
EVALB = {
    "right-branching": (1572, 4353, 5935),
    "left-branching": (572, 4353, 5935),
    "balanced": (1118, 4353, 5935),
}


@pytest.mark.parametrize("name", EVALB)
def test_figures_of_evalb(shared, name):
    trees = islice(read_trees(shared / "data/craft/craft_penn.mrg.gz"), 300)
    counts = BracketCounts()
    for tree in trees:
        deleted = deleted_words(tree, COLLINS_LABELS)
        gold = comparable(brackets_of(tree, COLLINS_LABELS), len(tree), deleted)
        counts.add(BASELINES[name](len(tree) - len(deleted)), gold)
    assert (counts.correct, counts.gold, counts.predicted) == EVALB[name]


def test_by_hand():
    assert right_branching(4) == {(0, 4), (1, 4), (2, 4)}
    assert left_branching(4) == {(0, 4), (0, 3), (0, 2)}
    assert balanced(4) == {(0, 4), (0, 2), (2, 4)}
    assert balanced(3) == {(0, 3), (1, 3)}
    assert balanced(5) == {(0, 5), (0, 2), (2, 5), (3, 5)}
    assert balanced(7) == {(0, 7), (0, 3), (1, 3), (3, 7), (3, 5), (5, 7)}


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("words", [0, 1, 2, 3, 5, 8, 31, 1000])
def test_binary_trees(name, words):
    """As many brackets as a binary tree has, and no two of them cross."""
    spans = BASELINES[name](words)
    assert len(spans) == max(words - 1, 0)
    assert words < 2 or (0, words) in spans
    if words < 100:
        assert not any(a < c < b < d for a, b in spans for c, d in spans)


def drawn(line, **options):
    return draw_brackets(parse_tree(line, "t", 1), **options).splitlines()


def test_drawn_by_hand():
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
