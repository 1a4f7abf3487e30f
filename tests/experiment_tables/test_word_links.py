"""Links that are known, because every word has one translation."""

import random

from translations import WORDS

from experiments.word_links import link_words


def test_links_of_translated_words():
    """Words of a dictionary, in the source's order but for some neighbours."""
    rng = random.Random(1)
    source, target, gold = [], [], []
    for _ in range(400):
        words = rng.sample(WORDS, rng.randint(1, 8))
        order = list(range(len(words)))
        if len(words) > 3:
            order[1:3] = [2, 1]
        source.append(words)
        target.append([f"{words[place]}x" for place in order])
        gold.append({(place, where) for where, place in enumerate(order)})
    found = link_words(source, target, 50)
    assert len(found) == 50
    common = sum(len(ours & theirs) for ours, theirs in zip(found, gold[-50:]))
    assert common / sum(map(len, found)) > 0.97
    assert common / sum(map(len, gold[-50:])) > 0.97


def test_empty_sentences_have_no_links():
    assert link_words([["a"], [], ["a"]], [["b"], ["c"], []], 2) == [frozenset(), frozenset()]
