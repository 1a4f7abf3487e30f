"""Words by Stanza's tokeniser: which model, what happens to odd lines, and a trained one."""

import random
from collections import Counter
from itertools import accumulate
from pathlib import Path

import pytest
from commands import succeed
from parsing_stand_in import Tokeniser

from syntax_nmt.errors import UserError
from syntax_nmt.parsing.stanza import segmenter
from syntax_nmt.parsing.stanza.segmenter import StanzaSegmenter, find_segmenter
from syntax_nmt.parsing.word_tokenizer import WordTokenizer
from syntax_nmt.task.tokenizer import SyntaxWords, SyntaxWordsConfig

WORDS = ("我", "你们", "喜欢", "苹果", "电视机", "的", "看见", "了", "今天")


@pytest.fixture
def stand_in(monkeypatch, tmp_path) -> tuple[Tokeniser, Path]:
    pipeline = Tokeniser()
    monkeypatch.setattr(segmenter, "_load", lambda lang, model: pipeline)
    segmenter.loaded_segmenter.cache_clear()
    model = tmp_path / "model.pt"
    model.write_bytes(b"stand-in")
    yield pipeline, model
    segmenter.loaded_segmenter.cache_clear()


def test_a_line_stays_one_line_and_says_what_it_said(stand_in):
    pipeline, model = stand_in
    lines = ["你好。世界们", "", "  ", "a bcd\u3000好", "你\n好 ", "好" * 1203]
    words = StanzaSegmenter("zh", model).segment(lines)
    assert words[:5] == [["你好", "。世", "界们"], [], [], ["a", "bc", "d", "好"], ["你", "好"]]
    assert "".join(words[5]) == lines[5]
    assert len(pipeline.texts) == 1


def test_long_lines_are_read_in_stretches_that_end_with_a_sentence(stand_in):
    pipeline, model = stand_in
    StanzaSegmenter("zh", model).segment(["一" * 300 + "。" + "二" * 450, "三" * 40_000] * 3)
    paragraphs = [paragraph for text in pipeline.texts for paragraph in text.split("\n\n")]
    assert paragraphs[:2] == ["一" * 300 + "。", "二" * 450]
    assert max(map(len, paragraphs)) == 500
    assert len(pipeline.texts) == 2
    assert max(map(len, pipeline.texts)) < 110_000


def test_lines_that_fail_are_found_and_the_others_are_not_touched(stand_in):
    _, model = stand_in
    bad = ["好☠", "好☣", "好☢"]
    rng = random.Random(3)
    lines = [rng.choice([*bad, "你好吗", ""]) for _ in range(200)]
    expected = [None if line in bad else ["你好", "吗"] if line else [] for line in lines]
    assert StanzaSegmenter("zh", model).segment(lines) == expected


def test_failing_lines_are_cut_into_characters_and_counted(stand_in):
    _, model = stand_in
    counts = Counter()
    tokenizer = WordTokenizer("stanza", "zh", model)
    lines = ["你好吗", "好☠吗\xa0Wi-Fi", "", "很好☣", "a" * 600 + "☠"]
    assert tokenizer.tokenize_lines(lines, counts) == [
        *("你好 吗", "好 ☠ 吗 Wi-Fi", "", "很 好 ☣", "a" * 600 + " ☠")
    ]
    assert counts == Counter(fallback=3, space=1)
    assert tokenizer.tokenize("👨\u200d👩好e\u0301吗") == "👨\u200d👩好 e\u0301 吗"


def _models(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


OWN_LAYOUT = {
    "zh-hans/tokenize/gsdsimp.pt": ("zh", "zh_CN", "cmn"),
    "zh-hant/tokenize/gsd.pt": ("zho_Hant", "zh-TW"),
    "ja/tokenize/gsd.pt": ("jpn", "ja_JP"),
}


@pytest.mark.parametrize(("found", "languages"), OWN_LAYOUT.items())
def test_models_in_stanzas_own_layout(tmp_path, found, languages):
    _models(tmp_path, *OWN_LAYOUT)
    (tmp_path / "resources.json").write_text('{"zh": {"alias": "zh-hans"}}', encoding="utf-8")
    for lang in languages:
        assert find_segmenter(lang, tmp_path) == tmp_path / found
    assert find_segmenter("zh", tmp_path / found) == tmp_path / found


def test_stanzas_own_folder_is_the_default(tmp_path, monkeypatch):
    monkeypatch.setattr(segmenter, "default_folder", lambda: tmp_path)
    _models(tmp_path, "th/tokenize/best.pt")
    assert find_segmenter("th") == tmp_path / "th/tokenize/best.pt"


def test_models_that_are_not_there(tmp_path):
    with pytest.raises(UserError, match="no such file or folder"):
        WordTokenizer("stanza", "zh", tmp_path / "none.pt").check()
    with pytest.raises(UserError, match=r"looked for zh-tw.* and zh/tokenize/\*\.pt in .*download"):
        find_segmenter("zh-tw-x", tmp_path)
    _models(tmp_path, "ja/tokenize/a.pt", "ja/tokenize/b.pt")
    with pytest.raises(UserError, match=r"several models \(a\.pt, b\.pt\): give the file of one"):
        find_segmenter("ja", tmp_path)


def test_a_model_of_another_language_is_refused(stand_in):
    _, model = stand_in
    for lang in ("zh", "zh_TW", "cmn"):
        StanzaSegmenter(lang, model)
    with pytest.raises(UserError, match="is of language 'zh', the text is of language 'ja'"):
        StanzaSegmenter("ja", model)


def test_a_file_that_is_no_model(tmp_path):
    (tmp_path / "model.pt").write_bytes(b"not a model")
    with pytest.raises(UserError, match=r"Stanza cannot load the tokeniser .*model\.pt"):
        WordTokenizer("stanza", "zh", tmp_path / "model.pt").check()


def _write_training_text(folder: Path, name: str, sentences: int, seed: int) -> None:
    rng = random.Random(seed)
    texts, labels = [], []
    for _ in range(sentences):
        words = [*rng.choices(WORDS, k=rng.randint(2, 6)), "。"]
        texts.append("".join(words))
        ends = "".join("0" * (len(word) - 1) + "1" for word in words)
        labels.append(ends[:-1] + "2")
    (folder / f"{name}.txt").write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    (folder / f"{name}.labels").write_text("\n\n".join(labels) + "\n", encoding="utf-8")


@pytest.fixture(scope="session")
def tiny_segmenter(tmp_path_factory) -> Path:
    """A tokeniser of ten words, trained in a few seconds."""
    folder = tmp_path_factory.mktemp("segmenter")
    _write_training_text(folder, "train", 300, seed=1)
    _write_training_text(folder, "dev", 20, seed=2)
    (folder / "mwt.json").write_text("[]", encoding="utf-8")
    options = ["--txt_file", "train.txt", "--label_file", "train.labels", "--cpu", "--skip_newline"]
    options += ["--dev_txt_file", "dev.txt", "--dev_label_file", "dev.labels"]
    options += ["--mwt_json_file", "mwt.json", "--lang", "zh", "--shorthand", "zh_tiny"]
    options += ["--steps", "120", "--eval_steps", "120", "--lr0", "0.02", "--hidden_dim", "16"]
    options += ["--max_seqlen", "60", "--save_dir", ".", "--save_name", "tiny.pt"]
    succeed("stanza.models.tokenizer", *options, cwd=folder)
    return folder / "tiny.pt"


@pytest.mark.slow
def test_a_trained_model(tiny_segmenter):
    tokenizer = WordTokenizer("stanza", "zh", tiny_segmenter)
    tokenizer.check()
    rng = random.Random(5)
    gold = [" ".join(rng.choices(WORDS, k=rng.randint(1, 8))) + " 。" for _ in range(200)]
    raw = ["".join(line.split()) for line in gold]
    counts = Counter()
    cut = tokenizer.tokenize_lines(raw, counts)
    assert word_f1(cut, gold) > 0.95
    assert not counts
    assert [tokenizer.detokenize(line) for line in cut] == raw
    assert [tokenizer.tokenize(line) for line in raw[:40]] == cut[:40]
    odd = ["", "我" * 3000, "<PAD> 我", "🦊", "我\u2028你们。 我", "\u200d", "😀" * 1200]
    words = tokenizer.tokenize_lines(odd, counts)
    assert ["".join(line.split()) for line in words] == [
        *("", "我" * 3000, "<PAD>我", "🦊", "我你们。我", "", "😀" * 1200)
    ]


@pytest.mark.slow
def test_fairseq_cuts_source_lines_as_prepare_does(tiny_segmenter):
    config = SyntaxWordsConfig(source_lang="zh", target_lang="ja", source_tokenizer="stanza")
    config.source_segmenter = str(tiny_segmenter)
    config.target_tokenizer = "stanza"  # joins without the model, which is not there
    words = SyntaxWords(config)
    assert words.encode("我喜欢苹果。") == "我 喜欢 苹果 。"
    assert words.decode("リンゴ が 好き 。") == "リンゴが好き。"
    config.source_segmenter = None
    config.source_lang = "lo"
    with pytest.raises(UserError, match=r"^no Stanza tokeniser for .* 'lo'"):
        SyntaxWords(config)


def word_f1(cut: list[str], gold: list[str]) -> float:
    """F1 of words in their places."""
    found = [_spans(line) for line in cut]
    true = [_spans(line) for line in gold]
    agreeing = sum(len(a & b) for a, b in zip(found, true))
    return 2 * agreeing / (sum(map(len, found)) + sum(map(len, true)))


def _spans(line: str) -> set[tuple[int, int]]:
    ends = list(accumulate(map(len, line.split()), initial=0))
    return set(zip(ends, ends[1:]))
