"""Words as they were typed, and not as a tokeniser marks them."""

import pytest

from syntax_nmt.data.typed_words import typed_words
from syntax_nmt.parsing.word_tokenizer import WordTokenizer
from syntax_nmt.text.joints import joined_hyphens


@pytest.mark.parametrize(
    ("mode", "lang", "text", "expected"),
    [
        ("penn", "en", "right-click", "right - click"),
        ("penn", "en", "We don’t  know, cannot “see”.", "We do n’t know , can not “ see ” ."),
        ("moses", "de", "Der 'alte' Rechts-Klick: 10％.", "Der ' alte ' Rechts-Klick : 10 ％ ."),
        ("char", "zh", "今日 ab-c", "今 日 ab-c"),
        ("none", "en", "a ⅓ … -", "a ⅓ … -"),
        ("penn", "en", "", ""),
    ],
)
def test_words_are_those_of_the_text(mode, lang, text, expected):
    words = WordTokenizer(mode, lang).tokenize(text).split()
    assert list(typed_words(words, text)) == expected.split()


def test_compatible_characters_of_subwords():
    assert typed_words(["fine", "10", "%", "fi", "..."], "ﬁne 10％ ﬁ…") == (
        *("ﬁne", "10", "％", "ﬁ", "…"),
    )


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("a @-@ b & lt ;", "a-b &lt;"),
        ("a @-@ b", "a-c"),
        ("a @-@ b", ""),
        ("a @-@ b <unk>", "a-b 🦊"),
        ("a @-@ b _", "a-b"),
    ],
)
def test_where_the_text_says_something_else_hyphens_are_plain(words, text):
    """An escape that was typed; another text; a character that the vocabulary does not have."""
    assert list(typed_words(words.split(), text)) == words.replace("@-@", "-").split()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("right @-@ click on the top @-@ left - icon", "right-click on the top-left - icon"),
        ("@-@ click @-@", "- click -"),
        ("a@-@b x @-@ y @-@ z", "a@-@b x-y-z"),
        ("a @-@ @-@ b @-@ @-@ @-@ c", "a--b---c"),
        ("@-@ @-@ a @-@ @-@", "--a--"),
        ("@-@", "-"),
        ("", ""),
    ],
)
def test_hyphens_are_joined_where_words_were_cut(words, text):
    assert joined_hyphens(words.split()) == text
