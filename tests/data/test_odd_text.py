"""Odd text through every way to cut words: one line stays one line and says what it said."""

import random
import re
import time
import unicodedata
from collections import Counter
from itertools import accumulate

import pytest
import regex
from parsing_stand_in import Tokeniser

from syntax_nmt.parsing.stanza import segmenter
from syntax_nmt.parsing.word_tokenizer import WordTokenizer
from syntax_nmt.text.cleaning import clean_line

WAYS = [
    *(("penn", "en"), ("moses", "en"), ("moses", "de"), ("moses", "fr"), ("moses", "cs")),
    *(("moses", "fa"), ("moses", "hi"), ("moses", "ko"), ("char", "zh"), ("char", "th")),
    *(("stanza", "zh"), ("stanza", "en"), ("none", "xx")),
]
INVISIBLE = "\xad\u061c\u180e\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\ufeff"
INVISIBLE += (
    "".join(map(chr, [*range(0x2060, 0x2065), *range(0x2066, 0x2070)])) + "\ufff9\ufffa\ufffb"
)
SPACES = "\t\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
SPACES += "".join(map(chr, range(0x2000, 0x200B)))
LINES = [
    "",
    "     ",
    SPACES,
    f"a{SPACES}b".join("xyz"),
    "👨\u200d👩\u200d👧\u200d👦 👩🏽\u200d🚀,🏴\U000e0067\U000e0062\U000e007f. ❤\ufe0f\u200d🔥!",
    "🇩🇪🇯🇵🇨 🇳 flags🇫🇷, 🇺🇸.",
    "cafe\u0301, nai\u0308ve-e\u0301 o\u0302\u0323 Z\u0351\u036b\u0343algo \u0301lone a \u0301",
    "\u200f\u202bשלום, עולם!\u202c \u061cمرحبا\u200e (abc) \u2067x\u2069",
    "می\u200cخواهم، نمی\u200cدانم\u200c. \u200c \u200d\u200d ه\u200d \u200dه",
    "क्\u200dष हिन्दी, तमिल் நி। ক্ষ",
    "a\x00b\x01\x07\x08\x1b[0mc\x7f\x80\x9f",
    "a\x85b\u2028c\u2029d\x0be\x0cf\x1cg\x1dh\x1ei\rj",
    "\ue000private\uf8ff \U000f0000\U0010fffd",
    "\u0378unassigned\u0cff \U0001fbff\ufdd0\ufffe\U0010ffff",
    "▁▁a▁b▁ ▁",
    "@@ a@@ @@b @-@ a @-@ b a@-@b @/@ @ - @ -@-@-",
    "&apos; &amp;apos; don&apos;t &quot; &#91; &lt;b&gt; R&D &;",
    "ＡＢＣ　１２３，（ｆｕｌｌ）！ ｶﾞｷﾞ､ﾟ ￦￥",
    "DOTMULTI DOTDOTMULTI .MULTI DOT..MULTI ...DOTMULTI... #NUMERIC_ONLY# THISISPROTECTED000",
    "don't won’t can't CAN’T 'tis o'clock cannot gonna gotta ’ a’b ‘x’ n't 't",
    "_ELLIPSIS_ -LRB- `` '' \"'\"' ``x'' <unk> <s> </s> <PAD> ||| \\1 \\n $1",
    "U.S.A. Mr. e.g. x.... ... . .. 3.14. No. 5 no. a.b.c -.-",
    "中文 English混排，한국어도 ไทย 日本語ー々〆𠮟る𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
    "ㅤ ﾠ\u115f\u1160\u2800 \u034f \ufe0f \u20dd",
    "https://a.b/c?d=e&f=g#h user@example.com @handle #tag 50%-60% ½ ² ﬁ ß İ ı",
]


@pytest.fixture(params=WAYS, ids=lambda way: "-".join(way))
def tokenizer(request, monkeypatch, tmp_path) -> WordTokenizer:
    mode, lang = request.param
    model = None
    if mode == "stanza":
        pipeline = Tokeniser()
        pipeline.processors["tokenize"].trainer.args["shorthand"] = f"{lang}_standin"
        monkeypatch.setattr(segmenter, "_load", lambda lang, model: pipeline)
        segmenter.loaded_segmenter.cache_clear()
        model = tmp_path / "model.pt"
        model.touch()
    yield WordTokenizer(mode, lang, model)
    segmenter.loaded_segmenter.cache_clear()


def what_it_says(text: str, mode: str) -> str:
    """The characters of a cleaned line but spaces, with what mode `penn` may change."""
    if mode == "penn":
        text = re.sub("(?<=[A-Za-z])’(?=[A-Za-z])", "'", text)
    return "".join(text.split())


def check(tokenizer: WordTokenizer, line: str, words: str) -> None:
    """The words say what the line says, and no reader sees other words or lines."""
    assert words == " ".join(words.split()), ascii(line)
    assert len(words.splitlines()) <= 1, ascii(line)
    said = words
    if tokenizer.mode == "penn":
        said = " ".join("-" if word == "@-@" else word for word in words.split())
    cleaned = clean_line(line)
    expected = what_it_says(cleaned, tokenizer.mode)
    assert what_it_says(said, tokenizer.mode) == expected, ascii(line)
    if tokenizer.mode != "none":
        check_characters_are_whole(cleaned, said)
    if "@" not in said:  # `@-@` is a hyphen cut apart
        joined = tokenizer.detokenize(words)
        assert "".join(joined.split()) == "".join(said.split()), ascii(line)


def check_characters_are_whole(cleaned: str, words: str) -> None:
    """No word ends inside a grapheme cluster, or between a joiner and a letter."""
    begins = set()
    position = 0
    for word in cleaned.split():
        before = " "
        for cluster in regex.findall(r"\X", word):
            if before[-1] not in "\u200c\u200d" or not cluster[0].isalpha():
                begins.add(position)
            position += len(cluster)
            before = cluster
    cut = accumulate(map(len, words.split()[:-1]), initial=0)
    assert not words or begins.issuperset(cut), ascii(cleaned)


def test_odd_lines(tokenizer):
    counts = Counter()
    words = tokenizer.tokenize_lines(LINES, counts)
    assert len(words) == len(LINES)
    for line, cut in zip(LINES, words):
        check(tokenizer, line, cut)
    assert [tokenizer.tokenize(line) for line in LINES] == words
    expected = {"moses": 1, "penn": 1}  # DOTMULTI
    assert counts["fallback"] == expected.get(tokenizer.mode, 0)


def test_random_text(tokenizer):
    """Random characters, and random neighbours of what tokenisers have rules for."""
    rng = random.Random(11)
    parts = [part for line in LINES for part in re.findall(r"\w+|\W", line)]
    lines = []
    for _ in range(1000):
        text = "".join(_random_character(rng) for _ in range(rng.randint(1, 60)))
        lines += [text, "".join(rng.choices(parts, k=rng.randint(1, 25)))]
    words = tokenizer.tokenize_lines(lines)
    assert len(words) == len(lines) == 2000
    for line, cut in zip(lines, words):
        check(tokenizer, line, cut)


def _random_character(rng: random.Random) -> str:
    ranges = [(0, 0x7F), (0x80, 0x6FF), (0x2000, 0x33FF), (0x1F000, 0x1FFFF), (0, 0x10FFFF)]
    code = rng.randint(*rng.choice(ranges))
    return " " if code == 0x0A or 0xD800 <= code < 0xE000 else chr(code)


@pytest.mark.parametrize(
    "line",
    [
        *("a" * 100_000, "a b " * 25_000, "word. U.S. " * 25_000, "." * 100_000, ". " * 50_000),
        *("DOTMULTI" * 12_000, "' " * 50_000, "''" * 50_000, "a-" * 50_000, "1,2 " * 25_000),
        *("好。" * 50_000, "👨\u200d👩\u200d👧" * 20_000, "🇩🇪" * 25_000, "e" + "\u0301" * 100_000),
        *("a\u200d" * 50_000, " \u200d" * 50_000, "a" + " " * 100_000 + "b", "@-@ " * 30_000),
    ],
    ids=lambda line: ascii(line[:8]),
)
@pytest.mark.parametrize(("mode", "lang"), [("penn", "en"), ("moses", "de"), ("char", "zh")])
def test_long_lines_take_no_more_than_their_length(mode, lang, line):
    """100,000 characters take a fraction of a second; anything quadratic takes minutes."""
    tokenizer = WordTokenizer(mode, lang)
    start = time.process_time()
    words = tokenizer.tokenize(line)
    tokenizer.detokenize(words)
    assert time.process_time() - start < 5
    said = " ".join("-" if word == "@-@" else word for word in words.split())
    assert "".join(said.split()) == "".join(clean_line(line).split())


def test_cleaning_changes_documented_characters_alone():
    """Every character of Unicode, inside a word."""
    for start in range(0, 0x110000, 0x1000):
        codes = [c for c in range(start, start + 0x1000) if not 0xD800 <= c < 0xE000 and c != 0x0A]
        text = "".join(f"a{chr(c)}b" for c in codes)
        assert clean_line(text) == "".join(f"a{_documented(chr(c))}b" for c in codes)


def _documented(character: str) -> str:
    if character in SPACES:
        return " "
    if character in INVISIBLE or unicodedata.category(character) == "Cc":
        return ""
    return "_" if character == "▁" else character


def test_what_is_documented_as_a_space_is_what_python_splits_at():
    assert {chr(c) for c in range(0x110000) if chr(c).isspace()} == {*SPACES, "\n"}
