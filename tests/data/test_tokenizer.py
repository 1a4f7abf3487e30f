"""Words of raw text: cleaning, cutting, joining again, and fairseq's --tokenizer."""

import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from fairseq import options
from fairseq.data import encoders

from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.word_tokenizer import WordTokenizer, default_mode
from syntax_nmt.task.tokenizer import SyntaxWords, SyntaxWordsConfig
from syntax_nmt.text.cleaning import clean_line, contractions_apart, moses_negations, penn_negations
from syntax_nmt.text.unspaced import lacks_spaces, looks_segmented, split_characters

TEXTS = [
    "I don't know, can't you? They're well-known (really), Mr. Smith.",
    'He cannot say "yes" in the U.S. for $5.50 or 3,000 dollars...',
    "DON'T wanna; it's gonna be John's, or the dogs' T-shirt.",
    "One. Two! Three?",
]
FRENCH = ("fr", "fr_FR", "fr-CA", "fra", "FRE")


@pytest.mark.parametrize(
    ("text", "clean", "counts"),
    [
        ("a b", "a b", {}),
        ("a\xa0b\u3000c\td", "a b c d", {"space": 3}),
        ("a\u2028b\x85c\x0bd\x1ce\rf", "a b c d e f", {"space": 5}),
        ("a \r", "a", {}),
        ("\u3000日本\u3000", "日本", {"space": 1}),
        (" \t \xa0a \xa0", "a", {"space": 2}),
        ("\ufeff\u3000a", "a", {"invisible": 1, "space": 1}),
        (" \u3000 ", "", {}),
        ("\ufeffa\xadb\x00c\u200bd\u202e", "abcd", {"invisible": 5}),
        ("▁a▁b", "_a_b", {"mark": 2}),
        ("👨\u200d👩 می\u200cخواهم\u200c", "👨\u200d👩 می\u200cخواهم\u200c", {}),
        ("\u200da \u200c\u200d b\u200b\xa0\u200dc", "a  b c", {"invisible": 5, "space": 1}),
        ("\u061cא\u200f", "א", {"invisible": 2}),
        ("Straße ﬁ ½ é e\u0301", "Straße ﬁ ½ é e\u0301", {}),
    ],
)
def test_cleaning(text, clean, counts):
    found = Counter()
    assert clean_line(text, found) == clean
    assert found == Counter(counts)


@pytest.mark.parametrize(
    ("mode", "counts"), [("penn", {"apostrophe": 3, "space": 1}), ("moses", {"space": 1})]
)
def test_apostrophes_that_become_plain_are_counted(mode, counts):
    found = Counter()
    WordTokenizer(mode, "en").tokenize_lines(["It’s ‘x’\xa0don’t", "d’accord, the dogs’"], found)
    assert found == Counter(counts)


def test_apostrophes_become_plain_where_moses_fails(monkeypatch):
    tokenizer = WordTokenizer("penn", "en")
    monkeypatch.setattr(tokenizer._moses, "tokenise", lambda text, **options: None)
    found = Counter()
    assert tokenizer.tokenize("It’s", found) == tokenizer.tokenize("It's")
    assert found == Counter(apostrophe=1, fallback=1)


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["i can 't tell", "It 's", "no", "they ’ll go", "do n't"],
         [(1, "can 't"), (2, "It 's"), (4, "they ’ll"), (5, "do n't")]),
        (["I &apos;m", "HE &apos;D", "don &apos;t"],
         [(1, "I &apos;m"), (2, "HE &apos;D"), (3, "don &apos;t")]),
        (["i can 't", "it 's"], []),  # too few
        (["I 'm", "It 's", "I 'd", *["I'm, don't"] * 30], []),  # raw, with mistakes
        (["I 'm", "It 's", "I 'd", *["I'm, don't"] * 25], [(1, "I 'm"), (2, "It 's"), (3, "I 'd")]),
        (["rock 'n' roll", "the '90s", "He said: 'so what'", "the letter 's'", "n't"] * 9, []),
    ],
)  # fmt: skip
def test_contractions_that_stand_apart(lines, found):
    """As tokenisers leave them; cut once more they would be other words (`can ' t`)."""
    assert contractions_apart(lines) == found


WORDS = [
    ("penn", "en", TEXTS[0], "I do n't know , ca n't you ? They 're well @-@ known ( really ) ,"
     " Mr. Smith ."),
    ("penn", "en", "It’s “fine”, he cannot", "It 's “ fine ” , he can not"),
    ("moses", "en", "I don't <b> & a-b", "I don 't < b > & a-b"),
    ("moses", "de", "Er sagt: „Nein.“", "Er sagt : „ Nein . “"),
    ("none", "xx", " a  can't b@@ c\xa0", "a can't b@@ c"),
    # A joiner holds letters and not signs.
    ("moses", "fa", "می\u200cخواهم، نمی\u200c، خوب", "می\u200cخواهم ، نمی\u200c ، خوب"),
    ("moses", "fa", "cafe\u0301, 🇩🇪🇯🇵 ﾟ ❤\ufe0f!", "cafe\u0301 , 🇩🇪 🇯🇵 ﾟ ❤\ufe0f !"),
    ("char", "zh", "他说：“Hello, world！”", "他 说 ： “ Hello , world ！ ”"),
    ("char", "zh", "2019年Wi-Fi用户3,000.5万（约50%）。",
     "2019 年 Wi-Fi 用 户 3,000.5 万 （ 约 50 % ） 。"),
    ("char", "zh", "等等……好——吧!!", "等 等 …… 好 —— 吧 !!"),
    ("char", "zh", "コーーヒーを２杯、人々〇ｶﾞｽ", "コ ー ー ヒ ー を ２ 杯 、 人 々 〇 ｶﾞ ｽ"),
    ("char", "zh", "น้ำไทย ๒๕๖๓", "น้ำ ไ ท ย ๒๕๖๓"),
    ("char", "zh", "한국어 조사", "한국어 조사"),
    ("char", "zh", "see http://a.b/c_d at 12:30", "see http://a.b/c_d at 12:30"),
    ("char", "zh", "卡\ufe0f葛󠄀城👨\u200d👩\u200d👧🇩🇪🇯🇵❤\ufe0f",
     "卡\ufe0f 葛󠄀 城 👨\u200d👩\u200d👧 🇩🇪 🇯🇵 ❤\ufe0f"),
    ("char", "zh", "a@-@b @@ x▁&apos;", "a @ - @ b @@ x _ & apos ;"),
    ("char", "zh", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "lang", "text", "words"), WORDS)
def test_words(mode, lang, text, words):
    assert WordTokenizer(mode, lang).tokenize(text) == words


def test_none_joins_nothing():
    assert WordTokenizer("none", "xx").detokenize("a can't ,") == "a can't ,"


@pytest.mark.parametrize("mode", ["penn", "moses"])
@pytest.mark.parametrize("text", TEXTS)
def test_joined_again(mode, text):
    tokenizer = WordTokenizer(mode, "en")
    assert tokenizer.detokenize(tokenizer.tokenize(text)) == text


def test_what_moses_cannot_join_stays_apart():
    tokenizer = WordTokenizer("moses", "cs")
    assert tokenizer.detokenize("je-' - li tam' - li .") == "je-' - li tam' - li ."
    assert tokenizer.detokenize("Ano , dobře .") == "Ano, dobře."


@pytest.mark.parametrize(
    ("mode", "lang", "text"),
    [
        ("moses", "fr", "L'élève a été reçu, café-crème compris."),
        ("moses", "de", "größere Bären; Äh..."),
        ("moses", "vi", "tiếng Việt, (rất hay)!"),
        ("penn", "en", "naïve café-like résumés can't; the fiancée's"),
    ],
)
def test_accents_behind_their_letters_change_no_word(mode, lang, text):
    tokenizer = WordTokenizer(mode, lang)
    decomposed = tokenizer.tokenize(unicodedata.normalize("NFD", text))
    assert decomposed == unicodedata.normalize("NFD", tokenizer.tokenize(text))


@pytest.mark.parametrize(
    ("lang", "text", "words"),
    [
        ("yo", "Ọ̀rọ̀, ẹ̀kọ́.", "Ọ̀rọ̀ , ẹ̀kọ́ ."),
        ("ru", "большо́й за́мок-музе́й", "большо́й за́мок-музе́й"),
        ("hi", "क्या आप हिन्दी बोलते हैं?", "क्या आप हिन्दी बोलते हैं ?"),
        ("ar", "السَّلَامُ عَلَيْكُمْ.", "السَّلَامُ عَلَيْكُمْ ."),
        *((code, "L'homme n'est pas là.", "L' homme n' est pas là .") for code in FRENCH),
    ],
)
def test_marks_that_have_no_composed_letter_and_apostrophes(lang, text, words):
    """The latter under all codes of their language."""
    tokenizer = WordTokenizer("moses", lang)
    assert tokenizer.tokenize(text) == words
    assert tokenizer.detokenize(words) == text


def test_joined_again_on_real_text(shared):
    for mode, lang in (("penn", "en"), ("moses", "en"), ("moses", "de")):
        tokenizer = WordTokenizer(mode, lang)
        raw = read_lines(shared / f"data/multi30k/val.{lang}.gz")
        lines = [" ".join(line.split()) for line in raw]
        same = sum(tokenizer.detokenize(tokenizer.tokenize(line)) == line for line in lines)
        assert same >= 0.98 * len(lines)


def test_negations():
    assert moses_negations(["do", "n't", "it", "'s"]) == ["don", "'t", "it", "'s"]
    for cut in (["do", "n't"], ["CA", "N'T"], ["x", "'s"], ["'t"], []):
        assert penn_negations(moses_negations(cut)) == cut


def test_defaults():
    for mode, codes in (
        ("penn", "en en_GB en-GB"),
        ("moses", "de enm ko vi zhx"),
        ("char", "zh zh_TW zh-Hans-CN cmn yue zho_Hant ja ja_JP jpn th lo km my TH-th"),
    ):
        assert {lang: default_mode(lang) for lang in codes.split()} == dict.fromkeys(
            codes.split(), mode
        )


@pytest.mark.parametrize(
    "text",
    [
        "他说：“Hello, world！”",
        "“不用了。”“是的”，GCHQ“认证”了——2017年512年-511年。",
        'iPhone卖$5.50（约1.5℃）, Mr. Smith (aged 3) said "no" or "yes" in Hong Kong。',
        "電池は「コーヒー」・ＡＢＣを２０１９年。",
        "ภาษาไทย๒๕๖๓",
        "等等……",
    ],
)
@pytest.mark.parametrize("mode", ["char", "stanza"])
def test_text_without_spaces_joined_again(mode, text):
    tokenizer = WordTokenizer(mode, "zh")
    assert tokenizer.detokenize(" ".join(split_characters(text))) == text


def test_real_chinese_and_japanese_joined_again(shared):
    found = {}
    for lang in ("zh", "ja"):
        raw = _texts(shared / f"data/ud/PUD/{lang}_pud-ud-test.conllu.gz")
        tokenizer = WordTokenizer("char", lang)
        words = tokenizer.tokenize_lines(raw)
        assert sum(len(line.split()) for line in words) > 20 * len(raw)
        same = sum(map(str.__eq__, map(tokenizer.detokenize, words), raw))
        found[lang] = same / len(raw)
    assert found["zh"] >= 0.995
    assert found["ja"] >= 0.99


def test_text_that_is_cut_already_is_told_from_text_that_is_not(shared):
    tatoeba = [line.split("\t")[1] for line in read_lines(shared / "data/tatoeba/cmn.txt.gz")]
    assert not looks_segmented(tatoeba)
    assert lacks_spaces(tatoeba)
    assert not lacks_spaces(read_lines(shared / "data/tanaka/train.ja.gz"))
    assert not lacks_spaces(read_lines(shared / "data/multi30k/train.de.gz"))
    assert looks_segmented(read_lines(shared / "data/tanaka/train.ja.gz"))
    assert not looks_segmented(read_lines(shared / "data/multi30k/train.de.gz"))
    for lang in ("zh", "ja"):
        path = shared / f"data/ud/PUD/{lang}_pud-ud-test.conllu.gz"
        assert not looks_segmented(_texts(path))
        assert looks_segmented(" ".join(tree.words) for tree in read_conllu(path))


def test_phrases_of_thai_and_a_few_spaces_are_no_words():
    thai = "สวัสดีครับผมชื่อสมชาย ผมเป็นคนไทยและชอบกินข้าว มากกว่าขนมปัง"
    assert not looks_segmented([thai])
    assert looks_segmented(["สวัสดี ครับ ผม ชื่อ สมชาย"])
    assert not looks_segmented(["我 love 你们大家 yes", "他说：「好的，谢谢你」 再见"])
    assert not looks_segmented([])
    assert looks_segmented(["我 喜欢 你们 大家"] * 2 + ["我喜欢你们大家"])
    assert not looks_segmented(["我 喜欢 你们 大家"] * 2 + ["我喜欢你们大家"] * 2)


def _texts(path) -> list[str]:
    lines = (line[len("# text = ") :] for line in read_lines(path) if line.startswith("# text = "))
    return [" ".join(line.split()) for line in lines]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("char", "zh", Path("z.pt")),
            r"segmenter z\.pt is for tokenizer 'stanza', not for 'char'",
        ),
        (("penn", "de"), "tokenizer 'penn' is for English and the language is 'de'"),
        (("spacy", "en"), "tokenizer 'spacy' is not one of penn, moses, char, stanza, none"),
    ],
)
def test_mistakes(arguments, message):
    with pytest.raises(UserError, match=message):
        WordTokenizer(*arguments)


def test_what_decides_the_words_is_known(tmp_path):
    assert WordTokenizer("char", "zh").fingerprint() == ["char", "zh"]
    model = tmp_path / "zh.pt"
    model.write_bytes(b"one")
    one = WordTokenizer("stanza", "zh", model).fingerprint()
    model.write_bytes(b"two")
    assert one[:2] == ["stanza", "zh"]
    assert one != WordTokenizer("stanza", "zh", model).fingerprint()


@pytest.mark.parametrize(("mode", "lang"), [("moses", "de"), ("penn", "en")])
def test_words_of_older_rules_are_not_taken_for_these(mode, lang, monkeypatch):
    """Such as those of accents that were written behind their letters."""
    now = WordTokenizer(mode, lang).fingerprint()
    assert now != [mode, lang]  # what 0.1.0 recorded
    monkeypatch.setattr("syntax_nmt.parsing.word_tokenizer.RULES", "those of later")
    assert WordTokenizer(mode, lang).fingerprint() != now


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
    with pytest.raises(UserError) as error:
        SyntaxWords(SyntaxWordsConfig(source_lang="en"))
    assert str(error.value) == (
        "--tokenizer syntax_words does not know the target language: "
        "add --target-lang, or --target-tokenizer none"
    )
    SyntaxWords(SyntaxWordsConfig(source_tokenizer="none", target_tokenizer="none"))
