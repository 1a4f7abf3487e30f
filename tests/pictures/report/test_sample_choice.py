"""Which sentences are shown, and which of their words are marked."""

import numpy as np
import pytest

from syntax_nmt.pictures.report_page.samples import choose_samples, differing_runs, samples_of
from syntax_nmt.scoring.translations.evaluation_set import System, TestSet, Text


def test_one_of_each_group_where_systems_differ_most():
    lengths = [9, 1, 5, 2, 8, 6]  # groups of two: sentences 1 3, 2 5, 4 0
    scores = np.array([[50, 10, 40, 20, 30, 60], [50, 15, 45, 90, 80, 5]])
    assert choose_samples(lengths, scores, 3) == [3, 5, 4]


def test_three_systems_by_the_widest_gap():
    scores = np.array([[50, 50], [60, 50], [60, 100]])
    assert choose_samples([1, 1], scores, 1) == [1]


def test_lengths_of_text_without_spaces_are_in_characters():
    zh, en = (
        Text(lang, (line,)) for lang, line in (("zh", "我们今天去公园散步。"), ("en", "a b c"))
    )
    for source, length in ((zh, (10, "character")), (en, (3, "word"))):
        test_set = TestSet((System("a", (en,)),), (en,), source)
        (found,) = samples_of(test_set, np.zeros((1, 1)), 1)
        assert (found.length, found.unit) == length


def test_one_system_by_the_middle_score():
    assert choose_samples([1, 1, 1, 1, 1], np.array([[9.0, 1, 5, 7, 3]]), 1) == [2]
    assert choose_samples([2, 1, 1, 2], np.array([[9.0, 4, 3, 8]]), 2) == [2, 3]


def test_fewer_sentences_than_wanted_and_none():
    scores = np.array([[1.0, 2.0]])
    assert choose_samples([7, 3], scores, 8) == [1, 0]
    assert choose_samples([7, 3], scores, 0) == []
    assert choose_samples([3, 3], np.zeros((2, 2)), 1) == [0]


def marked(text, *references):
    """The text with brackets around what differs."""
    runs = differing_runs(text, references)
    assert "".join(run.text for run in runs) == " ".join(text.split())
    return "".join(f"[{run.text}]" if run.differs else run.text for run in runs)


@pytest.mark.parametrize(
    ("text", "reference", "expected"),
    [
        ("the same words .", "the same words .", "the same words ."),
        ("a big dog runs", "a small dog runs", "a [big] dog runs"),
        ("a very big dog", "a dog", "a [very big] dog"),
        ("a dog", "a very big dog", "a dog"),
        ("Ein Hund.", "Ein Hund!", "Ein Hund[.]"),
        ("nothing", "at all", "[nothing]"),
        ("", "something", ""),
        ("something  else", "", "[something else]"),
        ("dog a", "a dog", "dog [a]"),
        ("我们去北京。", "我去北京!", "我[们]去北京[。]"),
        ("the the the", "the", "the [the the]"),
    ],
)
def test_words(text, reference, expected):
    assert marked(text, reference) == expected


def test_the_nearest_reference_counts():
    assert marked("a big cat", "the small dog", "a big dog") == "a big [cat]"


def test_frequent_words_of_long_sentences_are_no_noise():
    # difflib leaves out words that are frequent in 200 words or more unless told otherwise.
    text = " ".join(["the", "x"] * 150)
    assert marked(text, text) == text
