"""Text that is in another language than it is said to be gets a line; other text gets none."""

import gzip
from itertools import islice
from types import SimpleNamespace

import pytest
from commands import syntax_nmt

from syntax_nmt.parsing.stanza.models import StanzaModels
from syntax_nmt.preparation.annotators import annotator
from syntax_nmt.preparation.annotators.annotator import ModelAnnotator
from syntax_nmt.preparation.foreign_text import foreign_texts

SPLITS = ("train", "valid", "test")


@pytest.fixture(scope="module")
def words(prepared):
    """The words of both languages, by split."""
    folder = prepared.folder / "words"
    return {name: (folder / f"{name}.src", folder / f"{name}.tgt") for name in SPLITS}


def test_the_text_of_the_same_language(words):
    assert [*foreign_texts(words["train"], [words["valid"], words["test"]])] == []


def test_exchanged_files(words):
    source, target = words["valid"]
    lines = [*foreign_texts(words["train"], [words["test"], (target, source)])]
    for line, text in zip(lines, (target, source), strict=True):
        assert line.startswith(f"warning: {text}: ")
        assert line.endswith("% in that of the other: are the files exchanged?")


def test_text_of_neither_language(words, tmp_path):
    other = tmp_path / "other"
    other.write_text("no word of it is in any training text\n" * 30)
    (line,) = foreign_texts(words["train"], [(other, words["test"][1])])
    assert line.endswith("its language, is it of another language or domain?")
    other.write_text("too few words to say\n")
    assert [*foreign_texts(words["train"], [(other, words["test"][1])])] == []


@pytest.mark.parametrize(
    ("knows", "said"),
    [
        (lambda _: True, None),
        (lambda _: None, None),
        (lambda word: word == "the", "know 10.00% of"),
    ],
)
def test_text_that_the_models_do_not_know(knows, said, tmp_path, monkeypatch):
    monkeypatch.setattr(annotator, "loaded_analyser", lambda *_: SimpleNamespace(knows=knows))
    text = tmp_path / "text"
    text.write_text("the a b c d e f g h i 1 2 3 .\n" * 20)
    found = ModelAnnotator(StanzaModels("dependencies", "en", None, ())).foreign(text)
    assert (found is None) == (said is None)
    if found is not None:
        assert found.startswith(f"warning: {text}: the models of 'en' {said}")


@pytest.mark.dear
def test_prepare_says_which_files_are_exchanged(prepared, tmp_path):
    for name in SPLITS:
        for language in ("src", "tgt"):
            text = (prepared.corpus / f"{name}.{language}").read_bytes()
            other = {"src": "tgt", "tgt": "src"}[language] if name == "test" else language
            (tmp_path / f"{name}.{other}").write_bytes(text)
    done = syntax_nmt(
        *("prepare", "--source-lang", "src", "--target-lang", "tgt", "--no-parse"),
        *(part for name in SPLITS for part in (f"--{name}pref", tmp_path / name)),
        *("--vocab-size", "400", "--destdir", tmp_path / "prepared"),
    )
    exchanged = [line for line in done.stderr.splitlines() if "exchanged?" in line]
    assert [line.split(": ")[1] for line in exchanged] == [
        f"{tmp_path}/prepared/words/test.{language}" for language in ("src", "tgt")
    ]


@pytest.mark.dear
@pytest.mark.parametrize("language", ["de", "en"])
def test_real_text_and_a_real_tagger(shared, tmp_path, language):
    with gzip.open(shared / f"data/multi30k/val.{language}.gz", "rt", encoding="utf-8") as lines:
        (tmp_path / "text").write_text("".join(islice(lines, 40)), encoding="utf-8")
    files = ("--input", tmp_path / "text", "--output", tmp_path / "out")
    done = syntax_nmt("parse", "--lang", "en", "--stanza-dir", shared / "models/en", *files)
    assert "40 annotated (100.00%)" in done.stderr
    assert ("is it of another language?" in done.stderr) == (language == "de")
