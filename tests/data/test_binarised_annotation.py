import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from fairseq.data.indexed_dataset import MMapIndexedDatasetBuilder

from syntax_nmt.data import ragged
from syntax_nmt.data.annotation import HEADS, KINDS, TARGET_HEADS
from syntax_nmt.data.annotation.columns import LEMMA, XPOS
from syntax_nmt.data.binarised_annotation import open_annotation
from syntax_nmt.data.data_bin import load_dictionary, split_prefixes
from syntax_nmt.data.manifest import AnnotationFile, Fingerprint, read_manifest, write_manifest
from syntax_nmt.data.ragged import RaggedArray, RaggedWriter, narrowest
from syntax_nmt.errors import UserError
from syntax_nmt.inspection.data_inspection import differences

NAME = "train.de-en.de"
SIZES = [3, 1, 4]  # tokens with EOS
KIND = {**{kind.name: kind for kind in KINDS}, HEADS.name: HEADS}
ROWS = {
    "heads": [[1, 1], [], [-1, -1, -1]],
    "phrases": [[2], [], [-1]],
    "chunks": [[1, 2], [], [0, 1, 0]],
}


def write_rows(prefix, rows, width="int32"):
    with RaggedWriter(prefix, np.dtype(width)) as writer:
        for row in rows:
            writer.write(np.array(row, dtype=np.int32), [len(row)])


def write_all(folder, rows=None):
    builder = MMapIndexedDatasetBuilder(str(folder / f"{NAME}.bin"), dtype=np.uint16)
    for size in SIZES:
        builder.add_item(torch.full((size,), 5))
    builder.finalize(str(folder / f"{NAME}.idx"))
    (folder / "dict.chunks.txt").write_text("NP\nVP\n")
    manifest = {}
    for kind, kind_rows in {**ROWS, **(rows or {})}.items():
        write_rows(folder / f"{NAME}.{kind}", kind_rows)
        names = [f"{prefix}.{end}" for prefix in (f"{NAME}.{kind}", NAME) for end in ("bin", "idx")]
        names += ["dict.chunks.txt"] * (kind == "chunks")
        files = {name: Fingerprint.of(folder / name) for name in names}
        source = f"train.de.{kind}"
        manifest[f"{NAME}.{kind}"] = AnnotationFile(3, 1, source, Fingerprint(0, "0" * 8), files)
    write_manifest(folder, manifest)
    return folder


def open_kind(folder, kind="heads", sizes=SIZES, **kwargs):
    return open_annotation(folder / NAME, KIND[kind], np.array(sizes), **kwargs)


@pytest.mark.parametrize("kind", list(ROWS))
def test_what_was_written_is_what_is_read(tmp_path, kind):
    annotation = open_kind(write_all(tmp_path), kind)
    assert [annotation.rows[index].tolist() for index in range(len(annotation))] == ROWS[kind]
    assert annotation.labels == (("NP", "VP") if kind == "chunks" else ())
    assert annotation.rows.block(0, len(annotation)).annotated.sum() == (
        2 if kind == "chunks" else 1
    )
    assert annotation.rows[0].dtype == np.int32
    again = pickle.loads(pickle.dumps(annotation))
    assert [again.rows[index].tolist() for index in range(len(again))] == ROWS[kind]
    assert len(pickle.dumps(annotation)) < 1000  # the name travels, not the data


def test_minus_one_stays_minus_one_in_the_file(tmp_path):
    write_rows(tmp_path / "a", [[-1]])
    assert (tmp_path / "a.bin").read_bytes() == b"\xff\xff\xff\xff"


@pytest.mark.parametrize("width", [np.int8, np.int16, np.int32])
def test_rows_of_every_width_are_the_same(tmp_path, width):
    """Those of 0.3.0 are of 32 bits."""
    rows = [[3, 1], [], [-1, -1, -1], [126]]
    write_rows(tmp_path / "a", rows, width)
    array = RaggedArray.open(tmp_path / "a")
    assert (tmp_path / "a.bin").stat().st_size == 6 * np.dtype(width).itemsize
    assert [array[index].tolist() for index in range(4)] == rows
    bounds = array.bounds(np.array([3, 0, 1, 2]))
    assert bounds.tolist() == [[5, 1], [0, 2], [2, -1], [2, -1]]
    found = array.take(bounds[:, :1] + np.arange(2))
    assert found.dtype == np.int32
    assert found[0, 0] == 126


def test_a_number_that_does_not_fit_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="128 does not fit int8"):
        write_rows(tmp_path / "a", [[128]], "int8")
    assert not (tmp_path / "a.idx").exists()


@pytest.mark.parametrize(
    ("greatest", "width"),
    [(0, 8), (127, 8), (128, 16), (32767, 16), (32768, 32), (2**31 - 1, 32)],
)
def test_the_narrowest_width(greatest, width):
    assert narrowest(greatest) == np.dtype(f"int{width}")


def test_joined_files_of_other_widths_are_not_copied(tmp_path):
    """As `train` and `train1` of several times: rows, batches, and what a worker is sent."""
    first, second = [[5], [], [1, 2, 3]], [[-1], [300, 7]]
    write_rows(tmp_path / "a", first, "int8")
    write_rows(tmp_path / "b", second, "int16")
    parts = [RaggedArray.open(tmp_path / name) for name in "ab"]
    joined = RaggedArray.concatenate(parts, [2, 1])
    expected = [*first, *first, *second]
    assert [joined[index].tolist() for index in range(len(joined))] == expected
    bounds = joined.bounds(np.array([7, 3, 2, 6, 1]))
    assert bounds[:, 1].tolist() == [2, 1, 3, -1, -1]
    rows = joined.take(bounds[:3, :1] + np.arange(3))
    assert (rows[0, :2].tolist(), rows[1, 0], rows[2].tolist()) == ([300, 7], 5, [1, 2, 3])
    assert [block.first for block in joined.blocks()] == [0, 3, 6]
    assert [block.sizes.tolist() for block in joined.blocks()] == [[1, 0, 3], [1, 0, 3], [1, 2]]
    again = pickle.loads(pickle.dumps(joined))
    assert [again[index].tolist() for index in range(len(again))] == expected
    assert len(pickle.dumps(joined)) < 1000
    held = RaggedArray.concatenate([RaggedArray.from_rows(first), parts[1]])
    again = pickle.loads(pickle.dumps(held))
    assert [again[index].tolist() for index in range(len(again))] == [*first, *second]


def test_many_rows_are_looked_at_by_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(ragged, "_BLOCK", 2)
    rows = [[3, 1], [], [-1, -1, -1], [126], [5, 6]]
    write_rows(tmp_path / "a", rows, "int8")
    array = RaggedArray.open(tmp_path / "a")
    assert [array[index].tolist() for index in range(5)] == rows
    assert [
        (block.first, block.values.tolist(), block.sizes.tolist()) for block in array.blocks()
    ] == [
        (0, [3, 1], [2, 0]),
        (2, [-1, -1, -1, 126], [3, 1]),
        (4, [5, 6], [2]),
    ]
    index = tmp_path / "a.idx"
    index.write_bytes(index.read_bytes()[:-16] + np.array([4, 6]).tobytes())
    with pytest.raises(
        ValueError, match=r"a\.idx: damaged \(row 4 has 1 numbers and begins at byte 4"
    ):
        RaggedArray.open(tmp_path / "a")


def test_nothing_but_empty_rows(tmp_path):
    write_rows(tmp_path / "a", [[], []])
    array = RaggedArray.open(tmp_path / "a")
    assert [array[index].tolist() for index in range(2)] == [[], []]
    assert (array.bounds(np.arange(len(array)))[:, 1] == -1).all()


@pytest.mark.parametrize("order", ["fe", "ef", "fee", "eef", "efef"])
def test_joined_files_of_which_some_have_no_words(order):
    """Places outside all rows, which batches have at their pads, lie in the others."""
    kinds = {"f": [[1, 2], [3]], "e": [[], []]}
    rows = [row for kind in order for row in kinds[kind]]
    joined = RaggedArray.concatenate([RaggedArray.from_rows(kinds[kind]) for kind in order])
    bounds = joined.bounds(np.arange(len(rows)))
    assert bounds[:, 1].tolist() == [len(row) or -1 for row in rows]
    found = joined.take(bounds[:, :1] + np.arange(-1, 3))
    for row, (taken, expected) in enumerate(zip(found[:, 1:].tolist(), rows)):
        assert taken[: len(expected)] == expected, row


def test_no_manifest(tmp_path):
    with pytest.raises(UserError, match=r"syntax\.json: not found.*syntax-nmt binarize"):
        open_kind(tmp_path)


def test_a_folder_of_prepare_is_prepared_again(tmp_path):
    """It has no text of fairseq-preprocess that binarize could read."""
    folder = tmp_path / "data-bin"
    folder.mkdir()
    (tmp_path / "prepare.json").write_text("{}")
    with pytest.raises(UserError, match=r"not found.*: run `syntax-nmt prepare` again with"):
        open_kind(folder)
    write_all(folder)
    (folder / f"{NAME}.heads.bin").unlink()
    with pytest.raises(UserError, match=r"it: run the same `syntax-nmt prepare` line again$"):
        open_kind(folder)
    with pytest.raises(UserError, match=r"again with --features lemma, .* beside the raw text"):
        open_annotation(folder / NAME, LEMMA, np.array(SIZES))
    Path(f"{folder / NAME}.idx").unlink()
    with pytest.raises(UserError, match=rf"{NAME}.idx: not found: run the same `syntax-nmt prep"):
        split_prefixes(folder, "train", "de", "en", combine=False)
    with pytest.raises(UserError, match=r"dict.de.txt: not found: run the same `syntax-nmt p"):
        load_dictionary(folder / "dict.de.txt")


def test_a_kind_that_was_not_binarised(tmp_path):
    write_all(tmp_path)
    files = read_manifest(tmp_path)
    del files[f"{NAME}.heads"]
    write_manifest(tmp_path, files)
    message = (
        rf"has no {NAME}\.heads .*phrases\): run .* with --parse, or put train.de.conllu beside"
    )
    with pytest.raises(UserError, match=message):
        open_kind(tmp_path)
    open_kind(tmp_path, "phrases")
    files["train.de-en.en.heads"] = files[f"{NAME}.phrases"]
    write_manifest(tmp_path, files)
    with pytest.raises(
        UserError,
        match=r"that of the other language .* exchanged\? Otherwise run .*, or put train.de.conllu",
    ):
        open_kind(tmp_path)


def test_what_prepare_makes_on_request_only(tmp_path):
    """The message lists what there is of this split alone."""
    write_all(tmp_path)
    files = read_manifest(tmp_path)
    files = {name: entry for name, entry in files.items() if not name.endswith(".heads")}
    files |= {f"{split}.de-en.en.heads": files[f"{NAME}.phrases"] for split in ("train", "test")}
    write_manifest(tmp_path, files)
    listed = rf"it has {NAME}\.[a-z]+(, {NAME}\.[a-z]+)*, train\.de-en\.en\.heads"
    message = rf"has no {NAME}\.heads \({listed}\): run .* with --target-parse, or put train\.de\."
    with pytest.raises(UserError, match=message):
        open_annotation(tmp_path / NAME, TARGET_HEADS, np.array(SIZES))
    with pytest.raises(UserError, match=r"with --features lemma, or put train.de.conllu beside"):
        open_annotation(tmp_path / NAME, LEMMA, np.array(SIZES))
    with pytest.raises(UserError, match=r"with --features lemma,xpos, or put"):  # all at once
        open_annotation(tmp_path / NAME, LEMMA, np.array(SIZES), loaded=[HEADS, LEMMA, XPOS])


@pytest.mark.parametrize("ending", [".heads.bin", ".heads.idx", ".bin", ".idx"])
@pytest.mark.parametrize(
    ("damaged", "found"),
    [
        (lambda content: content[:-1] + bytes([content[-1] ^ 1]), "{cause}.*checksum"),
        (lambda content: content[:-4], r"{cause}.*\d+ bytes, \d+ recorded"),
        (None, "cannot be read"),
    ],
    ids=["changed", "truncated", "gone"],
)
def test_damage_to_any_file_is_found(tmp_path, ending, damaged, found):
    path = write_all(tmp_path) / f"{NAME}{ending}"
    content = path.read_bytes()
    path.unlink()
    if damaged is not None:
        path.write_bytes(damaged(content))
    expected = found.format(cause="damaged" if "heads" in ending else "has changed since")
    with pytest.raises(UserError, match=rf"{NAME}{ending}: {expected}.*binarize") as caught:
        open_kind(tmp_path)
    assert "\n" not in str(caught.value)


def test_another_tag_list_is_found_for_chunks_only(tmp_path):
    (write_all(tmp_path) / "dict.chunks.txt").write_text("VP\nNP\n")
    with pytest.raises(UserError, match=r"dict\.chunks\.txt: not the tag list"):
        open_kind(tmp_path, "chunks")
    open_kind(tmp_path, "heads")


def test_without_verification_truncation_is_still_found(tmp_path):
    path = write_all(tmp_path) / f"{NAME}.heads.bin"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(UserError, match="4 numbers where the index has 5"):
        open_kind(tmp_path, checksums=False)


def test_another_type_is_refused(tmp_path):
    write_all(tmp_path)
    builder = MMapIndexedDatasetBuilder(str(tmp_path / f"{NAME}.heads.bin"), dtype=np.uint16)
    for row in ROWS["heads"]:
        builder.add_item(torch.ones(len(row)))
    builder.finalize(str(tmp_path / f"{NAME}.heads.idx"))
    with pytest.raises(UserError, match="uint16 instead of int8, int16, int32"):
        open_kind(tmp_path, checksums=False)


def test_counts_and_lengths_of_another_dataset(tmp_path):
    write_all(tmp_path)
    with pytest.raises(UserError, match=r"heads: 3 sentences, the dataset has 4"):
        open_kind(tmp_path, sizes=[*SIZES, 1])
    with pytest.raises(
        UserError, match=r"sentence 3 \(line 3 .*train\.de\.heads\) covers 3 subwords.* has 2 "
    ):
        open_kind(tmp_path, sizes=[3, 1, 3])
    with pytest.raises(UserError, match=r"phrases: sentence 1 .* covers 2 subwords.* has 4 "):
        open_kind(tmp_path, "phrases", sizes=[5, 1, 4])
    open_kind(tmp_path, "phrases", sizes=[3, 1, 9])  # a sentence without parse has any length


@pytest.mark.parametrize(
    ("kind", "row", "message"),
    [
        ("heads", [2, 1], "holds 2, its numbers can be 0 to 1 "),
        ("heads", [1, -5], "holds -5, its numbers can be 0 to 1 "),
        ("heads", [-5, -5], "holds -5"),
        ("heads", [-1, 1], "holds -1"),
        ("phrases", [1000, -998], "holds -998, its numbers can be 1 to 2 "),
        ("phrases", [0, 2], "holds 0"),
        ("phrases", [-3], "holds -3"),
        ("chunks", [1, 3], "holds 3, its numbers can be 0 to 2 "),
        ("chunks", [1, -2], "holds -2"),
    ],
)
def test_numbers_that_no_batch_could_take(tmp_path, kind, row, message):
    """Their checksums fit: a program wrote them so."""
    write_all(tmp_path, {kind: [row, *ROWS[kind][1:]]})
    place = rf"{NAME}\.{kind}: sentence 1 \(line 1 of the text; train\.de\.{kind}\)"
    with pytest.raises(UserError, match=rf"{place} {message}.*\(1 sentences .*binarize"):
        open_kind(tmp_path, kind)


def test_a_damaged_manifest(tmp_path):
    path = write_all(tmp_path) / "syntax.json"
    whole = path.read_text()
    path.write_text(whole[:-20])
    with pytest.raises(UserError, match=r"syntax\.json: damaged"):
        open_kind(tmp_path)
    content = json.loads(whole)
    path.write_text(json.dumps({**content, "version": 3}))
    with pytest.raises(UserError, match="format version 3, this program reads up to 2"):
        open_kind(tmp_path)


@pytest.mark.parametrize("name", ["/dev/zero", "../../etc/passwd", "..", "", "a\0b"])
def test_a_manifest_that_names_files_elsewhere(tmp_path, name):
    files = read_manifest(write_all(tmp_path))
    recorded = files[f"{NAME}.heads"].files
    recorded[name] = recorded.pop(f"{NAME}.heads.bin")
    write_manifest(tmp_path, files)
    with pytest.raises(UserError, match=r"syntax\.json: damaged .*no plain name"):
        open_kind(tmp_path)


@pytest.mark.parametrize(
    "change",
    [{"source": "../../etc/passwd"}, {"annotated": -1}, {"annotated": 4}, {"sentences": -1}],
    ids=str,
)
def test_a_manifest_that_nobody_wrote(tmp_path, change):
    path = write_all(tmp_path) / "syntax.json"
    content = json.loads(path.read_text())
    content["files"][f"{NAME}.heads"].update(change)
    path.write_text(json.dumps(content))
    with pytest.raises(UserError, match=r"syntax\.json: damaged .*(no plain name|annotated)"):
        open_kind(tmp_path)


def test_a_annotation_file_elsewhere(tmp_path):
    """`syntax-nmt prepare` removes the annotation files that it makes anew, by these names."""
    files = read_manifest(write_all(tmp_path))
    files["../elsewhere"] = files.pop(f"{NAME}.heads")
    write_manifest(tmp_path, files)
    with pytest.raises(UserError, match=r"'\.\./elsewhere' is no plain name"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "make",
    [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), os.mkdir],
    ids=["pipe", "device", "folder"],
)
def test_what_is_no_regular_file_is_not_waited_for(tmp_path, make):
    path = write_all(tmp_path) / f"{NAME}.heads.bin"
    path.unlink()
    make(path)
    with pytest.raises(UserError, match=r"heads\.bin: cannot be read \(no regular file\)"):
        open_kind(tmp_path)
    recorded = read_manifest(tmp_path)[f"{NAME}.heads"].files[path.name]
    ((message, _),) = differences(path, {recorded: [f"{NAME}.heads"]})
    assert "no regular file" in message
