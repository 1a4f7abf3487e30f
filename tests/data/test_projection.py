import random

import numpy as np
import pytest
from trees_of import random_heads

from syntax_nmt.data.chunks import Chunk
from syntax_nmt.data.projection import project_chunks, project_heads


def brute_force_heads(heads, counts):
    """The root is its own head, and other pieces of a word hang on its first."""
    pieces = [(word, piece) for word, count in enumerate(counts) for piece in range(count)]
    return [pieces.index((word if piece else heads[word], 0)) for word, piece in pieces]


def test_heads_against_brute_force():
    rng = random.Random(7)
    for _ in range(500):
        size = rng.randint(1, 8)
        heads = random_heads(rng, size)
        counts = [rng.randint(1, 4) for _ in range(size)]
        projected = project_heads(heads, counts)
        assert projected.dtype == np.int32
        assert projected.tolist() == brute_force_heads(heads, counts)


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


def test_no_words():
    assert project_heads([], []).tolist() == []
