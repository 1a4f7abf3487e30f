import random

import pytest
from trees_of import random_cuts

from syntax_nmt.data.subwords import SCHEMES, detect_scheme, join_pieces, pieces_per_word
from syntax_nmt.errors import UserError

CASES = [
    ("sentencepiece", "▁the ▁cat s ▁ 猫 ▁.", [1, 2, 2, 1], "the cats 猫 ."),
    ("sentencepiece", "the ▁cat", [1, 1], "the cat"),
    ("sentencepiece", "▁ ▁the ▁cat", [2, 1], "the cat"),
    ("sentencepiece", "▁cat s ▁", [3], "cats"),
    ("sentencepiece", "▁▁ a b", [3], "ab"),
    ("sentencepiece", "▁", [1], ""),
    ("sentencepiece", "", [], ""),
    ("sentencepiece", "▁ <0xF0> <0x9F> <0xA6> <0x8A> s ▁x <0xC3> <0xA9>", [6, 3], "🦊s xé"),
    ("sentencepiece", "▁a <0xC3> b <0x0A> <0xE3> <0x80> <0x80>", [7], "a\ufffdb\ufffd\ufffd"),
    ("sentencepiece", "▁<0x41> ▁< 0x41>", [1, 2], "<0x41> <0x41>"),
    ("subword-nmt", "the ca@@ t@@ s .", [1, 3, 1], "the cats ."),
    ("subword-nmt", "a @@ b", [1, 1, 1], "a @@ b"),
    ("subword-nmt", "a @-@ b", [1, 1, 1], "a @-@ b"),
    ("subword-nmt", "a b@@", [1, 1], "a b@@"),
    ("subword-nmt", "", [], ""),
    ("subword-nmt", "<0x41>", [1], "<0x41>"),
    ("none", "▁the ca@@ t", [1, 1, 1], "▁the ca@@ t"),
]


@pytest.mark.parametrize(("scheme", "line", "counts", "words"), CASES)
def test_pieces_and_words(scheme, line, counts, words):
    pieces = line.split()
    assert pieces_per_word(pieces, scheme, "f:1") == counts
    assert " ".join(join_pieces(pieces, counts, scheme)) == words


@pytest.mark.parametrize("piece", ["▁of▁the", "of▁", "a▁b"])
def test_a_piece_of_two_words_is_refused(piece):
    with pytest.raises(UserError, match=rf"^f:3: the piece '{piece}' reaches over"):
        pieces_per_word(["▁a", piece], "sentencepiece", "f:3")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_cutting_words_at_random_and_counting_their_pieces(scheme):
    rng = random.Random(2)
    for _ in range(300):
        words = ["".join(rng.choices("abß猫@", k=rng.randint(1, 6))) for _ in range(5)]
        if scheme == "subword-nmt":
            words = [word.replace("@", "x") for word in words]
        pieces, counts = [], []
        for word in words:
            parts = random_cuts(rng, word)
            if scheme == "sentencepiece":
                parts = ["▁", *parts] if rng.random() < 0.3 else ["▁" + parts[0], *parts[1:]]
            elif scheme == "subword-nmt":
                parts[:-1] = [part + "@@" for part in parts[:-1]]
            else:
                parts = [word]
            pieces += parts
            counts.append(len(parts))
        assert pieces_per_word(pieces, scheme, "f:1") == counts
        assert join_pieces(pieces, counts, scheme) == words


@pytest.mark.parametrize(
    ("lines", "scheme"),
    [
        (["▁a b ▁c", "", "▁d"], "sentencepiece"),
        (["a ▁b", "c ▁d"], "sentencepiece"),
        (["a b@@ c", "d"], "subword-nmt"),
        (["a", "b ▁ c", "x@@ y", "d"], "subword-nmt"),
        (["a b", "c", "▁ strange"], "none"),
        ([""], "none"),
        ([], "none"),
    ],
)
def test_the_text_says_how_it_was_cut(lines, scheme):
    assert detect_scheme(lines) == scheme
