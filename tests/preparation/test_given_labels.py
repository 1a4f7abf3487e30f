"""`binarize --labels`: folders whose ids are those of one list, whatever their own text has."""

import shutil

import pytest
from cut_corpus import run_preprocess
from test_features import TRAIN, rows_of, run, write

from syntax_nmt.data.manifest import read_manifest
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.binarizing import binarize

OTHER = [("go", "VERB", "root"), ("the X@Y", "DET SYM", "det root")]


@pytest.fixture
def folders(tmp_path):
    """A folder with lists of its own, and one whose text has other tags."""
    for name, sentences in (("first", TRAIN), ("second", OTHER)):
        (tmp_path / name).mkdir()
        write(tmp_path / name, "train", sentences)
        dictionaries = [f"--{side}dict={tmp_path}/first/data-bin/dict.{lang}.txt"
                        for side, lang in (("src", "de"), ("tgt", "en"))]  # fmt: skip
        more = dictionaries if name == "second" else []
        run_preprocess(tmp_path / name, *more, trainpref=tmp_path / name / "bpe/train")
    run(tmp_path / "first", splits=("train",))
    return tmp_path / "first", tmp_path / "second"


def lists(folder):
    return {path.name: path.read_bytes() for path in (folder / "data-bin").glob("dict.*.txt")}


@pytest.mark.parametrize("data_bin", [True, False])
def test_ids_are_those_of_the_folder_that_is_given(folders, data_bin):
    first, second = folders
    run(second, splits=("train",), labels=first / "data-bin" if data_bin else first)
    assert lists(first) == lists(second)
    assert (first / "data-bin/dict.upos.txt").read_text().split() == [
        "<unk>", "DET", "NOUN", "VERB", "_",
    ]  # fmt: skip
    assert rows_of(second, "upos") == [[4], [2, 1, 1]]


def test_one_list_alone(folders):
    first, second = folders
    run(second, splits=("train",), labels=first / "data-bin/dict.upos.txt", feature_threshold=1)
    assert rows_of(second, "upos") == [[4], [2, 1, 1]]
    assert (second / "data-bin/dict.deprel.txt").read_text().split() == [
        "<unk>",
        "det",
        "root",
        "_",
    ]


def test_chunks_of_a_list(tmp_path, folders):
    """A sentence with a type that the list does not have counts as not annotated."""
    first, second = folders
    for folder, tags in (
        (first, ["B-NP I-NP B-VP"] * 2 + ["O", ""]),
        (second, ["B-VP", "B-NP B-X"]),
    ):
        (folder / "tok/train.en.chunks").write_text("".join(f"{line}\n" for line in tags))
    run(first, splits=("train",))
    said = []
    run(second, splits=("train",), labels=first, report=said.append)
    assert lists(first) == lists(second)
    found = read_manifest(second / "data-bin")["train.de-en.en.chunks"]
    assert (found.sentences, found.annotated) == (2, 1)
    assert any("chunk types that dict.chunks.txt does not have" in line for line in said)


def test_a_split_of_another_list_is_not_left_behind(folders):
    """Its ids would mean other labels."""
    first, second = folders
    run(second, splits=("train",), feature_threshold=1)
    before = lists(second)
    with pytest.raises(UserError, match=r"train\.de-en\.de\.upos was made with another dict.upos"):
        binarize_valid(second, first)
    assert lists(second) == before


def binarize_valid(folder, labels):
    write(folder, "valid", OTHER)
    for lang in ("de", "en"):
        for end in ("bin", "idx"):
            name = f"data-bin/{{}}.de-en.{lang}.{end}"
            shutil.copy(folder / name.format("train"), folder / name.format("valid"))
    return run(folder, splits=("valid",), labels=labels)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.unlink(), r"has no dict\.upos\.txt, which .*conllu needs"),
        (lambda path: path.write_text("<unk>\nVERB\nDET\n_\n"), "no list that `syntax-nmt binar"),
        (lambda path: path.write_text("DET\nVERB\n"), "no list that `syntax-nmt binarize` writes"),
        (lambda path: path.write_text("<unk>\nDET\nDET\n_\n"), "no list that `syntax-nmt binariz"),
    ],
)
def test_what_is_no_list(folders, spoil, message):
    first, second = folders
    spoil(first / "data-bin/dict.upos.txt")
    before = sorted(path.name for path in (second / "data-bin").iterdir())
    with pytest.raises(UserError, match=message):
        run(second, splits=("train",), labels=first)
    assert sorted(path.name for path in (second / "data-bin").iterdir()) == before


@pytest.mark.parametrize("name", ["nowhere", "tok/train.de", "data-bin/dict.chunks.txt"])
def test_what_names_no_list(folders, name):
    first, second = folders
    (first / "data-bin/dict.chunks.txt").write_text("NP\n")
    with pytest.raises(UserError, match=r"no list of labels|no text has chunks"):
        run(second, splits=("train",), labels=first / name)


def test_a_list_without_annotation_is_refused_by_the_command(folders):
    with pytest.raises(UserError, match="no annotation found"):
        binarize(
            "de", "en", folders[1] / "data-bin", trainpref=str(folders[1] / "bpe/train"),
            labels=folders[0], report=lambda line: None,
        )  # fmt: skip
