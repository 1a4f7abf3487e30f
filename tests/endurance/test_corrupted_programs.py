"""Programs on damaged files, each in a process of its own: one line, and nothing left behind."""

import shutil

import pytest
from commands import fairseq, refuse
from methods import COMMON, METHODS

pytestmark = pytest.mark.dear

TRAIN = (*METHODS["dependency_transformer"].training, *COMMON, "--load-phrases", "--load-chunks")
ANNOTATION = ("--load-dependencies", "--load-phrases", "--load-chunks")


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(bytes(content))


def cut(path):
    path.write_bytes(path.read_bytes()[:-7])


def empty(path):
    path.write_bytes(b"")


def remove(path):
    path.unlink()


@pytest.fixture
def folder(prepared, tmp_path):
    """A copy of the prepared corpus."""
    return shutil.copytree(prepared.folder, tmp_path / "prepared")


def listing(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("train.src-tgt.src.heads.bin", flip),
        ("train.src-tgt.src.phrases.idx", cut),
        ("valid.src-tgt.tgt.chunks.bin", empty),
        ("train.src-tgt.tgt.bin", flip),
        ("train.src-tgt.src.idx", flip),
        ("valid.src-tgt.tgt.idx", remove),
        ("syntax.json", cut),
        ("dict.chunks.txt", flip),
        ("dict.src.txt", cut),
    ],
)
def test_training(folder, tmp_path, name, damage):
    damage(folder / "data-bin" / name)
    saved = tmp_path / "saved"
    message = refuse(*fairseq("train", folder / "data-bin", *TRAIN, "--save-dir", saved))
    assert name in message
    assert not saved.exists() or not list(saved.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("damage", [flip, cut, empty, remove])
@pytest.mark.parametrize("program", ["generate", "interactive", "restore", "finetune"])
def test_a_damaged_checkpoint(folder, trained, tmp_path, program, damage):
    path = shutil.copy(trained("dependency_transformer"), tmp_path / "model.pt")
    damage(path)
    data, saved = folder / "data-bin", tmp_path / "saved"
    train = ("train", data, *TRAIN, "--max-update", "1", "--save-dir", saved)
    command = {
        "generate": ("generate", data, "--path", path),
        "interactive": ("interactive", data, "--path", path),
        "restore": (*train, "--restore-file", path),
        "finetune": (*train, "--finetune-from-model", path),
    }[program]
    if (program, damage) == ("restore", remove):
        pytest.skip("fairseq then trains from the beginning")
    message = refuse(*fairseq(*command))
    assert "model.pt" in message
    assert not saved.exists() or not list(saved.iterdir())


@pytest.mark.slow
def test_a_checkpoint_of_other_data(folder, trained):
    path = trained("dependency_transformer")
    data = folder / "data-bin"
    for lang in ("src", "tgt"):
        lines = (data / f"dict.{lang}.txt").read_text().splitlines(keepends=True)
        (data / f"dict.{lang}.txt").write_text("".join(lines[:-80]))
    message = refuse(*fairseq("generate", data, "--path", path))
    assert "model knows" in message
    assert "source tokens, the dictionary of the data has" in message


@pytest.mark.slow
def test_a_checkpoint_of_other_sizes(folder, trained, tmp_path):
    message = refuse(
        *fairseq("train", folder / "data-bin", *TRAIN, "--encoder-layers", "1"),
        *("--finetune-from-model", trained("dependency_transformer")),
        *("--save-dir", tmp_path / "saved", "--max-update", "1"),
    )
    assert f"{trained('dependency_transformer')} is not of this model" in message
    assert "give the --arch and the options" in message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("words/valid.src.conllu", cut),
        ("words/valid.src.trees", cut),
        ("words/valid.tgt.chunks", empty),
        ("pieces/valid.src", cut),
        ("data-bin/valid.src-tgt.src.idx", flip),
        ("data-bin/syntax.json", cut),
        ("data-bin/dict.src.txt", empty),
    ],
)
def test_binarize(folder, name, damage):
    damage(folder / name)
    before = listing(folder)
    message = refuse(
        *("syntax_nmt.cli", "binarize", "-s", "src", "-t", "tgt", "--words", folder / "words"),
        *("--validpref", folder / "pieces/valid", "--destdir", folder / "data-bin"),
    )
    assert name.rpartition("/")[2] in message
    assert listing(folder) == before


@pytest.mark.slow
@pytest.mark.parametrize("damage", [flip, cut, empty, remove])
def test_commands_that_load_a_model(folder, trained, tmp_path, damage):
    path = shutil.copy(trained("dependency_transformer"), tmp_path / "model.pt")
    damage(path)
    data, output = folder / "data-bin", tmp_path / "output"
    texts = ("--source", folder / "pieces/test.src", "--target", folder / "pieces/test.tgt")
    for command in (
        ("trees", data, "--path", path, "--gen-subset", "test", "--output", output),
        ("align", data, "--path", path, *texts, "--segmented", "--output", output),
        ("chunks", data, "--path", path, *texts, "--segmented", "--output", output),
        ("average", path, path, "--output", output),
    ):
        message = refuse("syntax_nmt.cli", *command)
        assert message.startswith(f"syntax-nmt: error: {path}: ")
        assert not output.exists()
