import random

import numpy as np
import pytest
from trees_of import random_heads

from syntax_nmt.data.chunks import Chunk
from syntax_nmt.data.constituents import parse_tree
from syntax_nmt.data.projection import project_chunks, project_heads, project_phrases


def brute_force_heads(heads, counts):
    pieces = [(word, piece) for word, count in enumerate(counts) for piece in range(count)]
    projected = []
    for word, piece in pieces:
        parent = (word, 0) if piece else (heads[word], 0)
        projected.append(pieces.index(parent))
    return projected


def test_heads_against_brute_force():
    rng = random.Random(7)
    for _ in range(500):
        size = rng.randint(1, 8)
        heads = random_heads(rng, size)
        counts = [rng.randint(1, 4) for _ in range(size)]
        projected = project_heads(heads, counts)
        assert projected.dtype == np.int32
        assert projected.tolist() == brute_force_heads(heads, counts)


def test_the_root_is_its_own_head_and_other_pieces_hang_on_the_first():
    assert project_heads([1, 1, 1], [2, 3, 1]).tolist() == [2, 0, 2, 2, 2, 2]


def test_chunks_open_at_the_first_piece_of_their_first_word():
    rng = random.Random(8)
    ids = {"NP": 1, "O": 2, "VP": 3}
    for _ in range(300):
        counts, chunks, expected = [], [], []
        for _ in range(rng.randint(1, 5)):
            tag = rng.choice(list(ids))
            words = rng.randint(1, 3)
            chunks.append(Chunk(tag, len(counts), len(counts) + words))
            new = [rng.randint(1, 3) for _ in range(words)]
            counts += new
            expected += [ids[tag]] + [0] * (sum(new) - 1)
        projected = project_chunks(chunks, counts, ids)
        assert projected.dtype == np.int32
        assert projected.tolist() == expected


def test_a_chunk_type_without_id():
    with pytest.raises(KeyError):
        project_chunks([Chunk("UCP", 0, 1)], [1], {"NP": 1})


def test_phrases_add_up_to_the_pieces():
    tree = parse_tree("(S (NP (D a) (N b)) (VP (V c)))", "f", 1)
    phrases = project_phrases(tree, [2, 2, 1])
    assert phrases.dtype == np.int32
    assert phrases.sum() == 5


def test_no_words():
    assert project_heads([], []).tolist() == []
