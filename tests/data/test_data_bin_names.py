"""Names in a data-bin folder: what they tell, and what of them reaches fairseq's paths."""

import pytest
from prepared_corpus import task_of
from small_models import write_dictionaries

from syntax_nmt.cli import main
from syntax_nmt.data.data_bin_names import (
    FORMATS,
    TextName,
    are_names,
    format_of,
    is_name,
    language_pairs,
)
from syntax_nmt.errors import UserError
from syntax_nmt.inspection.data_folder import find_data

NAMES = ("de", "zh-Hans", "pt_BR", "en.tok", "train1", "3", "русский", "valid-old_2")
NO_NAMES = (
    "",
    "-s",
    ".",
    "..",
    ".de",
    "a b",
    "a;b",
    "a/b",
    "a\n",
    "$x",
    "`x`",
    "a|b",
    "a&",
    "a'b",
    "#",
)


@pytest.mark.parametrize("name", NAMES)
def test_names(name):
    assert is_name(name)
    assert are_names(f"{name},test")


@pytest.mark.parametrize("name", NO_NAMES)
def test_others(name):
    assert not is_name(name)
    assert not are_names(f"test,{name}")


@pytest.mark.parametrize("options", [{"dataset_impl": "fasta"}, {"dataset_impl": "huffman"}])
def test_formats_on_a_command_line(tmp_path, options):
    with pytest.raises(UserError, match=r"--dataset-impl \w+: .* give one of mmap, cached, lazy"):
        task_of(write_dictionaries(tmp_path), "src", "tgt", **options)
    for name in (*FORMATS, None):
        assert task_of(tmp_path, "src", "tgt", dataset_impl=name)


def test_languages_on_a_command_line(tmp_path):
    with pytest.raises(UserError, match="--target-lang 'tgt;x' is no plain name: give one of let"):
        task_of(write_dictionaries(tmp_path), "src", "tgt;x")


def test_splits_on_a_command_line(prepared):
    with pytest.raises(UserError, match=r"split 'test;x' is no plain name"):
        task_of(prepared.data, "src", "tgt").load_dataset("test;x")


@pytest.mark.parametrize("command", ["prepare", "binarize"])
def test_languages_of_a_preparation(tmp_path, capsys, command):
    with pytest.raises(SystemExit):
        main([command, "--source-lang", "a;b", "--target-lang", "de", "--destdir", str(tmp_path)])
    assert "--source-lang: 'a;b' is no plain name: give one of letters" in capsys.readouterr().err


def test_a_text_of_another_format(tmp_path):
    """The source is whole, and the target's only file is one that a shell would read."""
    data = write_dictionaries(tmp_path)
    (data / "test.src-tgt.tgt.fasta").touch()
    with pytest.raises(UserError, match=r"test\.src-tgt\.tgt\.fasta: fairseq reads this .* shell"):
        task_of(data, "src", "tgt")


def test_the_format_of_a_folder(prepared, tmp_path):
    assert format_of(prepared.data) is None
    assert format_of(write_dictionaries(tmp_path)) is None
    (tmp_path / "dict.zh-Hans.txt").touch()
    assert format_of(tmp_path) is None
    (tmp_path / "test.src-tgt.src").touch()
    assert format_of(tmp_path) == "raw"


@pytest.mark.parametrize(
    ("names", "pairs"),
    [
        (("dict.pt-BR.txt", "train.pt-BR-en.pt-BR.idx"), [("pt-BR", "en")]),
        (("dict.pt-BR.txt", "train.pt-BR-en.en.idx"), [("pt-BR", "en")]),
        (("test.de-en.de.idx", "test.de-en.de.heads.idx"), [("de", "en")]),
        (("train.fr-en.fr.idx", "test.de-en.de.idx"), [("fr", "en"), ("de", "en")]),
        (("train.de-en.de", "train.de-en.en", "dict.de.txt"), [("de", "en")]),
        (("dict.de-AT.txt", "preprocess.log"), []),
    ],
)
def test_languages_of_texts(tmp_path, names, pairs):
    for name in names:
        (tmp_path / name).touch()
    assert language_pairs(tmp_path) == pairs


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("train.de-en.de", ("train", ("de", "en"), "de")),
        ("test1.zh-Hans-en.zh-Hans", ("test1", ("zh-Hans", "en"), "zh-Hans")),
        ("train.en-zh-Hans.en", ("train", ("en", "zh-Hans"), "en")),
        ("valid.de-None.de", ("valid", ("de", "None"), "de")),
        ("train.en.tok-de.en.tok", ("train", ("en.tok", "de"), "en.tok")),
        ("train.de-en.fr", None),
        ("train.en", None),
        ("train.align.de-en", None),
        ("model", None),
    ],
)
def test_names_of_texts(name, parts):
    parsed = TextName.parse(name)
    assert parsed == (parts and TextName(*parts))
    assert parsed is None or str(parsed) == name


def test_what_lies_in_a_folder(tmp_path):
    texts = ["train.de-en.de", "train.de-en.en", "train2.de-en.de", "train10.de-en.de"]
    texts += ["valid.de-en.de", "test.de-en.en", "extra.de-en.de"]
    for name in reversed(texts):
        (tmp_path / f"{name}.idx").touch()
    for name in ("train.de-en.de.heads.bin", "dict.de.txt", "syntax.json"):
        (tmp_path / name).touch()
    found = find_data(tmp_path)
    assert [str(text) for text in found.texts] == texts
    assert found.annotation == ("train.de-en.de.heads",)


def test_sources_come_before_targets(tmp_path):
    for name in ("test.fr-en.en", "test.fr-en.fr"):
        (tmp_path / f"{name}.bin").touch()
    assert [text.language for text in find_data(tmp_path).texts] == ["fr", "en"]
