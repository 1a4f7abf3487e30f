"""Dependency trees as brackets: crossing arcs by hand, and brackets that are no tree."""

from itertools import pairwise
from random import Random
from time import process_time

import numpy as np
import pytest
from trees_of import above, random_heads

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


def lifted_by_search(heads):
    """As the page of the method says it: the shortest arc in the way moves first, one at a time."""
    heads = list(heads)
    while crossing := [
        (abs(head - word), word)
        for word, head in enumerate(heads)
        if any(head not in above(heads, i) for i in range(min(word, head) + 1, max(word, head)))
    ]:
        _, word = min(crossing)
        heads[word] = heads[heads[word]]
    return heads


def chain(order):
    """Each word depends on the one before it in an order."""
    heads = list(order)
    for before, word in pairwise(order):
        heads[word] = before
    heads[order[0]] = order[0]
    return heads


def test_heads_move_only_where_arcs_cross():
    random, moved = Random(2), 0
    for size in (1, 2, 3, 5, 8, 8, 12, 30):
        for _ in range(60):
            heads = random_heads(random, size)
            for tree in (heads, chain(random.sample(range(size), size))):
                lifted = projective_heads(tree)
                assert lifted == lifted_by_search(tree)
                assert projective(lifted)
                assert (lifted == tree) == projective(tree)
                moved += lifted != tree
    assert moved > 400


@pytest.mark.parametrize("kind", ["shuffled", "shuffled chain", "every second word"])
def test_long_sentences_take_no_time(kind):
    """The search for crossing arcs anew after each move takes minutes."""
    random, size = Random(3), 400
    tree = {
        "shuffled": random_heads(random, size),
        "shuffled chain": chain(random.sample(range(size), size)),
        "every second word": chain([*range(0, size, 2), *range(1, size, 2)][::-1]),
    }[kind]
    start = process_time()
    lifted = projective_heads(tree)
    assert projective(lifted)
    assert process_time() - start < 5


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
