import math
import random
from collections import namedtuple
from itertools import accumulate, islice

import numpy as np
import pytest
import torch
from nonempty import some

from syntax_nmt.data.constituents import parse_tree, read_trees
from syntax_nmt.data.phrases import parsed_lengths, phrase_limit, segment


def test_limits_follow_the_formula():
    sizes = range(1, 300)
    limits = [max(min(8, math.ceil(size / 6)), 3) for size in sizes]
    assert [phrase_limit(size) for size in sizes] == limits
    for several in (np.array(sizes), torch.tensor(sizes)):
        assert phrase_limit(several).tolist() == limits


# A node of the oracle's tree: a set of tokens and a depth.
Node = namedtuple("Node", "tokens depth")


def brute_force(nodes, limit):
    """The page's words, taken literally: sets of tokens, searched anew at every step."""
    remaining = set().union(*(node.tokens for node in nodes))
    taken, phrases = set(), []

    def untouched(node):
        return not node.tokens & taken

    while remaining:
        last = max(remaining)
        right = [node for node in nodes if untouched(node) and max(node.tokens) == last]
        fitting = [node for node in right if len(node.tokens) <= limit]
        if fitting:  # the largest, of several as large the highest
            first = max(fitting, key=lambda node: (len(node.tokens), -node.depth))
        else:
            first = min(right, key=lambda node: len(node.tokens))
        phrase = set(first.tokens)
        taken |= first.tokens
        left = limit - len(first.tokens)
        while True:
            adjacent = [
                node
                for node in nodes
                if untouched(node)
                and node.depth == first.depth
                and max(node.tokens) == min(phrase) - 1
                and len(node.tokens) <= left
            ]
            if not adjacent:
                break
            assert len(adjacent) == 1
            phrase |= adjacent[0].tokens
            taken |= adjacent[0].tokens
            left -= len(adjacent[0].tokens)
        remaining -= phrase
        phrases.append(len(phrase))
    return phrases[::-1]


def random_spans(rng, leaves):
    """Spans of a random tree with unary chains, over leaves of one to four tokens."""
    edges = [*accumulate(rng.choices([1, 1, 1, 2, 4], k=leaves), initial=0)]
    spans = []

    def grow(first, last, depth):
        spans.append((edges[first], edges[last], depth))
        if rng.random() < 0.2:
            grow(first, last, depth + 1)
        elif last - first > 1:
            arity = rng.randint(2, min(4, last - first))
            cuts = sorted(rng.sample(range(first + 1, last), arity - 1))
            for start, end in zip([first, *cuts], [*cuts, last]):
                grow(start, end, depth + 1)

    grow(0, leaves, 0)
    return spans


def test_algorithm_1_against_brute_force():
    rng = random.Random(11)
    over_limit = 0
    for _ in range(3000):
        spans = random_spans(rng, rng.randint(1, 10))
        limit = rng.randint(1, 6)
        nodes = [Node(frozenset(range(start, end)), depth) for start, end, depth in spans]
        lengths = segment(spans, limit)
        assert lengths == brute_force(nodes, limit)
        assert sum(lengths) == spans[0][1]
        over_limit += any(length > limit for length in lengths)
    assert over_limit  # a leaf over the limit came up


def test_the_limit_counts_pieces_and_eos():
    # 17 pieces + EOS = 18 tokens: the limit is 3; with 18 + 1 = 19 it is 4.
    words = [f"(X w{index})" for index in range(17)]
    tree = parse_tree(f"(S {' '.join(words)})", "f", 1)
    assert parsed_lengths(tree, [1] * 17) == [2, 3, 3, 3, 3, 3]
    assert parsed_lengths(tree, [2] + [1] * 16) == [2, 4, 4, 4, 4]


def test_a_tree_of_another_length_is_refused():
    with pytest.raises(ValueError, match="a tree of 1 words for 2 words"):
        parsed_lengths(parse_tree("(X a)", "f", 1), [1, 1])


def test_craft_is_cut_as_brute_force_cuts_it(shared):
    rng = random.Random(4)
    trees = list(islice(read_trees(shared / "data" / "craft" / "craft_penn.mrg.gz"), 1000))
    for tree in some(rng.sample([tree for tree in trees if len(tree) < 30], 100)):
        counts = [rng.choice([1, 1, 2, 3]) for _ in tree.words]
        edges = [*accumulate(counts, initial=0)]
        spans = [(range(edges[n.start], edges[n.end]), n.depth) for n in tree.nodes]
        nodes = [Node(frozenset(tokens), depth) for tokens, depth in spans]
        lengths = parsed_lengths(tree, counts)
        assert lengths == brute_force(nodes, phrase_limit(sum(counts) + 1))
