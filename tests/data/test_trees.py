"""Binary trees from brackets to batches, against recursion over nested tuples."""

import random

import numpy as np
import pytest
import torch
from small_models import draw_trees

from syntax_nmt.data.annotation import TREES
from syntax_nmt.data.annotation.kind import BatchedText, SegmentedSentence
from syntax_nmt.data.constituents import parse_tree
from syntax_nmt.data.merges import binary_merges
from syntax_nmt.data.ragged import RaggedArray


def nested(merges, size):
    """The tree as nested pairs of subwords."""
    nodes = list(range(size))
    for left, right in merges:
        nodes.append((nodes[left], nodes[right]))
    return nodes[-1]


def height(node):
    return 1 + max(map(height, node)) if isinstance(node, tuple) else 0


def leaves(node):
    return [each for child in node for each in leaves(child)] if isinstance(node, tuple) else [node]


def right_factored(children):
    return children[0] if len(children) == 1 else (children[0], right_factored(children[1:]))


def random_brackets(rng, words, depth=0):
    """A bracketed text over some words, and its binary tree with words in place of subwords."""
    if len(words) == 1 and (depth > 6 or rng.random() < 0.6):
        return f"(W {words[0]})", words[0]
    cuts = sorted(rng.sample(range(1, len(words)), rng.randrange(len(words)))) if depth < 6 else []
    parts = [words[a:b] for a, b in zip([0, *cuts], [*cuts, len(words)])]
    if depth >= 6:
        parts = [[word] for word in words]
    built = [random_brackets(rng, part, depth + 1) for part in parts]
    return f"(X {' '.join(text for text, _ in built)})", right_factored([node for _, node in built])


def in_pieces(node, pieces):
    """Words in place of their subwords, right-branching."""
    if isinstance(node, tuple):
        return tuple(in_pieces(child, pieces) for child in node)
    return right_factored(pieces[node])


def test_merges_equal_recursion():
    rng = random.Random(1)
    for _ in range(300):
        words = [f"w{number}" for number in range(rng.randint(1, 9))]
        text, expected = random_brackets(rng, words)
        counts = [rng.choice([1, 1, 2, 4]) for _ in words]
        starts = [sum(counts[:word]) for word in range(len(words))]
        pieces = {
            word: list(range(start, start + count))
            for word, start, count in zip(words, starts, counts)
        }
        merges = binary_merges(parse_tree(text, "", 1), counts)
        size = sum(counts)
        assert nested(merges, size) == in_pieces(expected, pieces)
        assert all(child < size + step for step, pair in enumerate(merges) for child in pair)
        assert leaves(nested(merges, size)) == list(range(size))


def test_a_tree_of_other_words():
    with pytest.raises(ValueError, match="a tree of 2 words for 3 words"):
        binary_merges(parse_tree("(S (A a) (B b))", "", 1), [1, 1, 1])


def test_rows_and_what_they_cover():
    tree = parse_tree("(S (NP (D the) (N cat)) (VP (V sleeps)))", "", 1)
    assert TREES.row(tree, [1, 2, 2], {}).tolist() == [3, 4, 1, 2, 0, 6, 7, 5]
    single = TREES.row(parse_tree("(S (NP (N cat)))", "", 1), [1], {})
    assert single.tolist() == [0]
    drawn = [draw_trees(size, np.random.default_rng(size)) for size in range(1, 9)]
    rows = RaggedArray.from_rows([single, TREES.no_row(7), TREES.no_row(0), *drawn])
    sizes = np.array([1, 7, 0, *range(1, 9)])
    assert TREES.covered(rows.block(0, len(rows)), sizes).tolist() == sizes.tolist()
    lowest, highest = rows.block(0, len(rows)).ranges()
    least, greatest = TREES.limits(sizes, 0)
    parsed = lowest >= 0
    assert (lowest[parsed] >= least).all()
    assert (highest <= greatest).all()


@pytest.mark.parametrize("left_pad", [True, False])
def test_batches_against_one_sentence_at_a_time(left_pad):
    rng = np.random.default_rng(3)
    sizes = [5, 1, 9, 3, 0, 2, 7]
    rows = [draw_trees(n, rng) if n not in (0, 3) else TREES.no_row(n) for n in sizes]
    of_corpus = RaggedArray.from_rows(rows)
    lengths = np.array(sizes) + 1
    for chosen in ([0, 1, 2, 3, 4, 5, 6], [6, 3], [1], [3, 4], [2, 2]):
        width = max(lengths[chosen])
        ids = np.array(chosen)
        found = TREES.collate(of_corpus, BatchedText(ids, lengths, width, left_pad), 0)
        assert found.dtype == torch.int32
        levels = {}
        for sentence, merges in zip(chosen, found.tolist()):
            size = sizes[sentence]
            shift = width - size - 1 if left_pad else 0
            row = rows[sentence].tolist()
            own = list(zip(row[::2], row[1::2])) if size > 1 and row[0] >= 0 else []
            expected = []
            for step, pair in enumerate(own):
                columns = [c + shift if c < size else c - size + width for c in pair]
                tall = height(nested(own[: step + 1], size))
                levels[tall] = levels.get(tall, 0) + 1
                expected.append([*columns, tall])
            most = max(1, max(max(0, sizes[each] - 1) for each in chosen if sizes[each] != 3))
            expected += [[-1] * 3] * (len(merges) - len(expected))
            assert merges == expected
            assert len(merges) <= most
        counts = tuple(levels.get(tall, 0) for tall in range(1, max(levels, default=0) + 1))
        assert TREES.batch_flags(found) == {"tree_levels": counts}


def test_shown_in_brackets():
    sentence = SegmentedSentence(["▁the", "▁ca", "t"], ["the", "cat"], [1, 2], "sentencepiece")
    (shown,) = TREES.show(np.array([1, 2, 0, 3]), sentence, ())
    assert shown.split(maxsplit=1) == ["trees", "[▁the [▁ca t]]"]
    single = SegmentedSentence(["▁go"], ["go"], [1], "sentencepiece")
    (shown,) = TREES.show(np.array([0]), single, ())
    assert shown.split() == ["trees", "▁go"]
