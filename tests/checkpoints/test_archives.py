"""Archives that torch reads otherwise where it maps a file: what is checked is what is used."""

import os
import zipfile
from pathlib import Path

import pytest
import torch
from small_models import build, save_checkpoint, write_dictionaries
from translations import refused

from syntax_nmt.checkpoints.check import check_checkpoint
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.steps import recorded_steps


@pytest.fixture
def checkpoint(tmp_path) -> Path:
    model, _, cfg = build(write_dictionaries(tmp_path), "dependency_transformer")
    return save_checkpoint(tmp_path / "model.pt", model, cfg)


def rewrite(path: Path, change) -> Path:
    """Writes an archive anew, of the records that a function makes of (name, content)."""
    with zipfile.ZipFile(path) as archive:
        records = [(record.filename, archive.read(record)) for record in archive.infolist()]
    new = path.with_name("new.pt")
    with zipfile.ZipFile(new, "w") as archive:
        for name, content, kind in change(records):
            archive.writestr(name, content, compress_type=kind)
    return new


def deflated(records):
    for name, content in records:
        yield name, content, zipfile.ZIP_DEFLATED if "/data/" in name else zipfile.ZIP_STORED


def longer(records):
    for name, content in records:
        more = b"\0" * 4 if name.endswith("/data/0") else b""
        yield name, content + more, zipfile.ZIP_STORED


def shorter(records):
    for name, content in records:
        yield name, content[:-4] if name.endswith("/data/1") else content, zipfile.ZIP_STORED


def unread(records):
    yield from ((*record, zipfile.ZIP_STORED) for record in records)
    yield records[0][0].split("/")[0] + "/data/9999", b"more", zipfile.ZIP_STORED


def twice(records):
    yield from ((*record, zipfile.ZIP_STORED) for record in records)
    name, content = next(record for record in records if record[0].endswith("data.pkl"))
    yield name, content, zipfile.ZIP_STORED


def as_they_are(records):
    return ((*record, zipfile.ZIP_STORED) for record in records)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (deflated, r"/data/0 is compressed, which torch never does: give a whole checkpoint"),
        (longer, "the sizes of its tensors are not those of its records"),
        (shorter, "the sizes of its tensors are not those of its records"),
        (unread, "the sizes of its tensors are not those of its records"),
        (twice, "two of its records have one name"),
    ],
)
def test_records(checkpoint, tmp_path, change, message):
    path = rewrite(checkpoint, change)
    assert message in refused("average", path, "--output", tmp_path / "mean.pt")


def test_archives_of_others_are_read(checkpoint):
    """Records may lie elsewhere than where torch puts them."""
    assert check_checkpoint(rewrite(checkpoint, as_they_are))["model"]


def test_tied_and_empty_weights(checkpoint):
    """Fewer records than weights, and records without bytes."""
    state = torch.load(checkpoint)
    weights = state["model"]
    name = next(iter(weights))
    weights["tied"], weights["part"] = weights[name], weights[name][1:]
    weights["none"], weights["alone"] = torch.zeros(0), torch.tensor(1.0)
    torch.save(state, checkpoint)
    check_checkpoint(checkpoint)
    torch.save(state, checkpoint, _use_new_zipfile_serialization=False)
    check_checkpoint(checkpoint)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("make", [pipe, device, loop])
class TestNoFiles:
    """What would be read without an end; a test that hangs has failed."""

    def test_checkpoints(self, checkpoint, tmp_path, make):
        make(tmp_path / "odd.pt")
        with pytest.raises(UserError, match=r"odd\.pt: cannot be read \((no regular|Too many)"):
            check_checkpoint(tmp_path / "odd.pt")
        trees = ("trees", tmp_path, "--path", tmp_path / "odd.pt", "--input", checkpoint)
        assert "odd.pt" in refused(*trees)

    def test_shards(self, checkpoint, tmp_path, make):
        make(tmp_path / "model-shard0.pt")
        trees = ("trees", tmp_path, "--path", checkpoint, "--input", tmp_path / "dict.src.txt")
        if make is loop:  # fairseq does not see it
            pytest.skip("a link to itself is no file of that name")
        assert "model-shard0.pt: cannot be read (no regular file)" in refused(*trees)

    def test_dictionaries(self, checkpoint, tmp_path, make):
        (tmp_path / "dict.src.txt").unlink()
        make(tmp_path / "dict.src.txt")
        trees = ("trees", tmp_path, "--path", checkpoint, "--input", tmp_path / "dict.tgt.txt")
        assert "dict.src.txt: cannot be read" in refused(*trees)

    def test_segmentations(self, checkpoint, tmp_path, make):
        make(tmp_path / "segmentation.json")
        align = ("align", tmp_path, "--path", checkpoint, "--source", checkpoint)
        said = refused(*align, "--target", checkpoint)
        assert "segmentation.json: cannot be read" in said

    def test_records_of_a_preparation(self, tmp_path, make):
        make(tmp_path / "prepare.json")
        assert recorded_steps(tmp_path / "prepare.json") is None
