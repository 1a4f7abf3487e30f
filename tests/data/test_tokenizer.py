"""Words of raw text: cleaning, cutting, joining again, and fairseq's --tokenizer."""

from __future__ import annotations

import unicodedata
from collections import Counter

import pytest
from fairseq import options
from fairseq.data import encoders

from syntax_nmt.data.text import clean_line, moses_negations, penn_negations
from syntax_nmt.data.tokenizer import SyntaxWords, SyntaxWordsConfig, WordTokenizer, default_mode
from syntax_nmt.errors import UserError

TEXTS = [
    "I don't know, can't you? They're well-known (really), Mr. Smith.",
    'He cannot say "yes" in the U.S. for $5.50 or 3,000 dollars...',
    "DON'T wanna; it's gonna be John's, or the dogs' T-shirt.",
    "One. Two! Three?",
]


@pytest.mark.parametrize(
    ("text", "clean", "counts"),
    [
        ("a b", "a b", {}),
        ("a\xa0b\u3000c\td", "a b c d", {"space": 3}),
        ("a\u2028b\x85c\x0bd\x1ce\rf", "a b c d e f", {"space": 5}),
        ("a \r", "a", {}),
        ("\ufeffa\xadb\x00c\u200bd\u202e", "abcd", {"invisible": 5}),
        ("▁a▁b", "_a_b", {"mark": 2}),
        ("👨\u200d👩 می\u200cخواهم", "👨\u200d👩 می\u200cخواهم", {}),
        ("Straße ﬁ ½ é e\u0301", "Straße ﬁ ½ é e\u0301", {}),
    ],
)
def test_cleaning(text, clean, counts):
    found = Counter()
    assert clean_line(text, found) == clean
    assert found == Counter(counts)


@pytest.mark.parametrize("mode", ["penn", "moses", "none"])
def test_no_character_makes_a_second_line_or_a_stray_word_boundary(mode):
    """Every character of Unicode's first two planes, alone and inside a word."""
    tokenizer = WordTokenizer(mode, "en")
    for start in range(0, 0x20000, 0x400):
        characters = [chr(c) for c in range(start, start + 0x400) if not 0xD800 <= c < 0xE000]
        text = " ".join(f"a{c}b {c}" for c in characters)
        words = tokenizer.tokenize(text)
        assert words == " ".join(words.split())
        assert len(words.splitlines()) <= 1
        assert "▁" not in words
        assert not any(unicodedata.category(c) == "Cc" for c in words)


def test_words_of_penn_are_those_of_treebanks():
    words = WordTokenizer("penn", "en").tokenize(TEXTS[0])
    assert words == (
        "I do n't know , ca n't you ? They 're well @-@ known ( really ) , Mr. Smith ."
    )
    assert WordTokenizer("penn", "en").tokenize("It’s “fine”, he cannot") == (
        "It 's “ fine ” , he can not"
    )


def test_words_of_moses():
    assert WordTokenizer("moses", "en").tokenize("I don't <b> & a-b") == "I don 't < b > & a-b"
    assert WordTokenizer("moses", "de").tokenize("Er sagt: „Nein.“") == "Er sagt : „ Nein . “"


def test_none_keeps_words():
    assert WordTokenizer("none", "xx").tokenize(" a  can't b@@ c\xa0") == "a can't b@@ c"
    assert WordTokenizer("none", "xx").detokenize("a can't ,") == "a can't ,"


@pytest.mark.parametrize("mode", ["penn", "moses"])
@pytest.mark.parametrize("text", TEXTS)
def test_joined_again(mode, text):
    tokenizer = WordTokenizer(mode, "en")
    assert tokenizer.detokenize(tokenizer.tokenize(text)) == text


def test_joined_again_on_real_text(shared):
    from syntax_nmt.data.text_files import read_lines

    for mode, lang in (("penn", "en"), ("moses", "en"), ("moses", "de")):
        tokenizer = WordTokenizer(mode, lang)
        lines = [
            " ".join(line.split()) for line in read_lines(shared / f"data/multi30k/val.{lang}.gz")
        ]
        same = sum(tokenizer.detokenize(tokenizer.tokenize(line)) == line for line in lines)
        assert same >= 0.98 * len(lines)


def test_negations():
    assert moses_negations(["do", "n't", "it", "'s"]) == ["don", "'t", "it", "'s"]
    for cut in (["do", "n't"], ["CA", "N'T"], ["x", "'s"], ["'t"], []):
        assert penn_negations(moses_negations(cut)) == cut


def test_defaults():
    assert [default_mode(lang) for lang in ("en", "en_GB", "en-GB", "de", "enm")] == [
        *("penn", "penn", "penn", "moses", "moses")
    ]


@pytest.mark.parametrize(
    ("mode", "lang", "message"),
    [
        ("penn", "de", "tokenizer 'penn' is for English and the language is 'de'"),
        ("spacy", "en", "tokenizer 'spacy' is not one of penn, moses, none"),
    ],
)
def test_mistakes(mode, lang, message):
    with pytest.raises(UserError, match=message):
        WordTokenizer(mode, lang)


def test_fairseq_finds_it_by_name_and_options():
    arguments = ["data", "--path", "x", "--tokenizer", "syntax_words", "--source-lang", "en"]
    arguments += ["--target-lang", "de", "--target-tokenizer", "none"]
    parser = options.get_interactive_generation_parser()
    args = options.parse_args_and_arch(parser, arguments)
    tokenizer = encoders.build_tokenizer(args)
    assert isinstance(tokenizer, SyntaxWords)
    assert tokenizer.encode("I don't.") == "I do n't ."
    assert tokenizer.decode("Ja , gut .") == "Ja , gut ."


def test_a_missing_language_is_one_line():
    with pytest.raises(SystemExit) as error:
        SyntaxWords(SyntaxWordsConfig(source_lang="en"))
    assert str(error.value) == (
        "syntax_nmt: error: --tokenizer syntax_words does not know the target language: "
        "add --target-lang, or --target-tokenizer none"
    )
    SyntaxWords(SyntaxWordsConfig(source_tokenizer="none", target_tokenizer="none"))
