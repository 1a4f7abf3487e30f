"""Dependency trees as brackets: crossing arcs by hand, and brackets that are no tree."""

from random import Random

import numpy as np
import pytest

from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.figures.word_trees import WordTrees
from syntax_nmt.data.linearised import FULL, Form, linearised, read_linearised
from syntax_nmt.data.relation_brackets import dependencies_of_brackets, projective_heads


def projective(heads):
    trees = WordTrees(np.array(heads), np.array([len(heads)]))
    return bool(trees.projective(trees.depths()[0])[0])


def test_a_word_whose_arc_crosses_moves_up():
    """A hearing is scheduled on the issue: `issue` depends on `hearing`."""
    words = ("A", "hearing", "is", "scheduled", "on", "the", "issue")
    relations = ("det", "nsubj", "aux", "root", "case", "det", "nmod")
    tree = DependencyTree(words, (1, 3, 3, 3, 6, 6, 1), relations, ("_",) * 7)
    text = linearised(tree, Form(labels=FULL))
    assert text == (
        "(root (nsubj (det A ) hearing ) (aux is ) scheduled "
        "(nmod@-5 (case on ) (det the ) issue ) )"
    )
    assert linearised(tree, Form()) == text.replace("@-5", "")


def test_heads_move_only_where_arcs_cross():
    random, moved = Random(2), 0
    for _ in range(300):
        order = random.sample(range(8), 8)
        heads = list(range(8))
        for place in range(1, 8):
            heads[order[place]] = random.choice(order[:place])
        lifted = projective_heads(heads)
        assert projective(lifted)
        assert (lifted == heads) == projective(heads)
        moved += lifted != heads
    assert moved > 100


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(root a b )", "'b' is in the bracket of another word"),
        ("(root (nsubj a ) (obj b ) )", r"the bracket \(root has no word of its own"),
        ("(root (nsubj@+9 a ) b )", "make no tree"),
        ("(root (x@+1 a ) (y@-1 b ) c )", "make no tree"),
        ("(root@+1 a (x b ) )", "make no tree"),
    ],
)
def test_what_is_no_dependency_tree(text, why):
    with pytest.raises(ValueError, match=why):
        dependencies_of_brackets(read_linearised(text))
