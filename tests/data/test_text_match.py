import pytest

from syntax_nmt.data.annotation_transfer import check_same_text
from syntax_nmt.data.character_alignment import same_spelling
from syntax_nmt.errors import UserError


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Haus", "haus"),
        ("&apos;s", "'s"),
        ("&quot;", "''"),
        ("``", '"'),
        ("-LRB-", "("),
        ("&#91;", "-LSB-"),
        ("&amp;", "&"),
        ("＄", "$"),
        ("ﬁn", "fin"),
        ("@-@", "-"),
        ("STRASSE", "straße"),
        (r"1\/2", "1/2"),
    ],
)
def test_spellings_of_one_word(left, right):
    assert same_spelling(left, right)


def test_half_of_the_words_is_enough():
    check_same_text(["a", "b", "c", "d"], ["a", "b", "x", "y"], "s:1", "c:1")
    with pytest.raises(UserError, match=r"^s:1: the words differ from c:9 \(2 of 5 agree\): 'a b"):
        check_same_text(["a", "b", "c", "d", "e"], ["a", "b", "x", "y", "z"], "s:1", "c:9")


def test_other_numbers_of_words():
    with pytest.raises(UserError, match=r"^s:1: 1 words, but c:9 has 2"):
        check_same_text(["a", "b"], ["a"], "s:1", "c:9")


def test_no_words_at_all():
    check_same_text([], [], "s:1", "c:1")
