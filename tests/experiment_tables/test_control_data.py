"""Data with annotation without syntax differ from the family's in that annotation alone."""

import json
import os

import pytest
from nonempty import some

pytest.importorskip("jsonschema", reason="the extra `experiments` is not installed")
from experiments.corpus import plan_control, prepare
from syntax_nmt.data.annotation import COLUMNS
from syntax_nmt.data.chunks import read_chunks
from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.errors import UserError

pytestmark = pytest.mark.dear

FEATURES = [column.name for column in COLUMNS]
OF_TARGET = ("target_upos", "target_deprel")
OPTIONS = (
    "--source-tokenizer none --target-tokenizer none --vocab-size 400 "
    f"--features {','.join(FEATURES)} --target-features upos,deprel"
)


@pytest.fixture
def plan(prepared, tmp_path):
    """Of the corpus of all tests, as if the workflow had prepared it."""
    family = tmp_path / "family"
    family.mkdir()
    (family / "corpus").symlink_to(prepared.corpus)
    (family / "prepared").symlink_to(prepared.folder)
    data = {"source": "src", "target": "tgt", "prepare": OPTIONS, "demo": ""}
    return {"key": "family", "data": data, "tests": ["test"], "texts": {}, "stanza": "None"}


def made(plan, folder, kind):
    control = plan_control(plan, kind, seed=2)
    folder = folder / control["key"]
    folder.mkdir()
    with open(os.devnull) as lock:
        prepare(control, folder, lock.fileno())
    assert "checksum" in json.loads((folder / "done.json").read_text(encoding="utf-8"))
    return folder


def differing(before, after):
    """The binarised files that are not the same."""
    names = {file.name for file in before.glob("*.*") if file.suffix in (".bin", ".idx", ".txt")}
    assert names == {f.name for f in after.glob("*.*") if f.suffix in (".bin", ".idx", ".txt")}
    return {name for name in names if (before / name).read_bytes() != (after / name).read_bytes()}


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("borrowed", {"heads", "phrases", "chunks", *FEATURES, *OF_TARGET, "trees"}),
        ("chain", {"heads", "deprel", "target_deprel"}),
        ("balanced", {"phrases", "trees"}),
        ("right", {"phrases", "trees"}),
        ("dummy", {*FEATURES, *OF_TARGET}),
        ("majority", {*FEATURES, *OF_TARGET}),
    ],
)
def test_all_but_the_annotation_is_the_same(prepared, plan, tmp_path, kind, changed):
    folder = made(plan, tmp_path, kind)
    found = differing(prepared.data, folder / "prepared" / "data-bin")
    assert {name.split(".")[-2] for name in found} == changed
    assert {"train", "valid", "test"} <= {name.split(".")[0] for name in found}
    for split in ("train", "valid", "test"):
        places = [root / "words" for root in (prepared.folder, folder / "prepared")]
        before, after = (list(read_conllu(place / f"{split}.src.conllu")) for place in places)
        assert [tree.words for tree in before] == [tree.words for tree in after]
        before, after = (list(read_chunks(place / f"{split}.tgt.chunks")) for place in places)
        assert (before == after) == (kind != "borrowed")


def test_dummies_are_one_value(plan, tmp_path):
    folder = made(plan, tmp_path, "dummy")
    for name in some(FEATURES):
        labels = (folder / f"prepared/data-bin/dict.{name}.txt").read_text().split()
        assert labels == ["<unk>", "X", "_"]


def test_the_majority_is_that_of_the_training_text(plan, tmp_path):
    """In all splits alike: a word has one value."""
    folder = made(plan, tmp_path, "majority") / "prepared/words"
    files = (folder / f"{split}.src.conllu" for split in ("train", "valid", "test"))
    trees = [tree for file in files for tree in read_conllu(file)]
    pairs = {pair for tree in trees for pair in zip(tree.words, tree.relations)}
    assert len({word for word, _ in pairs}) == len(pairs) > 50


def test_what_is_to_be_parsed_comes_without_annotation(plan, tmp_path):
    options = "--source-tokenizer none --target-tokenizer none --vocab-size 400 --no-parse"
    plan["data"]["prepare"] = options
    folder = made(plan, tmp_path, "parsed")
    family = tmp_path / "family" / "corpus"
    annotation = (".conllu", ".trees", ".chunks")
    texts = {file.name for file in family.iterdir() if not file.name.endswith(annotation)}
    assert {"train.src", "test.tgt", "test.align", "contrast.src"} < texts
    assert {file.name for file in (folder / "corpus").iterdir()} == texts
    assert all((folder / "corpus" / x).read_bytes() == (family / x).read_bytes() for x in texts)
    data_bin = folder / "prepared" / "data-bin"
    assert {file.name.count(".") for file in some(data_bin.glob("train.*.bin"))} == {3}


def test_without_annotation_there_is_no_control(plan, tmp_path):
    (tmp_path / "bare" / "corpus").mkdir(parents=True)
    (tmp_path / "bare" / "prepared" / "words").mkdir(parents=True)
    with pytest.raises(UserError, match="has no annotation for a control of the kind borrowed"):
        made({**plan, "key": "bare"}, tmp_path, "borrowed")
