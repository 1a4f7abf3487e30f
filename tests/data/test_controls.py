"""Annotation without syntax: what it keeps of the structures, and what it must always be."""

import random
from collections import Counter

import pytest
from trees_of import is_tree, random_heads

from syntax_nmt.data.chunks import Chunk
from syntax_nmt.data.conllu import format_conllu, parse_block
from syntax_nmt.data.constituents import ConstituentTree, format_tree, parse_tree
from syntax_nmt.data.controls.features import Majority, dummy
from syntax_nmt.data.controls.structures import (
    TreeArcs,
    balanced_tree,
    chain,
    draw_lenders,
    resized_arcs,
    resized_chunks,
    resized_tree,
    right_branching_tree,
    shuffled,
    with_arcs,
)
from syntax_nmt.data.dependency_tree import word_depths


def random_arcs(rng, size):
    return TreeArcs(random_heads(rng, size), [f"r{word}" for word in range(size)])


def test_a_chain():
    assert chain(4) == TreeArcs([0, 0, 1, 2], ["root", "dep", "dep", "dep"])
    assert max(word_depths(chain(9).heads)) + 1 == 9


def test_shuffled_trees_keep_their_shape():
    rng = random.Random(1)
    stayed = Counter()
    for _ in range(1000):
        own = random_arcs(rng, rng.randint(1, 9))
        new = shuffled(own, rng)
        assert is_tree(new.heads)
        assert sorted(word_depths(new.heads)) == sorted(word_depths(own.heads))
        below = [Counter(h for w, h in enumerate(arcs.heads) if w != h) for arcs in (own, new)]
        assert sorted(below[0].values()) == sorted(below[1].values())
        # A relation is that of an arc between the same two nodes of the tree.
        place = {relation: word for word, relation in enumerate(new.relations)}
        for word, relation in enumerate(own.relations):
            head = new.heads[place[relation]]
            assert new.relations[head] == own.relations[own.heads[word]]
        if len(own.heads) > 1:
            stayed[place["r0"] == 0] += 1
    assert stayed[True] < stayed[False]


def test_cut_and_continued_trees_are_trees():
    rng = random.Random(2)
    for _ in range(3000):
        arcs, size = random_arcs(rng, rng.randint(1, 9)), rng.randint(1, 12)
        new = resized_arcs(arcs, size)
        assert is_tree(new.heads)
        assert len(new.heads) == len(new.relations) == size
        root = next(word for word, head in enumerate(arcs.heads) if head == word)
        kept = min(size, len(arcs.heads))
        for word in range(kept):
            if arcs.heads[word] < size and not (word == 0 and root >= size):
                assert (new.heads[word], new.relations[word]) == (arcs.heads[word], f"r{word}")
        assert new.heads[0 if root >= size else root] == (0 if root >= size else root)
        assert new.heads[kept:] == list(range(kept - 1, size - 1))


@pytest.mark.parametrize(
    ("heads", "size", "expected"),
    [
        ([1, 1, 1], 3, [1, 1, 1]),
        ([1, 3, 3, 3], 3, [0, 0, 1]),  # the root is cut: the first word; others on the one before
        ([0, 3, 1, 0], 3, [0, 0, 1]),
        ([1, 3, 2, 2], 3, [1, 2, 2]),  # the word before depends on it: the root
        ([0, 2, 4, 0, 0], 3, [0, 2, 0]),  # the nearest before that does not depend on it
        ([0, 0], 4, [0, 0, 1, 2]),
    ],
)
def test_cut_trees_by_hand(heads, size, expected):
    assert resized_arcs(TreeArcs(heads, ["x"] * len(heads)), size).heads == expected


BLOCK = """\
# sent_id = 1
1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_
1\tzu\tzu\tADP\tAPPR\t_\t3\tcase\t3:case\t_
2\tdem\tder\tDET\tART\tCase=Dat\t3\tdet\t3:det\t_
2.1\tleer\t_\t_\t_\t_\t_\t_\t0:root\t_
3\tHaus\tHaus\tNOUN\tNN\t_\t0\troot\t0:root\tSpaceAfter=No"""


def test_a_block_keeps_all_but_its_tree():
    block = BLOCK.splitlines()
    lines = with_arcs(block, TreeArcs([0, 0, 1], ["root", "a", "b"]))
    assert lines == [
        *block[:2],
        "1\tzu\tzu\tADP\tAPPR\t_\t0\troot\t_\t_",
        "2\tdem\tder\tDET\tART\tCase=Dat\t1\ta\t_\t_",
        "3\tHaus\tHaus\tNOUN\tNN\t_\t2\tb\t_\tSpaceAfter=No",
    ]


def test_features_come_with_a_tree_that_has_them():
    values = [("a", "X", "b", "_"), ("c", "Y", "_", "d"), ("e", "Z", "f", "g")]
    lines = with_arcs(BLOCK.splitlines(), TreeArcs([0, 0, 1], ["root", "a", "b"], values))
    assert [line.split("\t")[1:6] for line in lines[2:]] == [
        ["zu", *values[0]], ["dem", *values[1]], ["Haus", *values[2]],
    ]  # fmt: skip


@pytest.mark.parametrize(("size", "expected"), [(1, ["a"]), (2, ["a", "b"]), (3, ["a", "b", "_"])])
def test_features_are_cut_and_continued(size, expected):
    arcs = TreeArcs([0, 0], ["root", "dep"], [("a",) * 4, ("b",) * 4])
    assert resized_arcs(arcs, size).features == [(value,) * 4 for value in expected]


def test_shuffled_words_keep_their_features():
    assert shuffled(TreeArcs([0], ["root"], [("a",) * 4]), random.Random(1)).features == ()


def test_conll_x_has_no_graphs():
    lines = with_arcs(["1\tHaus\t_\tN\tN\t_\t0\troot"], TreeArcs([0], ["other"]))
    assert lines == ["1\tHaus\t_\tN\tN\t_\t0\tother"]


def test_each_sentence_lends_once_to_another_of_its_length():
    rng = random.Random(3)
    for _ in range(300):
        sizes = [rng.choice([0, 2, 3, 5, 5, 5]) for _ in range(rng.randint(2, 12))]
        if sum(map(bool, sizes)) < 2:
            continue
        lenders = draw_lenders(sizes, rng)
        counts = Counter(sizes)
        for place, lender in enumerate(lenders):
            size = sizes[place]
            assert (lender == -1) == (size == 0)
            assert lender != place
            others = sorted(set(sizes) - {0, size})
            nearest = [each for each in others if each > size][:1] or others[-1:]
            if size:
                assert sizes[lender] == (size if counts[size] > 1 else nearest[0])
        within = [each for p, each in enumerate(lenders) if each >= 0 and sizes[each] == sizes[p]]
        assert len(within) == len(set(within))


def test_lenders_are_drawn_evenly():
    counts = Counter(draw_lenders([4] * 4, random.Random(seed))[0] for seed in range(600))
    assert set(counts) == {1, 2, 3}
    assert min(counts.values()) > 150


def test_nobody_else_can_lend():
    with pytest.raises(ValueError, match="single sentence"):
        draw_lenders([0, 7, 0], random.Random(1))


TREE = "(S (NP (DT the) (NN dog)) (VP (V saw) (NP (PRP it))))"


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        (TREE, "a b c d", "(S (NP (DT a) (NN b)) (VP (V c) (NP (PRP d))))"),
        (TREE, "a b c", "(S (NP (DT a) (NN b)) (VP (V c)))"),
        (TREE, "a", "(S (NP (DT a)))"),
        (TREE, "a b c d ( f", "(S (NP (DT a) (NN b)) (VP (V c) (NP (PRP d))) (W -LRB-) (W f))"),
        ("(NN dog)", "a b", "(X (NN a) (W b))"),
    ],
)
def test_constituents_over_other_words(text, words, expected):
    tree = resized_tree(parse_tree(text, "a", 1), words.split())
    assert isinstance(tree, ConstituentTree)
    assert format_tree(tree) == expected
    again = parse_tree(expected, "a", 1)
    assert again.words == tree.words
    assert [node[1:] for node in again.nodes] == [node[1:] for node in tree.nodes]


def test_constituents_that_halve_and_that_branch_to_the_right():
    tree = parse_tree("(S (NP (DT the) (JJ old) (NN dog)) (VP (V saw) (NP (PRP it))))", "a", 1)
    balanced = "(X (X (X (DT the) (JJ old)) (NN dog)) (X (V saw) (PRP it)))"
    right = "(X (DT the) (X (JJ old) (X (NN dog) (X (V saw) (PRP it)))))"
    for made, expected in ((balanced_tree(tree), balanced), (right_branching_tree(tree), right)):
        assert format_tree(made) == expected
        assert parse_tree(expected, "a", 0).nodes == made.nodes
    single = parse_tree("(NP (NN dog))", "a", 1)
    for make in (balanced_tree, right_branching_tree):
        assert format_tree(make(single)) == "(NN dog)"


def test_chunks_over_another_length():
    chunks = (Chunk("NP", 0, 2), Chunk("O", 2, 3), Chunk("VP", 3, 6))
    assert resized_chunks(chunks, 6) == chunks
    assert resized_chunks(chunks, 4) == (*chunks[:2], Chunk("VP", 3, 4))
    assert resized_chunks(chunks, 1) == (Chunk("NP", 0, 1),)
    assert resized_chunks(chunks, 8) == (*chunks, Chunk("O", 6, 7), Chunk("O", 7, 8))


def tagged(text):
    """A chain of `word/TAG/relation`; its lemmas are the words."""
    words, tags, relations = zip(*(part.split("/") for part in text.split()))
    heads = chain(len(words)).heads
    block = format_conllu(words, heads, relations, tags, lemmas=words)
    return parse_block(block.splitlines()[:-1], "a", 1)


def test_dummies():
    tree = tagged("the/DET/det cat/NOUN/root")
    arcs = dummy(tree)
    assert (arcs.heads, arcs.relations) == (tree.heads, ("X", "X"))
    assert arcs.features == (("X",) * 4,) * 2


# `run` is a verb twice and a noun once, and a root and an object once each, the root first.
TRAINING = (
    "I/PRON/nsubj run/VERB/root it/PRON/obj",
    "a/DET/det run/NOUN/obj it/PRON/obj",
    "run/VERB/advcl",
)


def test_a_word_has_its_most_frequent_values():
    majority = Majority(map(tagged, TRAINING))
    arcs = majority.of(tagged("run/X/x it/X/x they/X/x"))
    assert [upos for _, upos, _, _ in arcs.features] == ["VERB", "PRON", "PRON"]
    assert list(arcs.relations) == ["root", "obj", "obj"]
    assert [lemma for lemma, *_ in arcs.features] == ["run", "it", "run"]  # unseen: the first
    assert list(arcs.heads) == [0, 0, 1]
    assert len(majority) == 4
    assert not Majority([])
