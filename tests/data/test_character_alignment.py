"""Two tokenisations of a sentence: by hand, by random cuts, and where characters differ."""

import random

import pytest

from syntax_nmt.data.character_alignment import align_words, words_of_tokens


@pytest.mark.parametrize(
    ("words", "tokens", "home"),
    [
        ("I do n't .", "I don &apos;t .", [0, 1, 1, 3]),  # n't begins in `don`
        ("a well-known cat", "a well @-@ known cat", [0, 1, 4]),
        ("a well - known cat", "a well-known cat", [0, 1, 1, 1, 2]),
        ("`` Hi '' -LRB- he", '" Hi “ ( He', [0, 1, 2, 3, 4]),
        ("Ms. Ng 's", "ms . ng 's", [0, 2, 3]),
        ("in the U.S. .", "in the U.S.", [0, 1, 2, 2]),  # a full stop written twice
        ("in the U.S.", "in the U.S. .", [0, 1, 2]),
        ("Tom & Jim", "Tom &amp;amp; Jim", [0, 1, 2]),
        ("Tom 's", "Tom & apos ; s", [0, 1]),  # an escape that was cut apart
        ("he — she", "he -- she", [0, 1, 2]),
        ("10 000 ﬁne caf\u00e9s", "10000 fine cafe\u0301s", [0, 0, 1, 2]),
        ("x \u200b y", "x y", [0, 0, 1]),  # nothing to be seen
        ("…", ". . .", [0]),
        ("我 爱 北京", "我爱 北 京", [0, 0, 1]),
        ("", "", []),
    ],
)
def test_by_hand(words, tokens, home):
    assert align_words(words.split(" ") if words else [], tokens.split()) == home


@pytest.mark.parametrize(
    ("words", "tokens"),
    [("a cat", "a dog"), ("a cat", "a"), ("a cat", ""), ("", "a"), (".", "!"), ("5", "6")],
)
def test_other_sentences(words, tokens):
    assert align_words(words.split(), tokens.split()) is None


def cuts(rng: random.Random, text: str) -> list[str]:
    places = sorted(rng.sample(range(1, len(text)), rng.randrange(len(text))))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)])]


def test_random_cuts_against_counting_characters():
    """Oracle: a word's token is the first by which more characters are covered than before it."""
    rng = random.Random(1)
    for _ in range(2000):
        text = "".join(rng.choice("abé'-ß") for _ in range(rng.randint(1, 12)))
        words, tokens = cuts(rng, text), cuts(rng, text)
        expected = []
        for word in range(len(words)):
            before, covered, token = len("".join(words[:word])), 0, -1
            while covered <= before:
                token += 1
                covered += len(tokens[token])
            expected.append(token)
        assert align_words(words, tokens) == expected
        groups = words_of_tokens(expected, len(tokens))
        assert [word for group in groups for word in group] == list(range(len(words)))
        assert all(expected[word] == token for token, group in enumerate(groups) for word in group)
