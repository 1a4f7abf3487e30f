"""`syntax-nmt demo` as a program: what it writes, refuses and trains, what depends on the seed."""

import json

import pytest
from commands import syntax_nmt
from demo_files import options
from nonempty import some

from syntax_nmt.builtin_corpus import corpus as corpus_module
from syntax_nmt.builtin_corpus import trained
from syntax_nmt.builtin_corpus.trained import train
from syntax_nmt.cli import main
from syntax_nmt.errors import UserError
from syntax_nmt.inference.loading import load


def write(folder, *arguments):
    """Runs the command in this process."""
    main(["demo", str(folder), *map(str, arguments)])


def contents(folder):
    """All files of a folder, by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_seed_gives_the_same_bytes_in_another_process(corpus, tmp_path):
    write(tmp_path / "again", *options())
    assert contents(tmp_path / "again") == contents(corpus)


def test_another_seed_gives_another_corpus(corpus, tmp_path):
    write(tmp_path / "other", *options(), "--seed", 2)
    first, second = contents(corpus), contents(tmp_path / "other")
    assert all(first[name] != second[name] for name in some(first))


def test_the_held_out_sets_do_not_depend_on_the_training_size(corpus, tmp_path):
    write(tmp_path / "small", *options(train=50))
    first, second = contents(corpus), contents(tmp_path / "small")
    for name, data in some(second.items()):
        if name.startswith(("test", "valid", "contrast")):
            assert data == first[name], name
        elif name.startswith("train"):
            assert first[name].startswith(data), name
            assert first[name] != data


def test_the_sentences_are_those_of_every_other_machine(corpus):
    """One pair is written out here, so that no platform or version may differ unnoticed."""
    pair = [(corpus / name).read_bytes().split(b"\n")[1] for name in ("test.src", "test.tgt")]
    assert pair[0].decode() == "un mubrivertrir deruta lo luva tramul ."
    assert pair[1].decode() == "telükozhusnilüt do kipesnuno soneshom köshatedun ."


def test_what_a_killed_run_left_is_cleared_away(tmp_path):
    (tmp_path / ".unfinished-abc").mkdir()
    (tmp_path / ".unfinished-abc" / "train.src").touch()
    write(tmp_path, *options(train=5))
    assert not [name for name in contents(tmp_path) if name.startswith(".")]


def test_only_the_corpus_is_left_in_the_folder(corpus):
    names = set(contents(corpus))
    suffixes = ("src", "tgt", "src.conllu", "src.trees", "tgt.chunks", "tgt.conllu", "align")
    expected = {f"{split}.{end}" for split in ("train", "valid", "test") for end in suffixes}
    expected |= {f"contrast.{end}" for end in ("src", "correct.tgt", "incorrect.tgt", "distance")}
    assert names == expected | {"demo.json"}
    manifest = json.loads((corpus / "demo.json").read_text())
    assert manifest["seed"] == 1
    assert manifest["train"] == 600


def test_an_earlier_corpus_is_replaced_and_other_files_stay(tmp_path):
    small = options(train=5, valid=5, test=5, contrast=5)
    write(tmp_path, *small)
    (tmp_path / "notes").write_text("mine")
    before = contents(tmp_path)
    write(tmp_path, *small, "--seed", 3)
    after = contents(tmp_path)
    assert after["notes"] == b"mine"
    assert after["train.src"] != before["train.src"]


def test_a_second_test_set_goes_with_its_split(tmp_path):
    """A training without the split would have seen its sentences."""
    small = options(train=5, valid=5, test=5, contrast=5)
    write(tmp_path, *small, "--split", "depth")
    left_out = [name for name in contents(tmp_path) if name.startswith("left_out.")]
    assert len(left_out) == 7
    (tmp_path / "left_out.notes").write_text("mine")
    (tmp_path / "left_out.src").write_text("mine")
    manifest = json.loads((tmp_path / "demo.json").read_text())
    (tmp_path / "corpus").mkdir()
    outside = tmp_path / "mine"
    outside.write_bytes((tmp_path / "left_out.tgt").read_bytes())
    manifest["files"]["corpus/../mine"] = manifest["files"]["left_out.tgt"]
    (tmp_path / "demo.json").write_text(json.dumps(manifest))
    write(tmp_path, *small, "--force")
    left = {path.name for path in tmp_path.glob("left_out.*")}
    assert left == {"left_out.notes", "left_out.src"}  # not as they were written
    assert outside.is_file()
    assert "left_out.tgt" not in json.loads((tmp_path / "demo.json").read_text())["files"]


def test_a_folder_with_other_content_is_refused_unless_forced(tmp_path):
    (tmp_path / "test.src").write_text("mine")
    small = options(train=5, valid=5, test=5, contrast=5)
    with pytest.raises(SystemExit, match=r"^syntax-nmt: error: .* is not empty"):
        write(tmp_path, *small)
    assert contents(tmp_path) == {"test.src": b"mine"}
    write(tmp_path, *small, "--force")
    assert contents(tmp_path)["test.src"] != b"mine"


def test_an_interrupted_run_leaves_nothing_that_looks_whole(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    small = options(train=5, valid=5, test=5, contrast=5)
    write(tmp_path, *small)
    before = contents(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(corpus_module, "pharaoh", interrupt)
        with pytest.raises(SystemExit, match="error: interrupted"):
            write(tmp_path, *small, "--seed", 2)
        with pytest.raises(SystemExit, match="error: interrupted"):
            write(tmp_path / "new", *small)
    (tmp_path / "new").rmdir()  # it is empty
    assert contents(tmp_path) == before


def test_texts_that_it_did_not_write_stay(tmp_path):
    small = ("--train", 5, "--valid", 5, "--test", 5, "--contrast", 5)
    write(tmp_path, *small)
    write(tmp_path, *small, "--seed", 2)  # its own
    (tmp_path / "train.src").write_text("a text of mine\n")
    with pytest.raises(SystemExit, match=r"train\.src is not what this command wrote there: move"):
        write(tmp_path, *small)
    assert (tmp_path / "train.src").read_text() == "a text of mine\n"
    write(tmp_path, *small, "--force")
    manifest = json.loads((tmp_path / "demo.json").read_text())
    del manifest["files"]  # as 0.1.0 wrote it
    (tmp_path / "demo.json").write_text(json.dumps(manifest))
    write(tmp_path, *small, "--seed", 2)


def test_a_file_in_the_folders_place_is_an_error_of_one_line(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(SystemExit, match=r"^syntax-nmt: error: [^\n]* is a file[^\n]*$"):
        write(tmp_path / "x")


@pytest.mark.slow
def test_the_printed_model_has_both_kinds_of_trees(tmp_path):
    sizes = ("--train", "1000", "--valid", "20", "--test", "20")
    done = syntax_nmt("demo", tmp_path / "demo", "--trained", *sizes)
    command, sentence = done.stdout.splitlines()[-2:]
    *_, checkpoint, data = command.split()
    model = load(checkpoint, data, device="cpu")
    words = sentence.partition(": ")[2]
    assert model.translate(words)
    assert len(model.trees(words, "dependencies")) == len(words.split())
    assert len(model.trees(words, "constituents")) == len(words.split())


@pytest.mark.dear
def test_what_failed_is_said(tmp_path):
    with pytest.raises(UserError, match=r"prepare\.log: syntax_nmt\.cli failed: .*train\.src"):
        train(tmp_path, tmp_path / "demo.json")


def test_a_model_of_another_corpus_is_not_resumed(tmp_path, monkeypatch, capsys):
    checkpoint = tmp_path / "checkpoints" / "checkpoint_last.pt"
    resumed = []

    def run(log, *command):
        if log.name == "train.log":
            resumed.append(checkpoint.exists())
            checkpoint.touch()

    monkeypatch.setattr(trained, "_run", run)
    sizes = ["--train=5", "--valid=5", "--test=5", "--contrast=5"]
    for more in ([], [], ["--seed=2"], ["--train=6"]):
        main(["demo", str(tmp_path), "--trained", *sizes, *more])
    main(["demo", str(tmp_path), *sizes])  # the corpus alone
    main(["demo", str(tmp_path), "--trained", *sizes])
    assert resumed == [False, True, False, False, False]
    said = capsys.readouterr()
    assert [text.count("another corpus") for text in said] == [0, 3]  # stdout has commands alone
    (tmp_path / "checkpoints/demo.json").unlink()
    with pytest.raises(SystemExit, match="did not train"):
        main(["demo", str(tmp_path), "--trained", *sizes])
    assert checkpoint.exists()
