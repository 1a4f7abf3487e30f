"""Trees written in brackets, read again by our reader and by nltk."""

from itertools import islice

import nltk
import pytest

from syntax_nmt.data.constituents import format_tree, parse_tree, read_trees, unescape_word

TREES = [
    "(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (PRP it))) (. .))",
    "(X (W see))",
    "(DT the)",
    "(X (X (W a) (W b)) (X (W c) (W d)))",
    "(NP (NP (NN fish)))",
    "(S (W -LRB-) (X (W a-RRB-b) (W [)))",
]


@pytest.mark.parametrize("line", TREES)
def test_what_was_read_is_written(line):
    tree = parse_tree(line, "t", 1)
    assert format_tree(tree) == line
    leaves = nltk.Tree.fromstring(format_tree(tree)).leaves()
    assert tuple(map(unescape_word, leaves)) == tree.words


def test_no_tree():
    assert format_tree(None) == "()"
    assert parse_tree(format_tree(None), "t", 1) is None


def test_what_has_no_label_gets_one():
    assert format_tree(parse_tree("( (NP a b) (c d))", "t", 1)) == "(X (NP (W a) (W b)) (c d))"


def test_real_trees(shared):
    path = shared / "data/craft/craft_penn.mrg.gz"
    for tree in islice(read_trees(path), 0, 3000, 10):
        assert parse_tree(format_tree(tree), "t", tree.line) == tree
