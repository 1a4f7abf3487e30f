"""Which words of a translation are marked."""

import pytest

from syntax_nmt.pictures.report_page.samples import differing_runs


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
