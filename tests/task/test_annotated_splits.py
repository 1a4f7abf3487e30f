"""Folders of a training: languages that are not given; parts (`data1:data2`) share dictionaries."""

import shutil

import pytest
from fairseq.data import Dictionary
from fairseq.tasks.translation import TranslationConfig

from syntax_nmt.errors import UserError
from syntax_nmt.task.annotated_splits import AnnotatedSplits, check_languages
from syntax_nmt.task.options import SyntaxTranslationConfig


@pytest.fixture
def folders(tmp_path):
    """Two folders with the same dictionaries."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for language in ("src", "tgt"):
            (tmp_path / name / f"dict.{language}.txt").write_text("a 2\nb 1\n")
    return tmp_path / "one", tmp_path / "two"


def check(*folders):
    data = ":".join(map(str, folders))
    check_languages(TranslationConfig(data=data, source_lang="src", target_lang="tgt"))


def test_the_same_or_none(folders):
    check(*folders)
    (folders[1] / "dict.src.txt").unlink()
    check(*folders)


def test_words_of_other_numbers_are_refused_before_any_training(folders):
    """As many words: nothing else would tell."""
    (folders[1] / "dict.tgt.txt").write_text("b 2\na 1\n")
    with pytest.raises(UserError, match=r"two/dict.tgt.txt: another dictionary than .*one/dict.tg"):
        check(*folders)


def test_a_folder_that_is_not_there(folders):
    shutil.rmtree(folders[1])
    with pytest.raises(UserError, match="two: no such folder; give data-bin folders with :"):
        check(*folders)


def test_other_labels_are_refused_before_any_training(folders):
    """The second folder is opened in the second epoch."""

    def split(load_chunks):
        data = ":".join(map(str, folders))
        cfg = SyntaxTranslationConfig(data=data, load_chunks=load_chunks)
        AnnotatedSplits(cfg, (Dictionary(), Dictionary()))

    split(True)
    for folder, label in zip(folders, ("NP", "VP")):
        (folder / "dict.chunks.txt").write_text(f"{label}\n")
    split(False)
    with pytest.raises(UserError, match=r"two/dict.chunks.txt: other labels than .*one/dict.chunk"):
        split(True)


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ((None, None), ("pt-BR", "en")),
        (("pt-BR", None), ("pt-BR", "en")),
        # fairseq alone would take the pair of the file names, and drop what is given.
        (("en", None), ("en", "pt-BR")),
        ((None, "pt-BR"), ("en", "pt-BR")),
        (("en", "pt-BR"), ("en", "pt-BR")),
    ],
)
def test_what_is_not_given(tmp_path, given, taken):
    cfg = languages(tmp_path, *given)
    check_languages(cfg)
    assert (cfg.source_lang, cfg.target_lang) == taken


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("test.pt-BR-en.en.idx", "its texts are binarised: leave --dataset-impl raw out"),
        ("test.pt-BR-en.en", "its texts are not binarised: add --dataset-impl raw"),
        ("valid.pt-BR-en.en", "the data folder has no such split"),
    ],
)
def test_a_split_in_another_format(tmp_path, file, said):
    cfg = SyntaxTranslationConfig(data=str(tmp_path), source_lang="en", target_lang="pt-BR")
    (tmp_path / file).touch()
    assert AnnotatedSplits(cfg, (Dictionary(), Dictionary())).why_missing("test", 1) == said


def test_a_language_without_texts(tmp_path):
    cfg = languages(tmp_path, "fr", None)
    with pytest.raises(UserError, match=r"give --source-lang and --target-lang .*en, fr, pt-BR"):
        check_languages(cfg)


def languages(folder, source, target):
    for language in ("pt-BR", "en", "fr"):
        (folder / f"dict.{language}.txt").write_text("a 1\n")
    for language in ("pt-BR", "en"):
        (folder / f"train.pt-BR-en.{language}.idx").touch()
    return TranslationConfig(data=str(folder), source_lang=source, target_lang=target)
