"""sentencepiece models, the pieces they cut, and the sample of a corpus that they learn from."""

import pytest
import sentencepiece

from syntax_nmt.errors import UserError
from syntax_nmt.preparation import corpus, segment
from syntax_nmt.preparation.segment import load_sentencepiece, segment_file, train_model

SENTENCES = [
    "the old cat sees the small dog .",
    "a dog hears the cat .",
    "",
    "x ² ﬁ , é e\u0301 🦊",
]


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words"
    path.write_text("".join(f"{line}\n" for line in SENTENCES * 5), encoding="utf-8")
    return path


def test_pieces_spell_the_words(words, tmp_path):
    model, pieces = tmp_path / "model", tmp_path / "pieces"
    assert train_model([words], model, 50) == 50
    counts = segment_file(model, words, pieces, threads=1)
    lines = pieces.read_text(encoding="utf-8").split("\n")[:-1]
    assert [line.replace(" ", "").replace("▁", " ").strip() for line in lines] == SENTENCES * 5
    assert counts["words"] == len(" ".join(SENTENCES * 5).split())
    assert counts["pieces"] == len(" ".join(lines).split())
    assert counts["lines"] == 20


def test_a_size_too_large_is_lowered(words, tmp_path):
    size = train_model([words], tmp_path / "model", 8000)
    assert 24 < size == load_sentencepiece(tmp_path / "model").get_piece_size() < 120


def test_a_size_too_small_names_the_number(words, tmp_path):
    with pytest.raises(UserError, match=r"--vocab-size 9: .* hold \d+ different characters"):
        train_model([words], tmp_path / "model", 9)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        (
            SENTENCES[:1],
            {"vocab_size": 290, "byte_fallback": True, "normalization_rule_name": "identity"},
            r"words:2: .*other\.model spells .* --byte_fallback=false",
        ),
        (
            SENTENCES,
            {"vocab_size": 25, "normalization_rule_name": "nmt_nfkc_cf"},
            r"words:4: .* changes the text",
        ),
    ],
)
def test_models_that_do_not_spell_the_words_are_refused(words, tmp_path, lines, options, message):
    """One spells in bytes, another normalises."""
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines * 5), model_prefix=str(tmp_path / "other"),
        hard_vocab_limit=False, minloglevel=2, **options,
    )  # fmt: skip
    with pytest.raises(UserError, match=message):
        segment_file(tmp_path / "other.model", words, tmp_path / "pieces", threads=1)
    assert not (tmp_path / "pieces").exists()


def test_no_text(tmp_path):
    (tmp_path / "empty").write_text("\n\n")
    message = "sentencepiece cannot be trained on .*empty: all lines are blank: give text with"
    with pytest.raises(UserError, match=message):
        train_model([tmp_path / "empty"], tmp_path / "model", 100)


def test_a_long_text_is_sampled_evenly(tmp_path, monkeypatch):
    words = tmp_path / "words"
    words.write_text("".join(f"{'ab' if number % 3 else 'cd'}\n" for number in range(300)))
    model = tmp_path / "model"
    monkeypatch.setattr(segment, "MOST_LINES", 100)
    train_model([words], model, 8)  # every third line: all of them `cd`
    pieces = load_sentencepiece(model)
    assert pieces.unk_id() in pieces.encode("ab")
    assert pieces.unk_id() not in pieces.encode("cd")
    monkeypatch.setattr(segment, "MOST_LINES", 300)
    train_model([words], model, 8)
    assert load_sentencepiece(model).unk_id() not in load_sentencepiece(model).encode("abcd")


def test_a_sample_is_of_pairs_in_the_order_of_the_corpus(tmp_path):
    """Each of ten stretches of two texts gives one; a side drawn again has the same lines."""
    for name, numbers in (("one", range(60)), ("two", range(60, 101))):
        for side in "st":
            text = "".join(f"{side}{number}\n" for number in numbers)
            (tmp_path / f"{name}.{side}").write_text(text)
    for output, side in (("s", "s"), ("again", "s"), ("t", "t")):
        texts = [tmp_path / f"{name}.{side}" for name in ("one", "two")]
        corpus._draw(texts, 101, 10, tmp_path / output)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "s").read_bytes()
    source, target = ((tmp_path / side).read_text().split() for side in "st")
    assert [word[1:] for word in source] == [word[1:] for word in target]
    places = [int(word[1:]) for word in source]
    assert all(10 * i <= place < 10 * (i + 1) for i, place in enumerate(places[:9]))
    assert 90 <= places[9] < 101
    assert places != list(range(0, 100, 10))
