"""The table of words by bucket is that of the records; what needs a parser is not made anew."""

import json
import random
import re
from dataclasses import replace

import pytest
from nonempty import some
from translations import WORDS

from experiments.compared_words import SIGNIFICANCE
from experiments.word_links import link_words
from experiments.words_by import _PAIRS, _TABLE, _TEST, _lines, _systems
from syntax_nmt.scoring.translations.evaluation_set import TestSet, Text
from syntax_nmt.scoring.words.bucket_scores import compare_words
from syntax_nmt.scoring.words.bucket_tables import BucketTable, comparison_tables
from syntax_nmt.scoring.words.settings import WordSettings

WRITTEN = json.loads((_TABLE / "words.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("place", range(len(_PAIRS)))
def test_by_frequency(shared, place):
    data = shared / "data"
    reference = Text(_TEST, tuple(_lines(data, _TEST, "de")))
    systems = _systems(_TABLE)
    pair = tuple(systems[name] for name in _PAIRS[place])
    training = str(data / "multi30k/train.de.gz")
    (table,) = compare_words(
        TestSet(pair, (reference,), None),
        WordSettings(["frequency"], training_text=training),
        replace(SIGNIFICANCE, trials=10, resamples=1000),
    )
    found = table.to_json()
    (written,) = (each for each in WRITTEN[place]["words_by"] if each["by"] == "frequency")
    assert len(found["buckets"]) == 9
    for ours, theirs in zip(found["buckets"], written["buckets"]):
        assert (ours["bucket"], ours["words"]) == (theirs["bucket"], theirs["words"])
        for one, other in zip(ours["systems"], theirs["systems"]):
            for name in ("correct", "predicted", "runs", "score"):
                assert one[name] == pytest.approx(other[name], abs=1e-9)
            if "seeds" in one:
                assert one["seeds"]["low"] == pytest.approx(other["seeds"]["low"], abs=1e-6)


def test_tables_are_those_of_the_figures():
    text = re.sub(" +", " ", (_TABLE / "words.md").read_text(encoding="utf-8"))
    for pair in some(WRITTEN):
        for table in comparison_tables(map(BucketTable.from_json, pair["words_by"]), 1):
            for row in table.rows:
                assert f"| {' | '.join(cell.strip() for cell in row)} |" in text


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
