"""Annotation of another text, of an older one, or in a folder that was moved."""

import json
import os

import pytest
from corrupted_data import loaded, other_data
from corruptions import Workspace

from syntax_nmt.errors import UserError

HEADS = "valid.src-tgt.src.heads"
TEXT = "valid.src-tgt.src"


@pytest.fixture(scope="module")
def other(prepared, tmp_path_factory):
    """A data-bin folder of the same numbers of sentences and subwords, and of other words."""
    return other_data(prepared, tmp_path_factory.mktemp("other")) / "data-bin"


@pytest.fixture
def space(prepared, tmp_path):
    return Workspace(prepared.data, tmp_path / "data-bin")


def refused(space):
    with pytest.raises(UserError) as caught:
        loaded(space, HEADS)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def put(space, source, *names):
    for name in names:
        space.write(name, (source / name).read_bytes())


def test_the_other_folder_is_in_order_and_of_the_same_shape(prepared, other, tmp_path):
    found = loaded(Workspace(other, tmp_path / "other"), HEADS)
    mine = loaded(Workspace(prepared.data, tmp_path / "mine"), HEADS)
    lengths = [dict(value for value in read if value[0] == "src_lengths") for read in (found, mine)]
    assert lengths[0] == lengths[1]
    assert dict(found[:5]) != dict(mine[:5])


PARTS = (f"{HEADS}.bin", f"{HEADS}.idx")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (PARTS, f"{HEADS}.bin: damaged or not written by the last binarize (checksum"),
        (
            (*PARTS, "syntax.json"),
            f"{TEXT}.bin: has changed since {HEADS} was made for it (checksum",
        ),
        ((f"{TEXT}.bin", f"{TEXT}.idx"), f"{TEXT}.bin: has changed since valid"),
        (
            ("valid.src-tgt.tgt.bin", "valid.src-tgt.tgt.idx"),
            "valid.src-tgt.tgt.bin: has changed since valid",
        ),
    ],
)
def test_files_of_another_text_of_the_same_lengths(space, other, names, said):
    put(space, other, *names)
    assert said in refused(space)


def test_an_older_manifest(space, other):
    names = [path.name for path in other.iterdir() if path.name != "syntax.json"]
    put(space, other, *names)
    assert "run `syntax-nmt binarize`" in refused(space)


@pytest.mark.parametrize("lang", ["src", "tgt"])
def test_another_dictionary(space, lang):
    name = f"dict.{lang}.txt"
    first, second, *rest = space.original(name).splitlines(keepends=True)
    space.write(name, b"".join([second, first, *rest]))
    assert f"{name}: has changed since valid" in refused(space)


def changed_manifest(space, change):
    """`change` is given the entries of the manifest by name."""
    content = json.loads(space.original("syntax.json"))
    change(content["files"])
    space.write("syntax.json", json.dumps(content).encode())


@pytest.mark.parametrize("name", [f"{HEADS}.bin", f"{TEXT}.idx"])
def test_a_manifest_that_leaves_a_checksum_out(space, name):
    changed_manifest(space, lambda entries: entries[HEADS]["files"].pop(name))
    assert f"syntax.json: damaged (no checksum of {name} for {HEADS})" in refused(space)


def test_a_manifest_of_before_dictionaries_had_checksums(space):
    def forget(entries):
        for entry in entries.values():
            for language in ("src", "tgt"):
                entry["files"].pop(f"dict.{language}.txt", None)

    changed_manifest(space, forget)
    loaded(space, HEADS)


def test_another_number_of_sentences_in_the_manifest(space):
    changed_manifest(space, lambda entries: entries[HEADS].update(sentences=21))
    assert f"{HEADS}.idx: 20 sentences, syntax.json says 21" in refused(space)


def test_a_newer_file_of_the_same_content(space):
    os.utime(space / f"{TEXT}.bin")
    os.utime(space / "syntax.json", (0, 0))
    loaded(space, HEADS)


@pytest.mark.parametrize("how", ["moved", "linked", "files linked"])
def test_another_place(prepared, tmp_path, how):
    expected = loaded(Workspace(prepared.data, tmp_path / "here"), HEADS)
    there = tmp_path / "there"
    if how == "moved":
        (tmp_path / "here").rename(there)
    elif how == "linked":
        there.symlink_to(prepared.data)
    else:
        there.mkdir()
        for path in prepared.data.iterdir():
            (there / path.name).symlink_to(path)

    class Place:
        folder = there

    assert loaded(Place, HEADS) == expected


def test_a_damaged_text_without_annotation(space):
    """No checksum tells, but what does not fit together is refused, and before fairseq maps it."""
    content = bytearray(space.original(f"{TEXT}.bin"))
    content[0:2] = b"\xff\xff"
    space.write(f"{TEXT}.bin", bytes(content))
    with pytest.raises(UserError, match=r"src\.bin: token 65535, dict\.src\.txt has \d+ entries"):
        loaded(space, HEADS, load=False)
    space.mend()
    space.write(f"{TEXT}.idx", (space / "test.src-tgt.src.idx").read_bytes())
    with pytest.raises(UserError, match=r"damaged \(\d+ numbers where the index has \d+\)"):
        loaded(space, HEADS, load=False)
    space.write(f"{TEXT}.idx", None)
    with pytest.raises(UserError, match=r"src\.idx: not found: run fairseq-preprocess"):
        loaded(space, HEADS, load=False)
    space.mend()
    for ending in ("bin", "idx"):
        space.write(f"{TEXT}.{ending}", (space / f"train.src-tgt.src.{ending}").read_bytes())
    with pytest.raises(UserError, match=r"different numbers of sentences .*300.* 20"):
        loaded(space, HEADS, load=False)
