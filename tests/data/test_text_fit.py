"""Text that does not look like what a model was trained on is told from text that does."""

import random

import pytest
from fairseq.data import Dictionary, indexed_dataset

from syntax_nmt.data.text_fit import CUT_TWICE, SWAPPED, UNCUT, UNKNOWN, TextFit

ADVICE = {kind: f"<{kind}>" for kind in (CUT_TWICE, UNCUT, UNKNOWN, SWAPPED)}
WORDS = {"en": ["the", "dog", "sleeps"], "de": ["der", "Hund", "bellt"]}


def text(lang: str, words: int = 600, pieces: bool = True) -> list[str]:
    drawn = random.Random(lang).choices(WORDS[lang], k=words)
    drawn = [f"▁{word[:2]} {word[2:]}" if pieces else word for word in drawn]
    return [" ".join(drawn[i : i + 10]) for i in range(0, words, 10)]


def made(folder, pieces: bool = True, joined: bool = True) -> TextFit:
    """A data-bin folder of both languages; the vocabulary of words has every word of both."""
    texts = {lang: text(lang, pieces=pieces) for lang in WORDS}
    dictionaries = []
    for lang, lines in texts.items():
        dictionary = Dictionary()
        for line in [*texts["en"], *texts["de"]] if joined else lines:
            dictionary.encode_line(line)
        prefix = folder / f"train.en-de.{lang}"
        builder = indexed_dataset.make_builder(f"{prefix}.bin", "mmap", len(dictionary))
        for line in lines:
            builder.add_item(dictionary.encode_line(line, add_if_not_exist=False))
        builder.finalize(f"{prefix}.idx")
        dictionaries.append(dictionary)
    return TextFit(folder, ("en", "de"), dictionaries)


def problem(fit: TextFit, lines: list[str], pieces: list[str] | None = None, target=False):
    read = [line.split() for line in (lines if pieces is None else pieces)]
    return fit.problem(lines, read, ADVICE, target)


@pytest.mark.parametrize("pieces", [True, False])
@pytest.mark.parametrize("joined", [True, False])
def test_its_own_text_fits(tmp_path, pieces, joined):
    fit = made(tmp_path, pieces, joined)
    for target, lang in enumerate(WORDS):
        own = text(lang, pieces=pieces)
        assert problem(fit, own, target=bool(target)) is None
        assert problem(fit, own[:1], target=bool(target)) is None
        assert problem(fit, text(lang, pieces=False), own, target=bool(target)) is None
    assert problem(fit, []) is None
    assert problem(fit, [""]) is None


def test_raw_text_is_not_taken_for_pieces(tmp_path):
    fit = made(tmp_path)
    said = problem(fit, text("en", pieces=False)[:1])
    assert said == "is not in pieces of sentencepiece, as the model's vocabulary is: <uncut>"


def test_a_damaged_training_text_is_none(tmp_path):
    fit = made(tmp_path)
    for file in tmp_path.glob("train.*.idx"):
        file.write_bytes(file.read_bytes()[:40])
    assert problem(fit, text("en", pieces=True)) is None


@pytest.mark.parametrize("mark", ["▁", "@@"])
def test_pieces_are_not_cut_again(tmp_path, mark):
    fit = made(tmp_path)
    given = text("en") if mark == "▁" else ["sl@@ eeps now"] * 3
    again = [" ".join(f"▁_ {word}" for word in line.split()) for line in given]
    assert problem(fit, given, again).endswith("already, which were cut again: <cut twice>")
    rare = ["a word that ends in @@ is rare", *["the dog"] * 30]
    assert problem(fit, rare, ["▁the"] * 31) is None


def test_the_other_language(tmp_path):
    fit = made(tmp_path)
    assert problem(fit, text("de")) == "reads like de and not like en: <swapped>"
    assert problem(fit, text("en"), target=True) == "reads like en and not like de: <swapped>"
    assert problem(fit, text("de")[:20]) is None  # too little to tell
    both = [line for pair in zip(text("en"), text("de")) for line in pair]
    assert problem(fit, both) is None


def test_the_other_language_in_a_folder_of_the_other_direction(tmp_path):
    """A data-bin serves both; its files are called by one of them."""
    dictionaries = made(tmp_path).dictionaries
    fit = TextFit(tmp_path, ("de", "en"), dictionaries[::-1])
    assert problem(fit, text("de")) is None
    assert problem(fit, text("en")) == "reads like en and not like de: <swapped>"


def test_what_the_vocabulary_does_not_have(tmp_path):
    fit = made(tmp_path, pieces=False, joined=False)
    assert problem(fit, text("de", pieces=False)) == (
        "has 100% tokens that the en vocabulary does not have: <unknown>"
    )
    mixed = [f"the dog sleeps {line}" for line in ["new"] * 200]
    assert problem(fit, mixed) is None


def test_a_sentencepiece_model_of_another_corpus(tmp_path, monkeypatch):
    monkeypatch.setattr("syntax_nmt.data.text_fit._FEWEST_TYPES", 4)
    fit = made(tmp_path)
    own = {piece for line in text("en") for piece in line.split()}
    assert fit.other_model(own) is None
    assert fit.other_model(own | {"▁more"}) is None
    others = {piece for line in text("de") for piece in line.split()}
    assert fit.other_model(others) == "has 0% of the pieces of the en training text"
    fit.dictionaries[0].symbols[4:] = [f"▁(N{n}" for n in range(len(fit.dictionaries[0]) - 4)]
    assert fit.other_model(others) is None  # brackets of linearised text are no model's
    words = tmp_path / "words"
    words.mkdir()
    assert made(words, pieces=False).other_model(others) is None
