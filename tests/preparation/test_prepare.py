"""`syntax-nmt prepare`: from raw text to data-bin, given or parsed, interrupted or not."""

import argparse
import gzip
import json
import re
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from commands import kill_all, started
from translations import refused

from syntax_nmt.cli import main
from syntax_nmt.commands import prepare
from syntax_nmt.commands.shared.annotating import AnnotatorSettings, find_annotators
from syntax_nmt.commands.shared.prepare_checks import idle_settings
from syntax_nmt.data import text_files
from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.data.constituents import escape_word
from syntax_nmt.data.folder_lock import sole_user
from syntax_nmt.data.manifest import read_manifest
from syntax_nmt.errors import UserError
from syntax_nmt.preparation import fairseq_data
from syntax_nmt.preparation.annotators.parts import PartFolder

pytestmark = pytest.mark.dear


@pytest.fixture(scope="module")
def raw(treebank, tmp_path_factory) -> Path:
    """A parallel corpus of raw text: English sentences of the treebank, and themselves reversed."""
    folder = tmp_path_factory.mktemp("raw")
    trees = list(read_conllu(treebank))
    for name, part in (("train", trees[:240]), ("val", trees[240:270]), ("test", trees[270:])):
        source = [" ".join(tree.words[:-1]) + "." for tree in part]
        target = [" ".join(reversed(tree.words[:-1])) + "." for tree in part]
        source[3], target[3] = "I don't\u2028 know a\xa0well-known 🦊 ▁cat\r", "Ich weiß\x85 nicht."
        source[5] = ""
        (folder / f"{name}.en").write_bytes("".join(f"{s}\n" for s in source).encode())
        text = "".join(f"{t}\n" for t in target).encode()
        (folder / f"{name}.de.gz").write_bytes(gzip.compress(text))
    return folder


def command(raw: Path, destination: Path, *more: str) -> list[str]:
    return [
        *["prepare", "--source-lang", "en", "--target-lang", "de", "--vocab-size", "150"],
        *["--trainpref", f"{raw}/train", "--validpref", f"{raw}/val"],
        *["--testpref", f"{raw}/test,{raw}/val", "--destdir", str(destination), *more],
    ]


@pytest.fixture(scope="module")
def prepared(raw, models, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("prepared") / "out"
    main(command(raw, folder, "--stanza-dir", str(models)))
    return folder


def lines(path: Path) -> list[str]:
    return path.read_bytes().decode("utf-8").split("\n")[:-1]


def contents(folder: Path) -> dict[str, bytes]:
    """What must not depend on how often the work was interrupted: all but logs and records."""
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    kept = {name for name in files if not name.endswith(".log")} - {"prepare.json"}
    return {name: files[name].read_bytes() for name in kept}


def without_parser(files: dict[str, bytes], *names: str) -> dict[str, bytes]:
    """Without the names of parsers that are on record, and some files."""
    manifest = "data-bin/syntax.json"
    known = re.sub(rb',\n   "parser": ".*"', b"", files[manifest])
    return {name: files[name] for name in files if name not in names} | {manifest: known}


def test_layout(prepared):
    assert sorted(path.name for path in prepared.iterdir()) == [
        *("data-bin", "logs", "parser.json", "pieces", "prepare.json", "segmentation.json"),
        *("sentencepiece.model", "words"),
    ]
    splits = ("train", "valid", "test", "test1")
    words = {f"{split}.{end}" for split in splits for end in ("en", "de", "en.conllu")}
    assert {path.name for path in (prepared / "words").iterdir()} == words
    names = {path.name for path in (prepared / "data-bin").iterdir()}
    for split in splits:
        assert {f"{split}.en-de.{lang}.bin" for lang in ("en", "de", "en.heads")} <= names


def test_one_line_for_one_line(raw, prepared):
    for split, count in (("train", 240), ("valid", 30), ("test", 30), ("test1", 30)):
        for name in ("words/{}.en", "words/{}.de", "pieces/{}.en", "pieces/{}.de"):
            assert len(lines(prepared / name.format(split))) == count
    words = lines(prepared / "words" / "train.en")
    assert words[3] == "I do n't know a well @-@ known 🦊 _ cat"
    assert words[5] == ""
    assert lines(prepared / "words" / "train.de")[3] == "Ich weiß nicht ."


def test_done_before_is_not_done_again(raw, prepared, models, capfd):
    before = {path: path.stat().st_mtime_ns for path in prepared.glob("*/*")}
    main(command(raw, prepared, "--stanza-dir", str(models)))
    assert {path: path.stat().st_mtime_ns for path in before} == before
    out, err = capfd.readouterr()
    assert "data-bin: done before" in err
    assert (
        "train.en: replaced 2 unusual spaces by U+0020, 1 word mark of sentencepiece (▁) by _"
        in err
    )
    assert "…" not in err
    assert "  heads " in out
    assert f"  syntax-nmt train {prepared} baseline " in out
    assert re.search(r"conllu by Stanza \S+ \(99\.58%\)", out)  # 239 of 240 lines


@pytest.mark.parametrize("delay", [0.0, pytest.param(3.0, marks=pytest.mark.slow)])
def test_killed_and_started_again(raw, prepared, models, tmp_path, delay):
    folder = tmp_path / "out"
    arguments = command(raw, folder, "--stanza-dir", str(models))
    job = started("-m", "syntax_nmt.cli", *arguments)
    deadline = time.monotonic() + 100
    while not (folder / "logs").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(delay)
    kill_all(job, folder)
    (folder / "words" / "valid.de.partial123").write_text("half")
    (folder / "words" / "mine.partial123").write_text("not this program's")
    main(arguments)
    (folder / "words" / "mine.partial123").unlink()
    assert contents(folder) == contents(prepared)


class _Killed(BaseException):
    """Nothing is repaired after it, as after a kill."""


@pytest.mark.parametrize("recorded", [False, True])
def test_what_was_not_on_record_yet_is_not_taken_for_given(
    raw, prepared, models, tmp_path, monkeypatch, capsys, recorded
):
    """Killed when the trees are merged, before or after that is written down."""
    folder = tmp_path / "out"
    shutil.copytree(prepared, folder)
    trees = folder / "words" / "test.en.conllu"
    record = folder / "prepare.json"
    steps = json.loads(record.read_text())
    del steps[f"words/{trees.name}"]
    record.write_text(json.dumps(steps))
    trees.unlink()
    arguments = command(raw, folder, "--stanza-dir", str(models))
    killing, at = (PartFolder, "remove") if recorded else (text_files.os, "replace")
    going_on = getattr(killing, at)

    def kill(*arguments):
        if recorded or Path(arguments[1]) == record:
            raise _Killed
        return going_on(*arguments)

    monkeypatch.setattr(killing, at, kill)
    with pytest.raises(_Killed):
        main(arguments)
    monkeypatch.undo()
    assert trees.is_file()
    assert (f"words/{trees.name}" in json.loads(record.read_text())) == recorded
    main(arguments)
    said = capsys.readouterr()
    assert "given" not in said.out + said.err
    assert contents(folder) == contents(prepared)


def test_a_lost_or_damaged_record_is_said(raw, prepared, models, tmp_path, capsys):
    """Whose the trees are, nobody knows then: they stay, and that is said, too."""
    folder = tmp_path / "out"
    shutil.copytree(prepared, folder)
    (folder / "prepare.json").write_text("{")
    (folder / "parser.json").write_text("{}")
    main(command(raw, folder, "--stanza-dir", str(models)))
    said = capsys.readouterr()
    assert f"{folder}/prepare.json: damaged: its steps are done again" in said.err
    trees = folder / "words" / "train.en.conllu"
    assert f"{trees}: no record of it in prepare.json, so it counts as given; to" in said.err
    assert (folder / "parser.json").read_text() == "{}"  # whose it is, nobody knows either
    assert "conllu given" in said.out
    made = [without_parser(contents(each), "parser.json") for each in (folder, prepared)]
    assert made[0] == made[1]
    trees.unlink()
    main(command(raw, folder, "--stanza-dir", str(models)))
    assert ": damaged" not in capsys.readouterr().err
    # The trees of other splits still count as given.
    assert without_parser(contents(folder)) == without_parser(contents(prepared))


def test_given_annotation_is_taken_along(treebank, tmp_path, capfd):
    raw, folder = tmp_path / "raw", tmp_path / "out"
    raw.mkdir()
    trees = list(read_conllu(treebank))
    words = "".join(" ".join(tree.words) + "\n" for tree in trees)
    (raw / "train.src").write_text(words)
    (raw / "train.tgt").write_text(words)
    (raw / "train.src.conllu.gz").write_bytes(gzip.compress(treebank.read_bytes()))
    brackets = "".join(f"(S {' '.join(f'(X {word})' for word in t.words)})\n" for t in trees)
    (raw / "train.src.trees").write_text(brackets)
    chunks = "".join(" ".join(["B-NP"] * len(tree.words)) + "\n" for tree in trees)
    (raw / "train.tgt.chunks").write_text(chunks)
    arguments = ["prepare", "--source-lang", "src", "--target-lang", "tgt", "--vocab-size", "60"]
    arguments += ["--trainpref", f"{raw}/train", "--destdir", str(folder), "--separate"]
    arguments += ["--source-tokenizer", "none", "--target-tokenizer", "none"]
    main(arguments)
    main(["options", "--training", str(folder)])
    assert "--load-phrases --phrase-segmentation parsed" in capfd.readouterr().out
    assert (folder / "words" / "train.src.conllu").read_bytes() == treebank.read_bytes()
    for kind in ("src.heads", "src.phrases", "tgt.chunks"):
        assert (folder / "data-bin" / f"train.src-tgt.{kind}.bin").is_file()
    assert (folder / "sentencepiece.src.model").is_file()


def test_a_data_bin_folder_that_is_a_link_stays_one(raw, tmp_path):
    """It may have been moved to a larger disk."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "data-bin").symlink_to(tmp_path / "disk" / "data-bin")
    (tmp_path / "disk" / "data-bin").mkdir(parents=True)
    main(command(raw, folder, "--no-parse"))
    assert (folder / "data-bin").is_symlink()
    assert (tmp_path / "disk" / "data-bin" / "dict.en.txt").is_file()
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["data-bin"]


@pytest.mark.slow
def test_a_model_is_reused(raw, prepared, tmp_path):
    model = prepared / "sentencepiece.model"
    arguments = ["--no-parse", "--sentencepiece-model", str(model)]
    main(command(raw, tmp_path / "out", *arguments))
    assert (tmp_path / "out" / "sentencepiece.model").read_bytes() == model.read_bytes()
    assert lines(tmp_path / "out/pieces/test.de") == lines(prepared / "pieces/test.de")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--trainpref", "gone"], "--trainpref gone: there is no gone.en or gone.en.gz"),
        (["--trainpref", "a,b"], "--trainpref a,b: there can be one training text"),
        (["--trainpref", ""], "--trainpref '' has an empty prefix"),
        (["--trainpref", "a", "--testpref", "b,"], "--testpref 'b,' has an empty prefix"),
        (["--stanza-dir", "gone"], "or --no-parse to do without"),
        (["--target-tokenizer", "penn"], "tokenizer 'penn' is for English"),
        (["--target-lang", "en"], "--source-lang and --target-lang are both en"),
        (["--sentencepiece-model", "gone"], "gone: cannot be read as a sentencepiece model"),
        (
            ["--target-stanza-dir", "a"],
            "--target-stanza-dir does nothing without --chunks or --target-parse or "
            "--target-constituents: add",
        ),
        (
            ["--target-parse", "--target-parser-model", "a"],
            "--target-parser-model a: is no option of Stanza: give --target-stanza-dir, or another",
        ),
        (["--chunk-model", "a.pt"], "--chunk-model does nothing without --chunks tagger: add it"),
        (
            ["--feature-threshold", "3"],
            "--feature-threshold does nothing without --features or --target-features: add",
        ),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(raw, tmp_path, more, message):
    assert message in refused(*command(raw, tmp_path / "out", *more))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("train.en", b"one more\n" * 241, "train.en has 241 lines and "),
        ("val.en", b"word\n" * 30 + b"\xe9t\xe9\n", "val.en:31: not UTF-8"),
        ("val.*", b"", "val.en is empty"),
    ],
)
def test_unfit_texts_are_one_line_and_leave_nothing(raw, tmp_path, name, text, message):
    copy = shutil.copytree(raw, tmp_path / "raw")
    for path in copy.glob(name):
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    assert message in refused(*command(copy, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--vocab-size", "9"], []),
        (["--vocab-size", "9", "--sentencepiece-model", "m"], ["the pieces are those of m"]),
        (["--vocab-size", "9", "--source-words", "5", "--target-words", "5"], ["both sides are"]),
        (["--no-parse", "--stanza-dir", "x"], ["--stanza-dir does nothing without --parse"]),
        (["--stanza-model", "constituency=x"], ["constituency=x does nothing: it is no model of"]),
        (
            ["--stanza-model", "constituency=x", "--chunks", "rules"],
            ["constituency=x does nothing: it is no model of dependencies"],
        ),
        (
            [
                *("--parser", "spacy", "--parser-model", "m", "--target-parser-model", "m"),
                *("--target-parse", "--target-stanza-dir", "x"),
            ],
            ["--target-stanza-dir does nothing: --parser spacy parses the target"],
        ),
    ],
)
def test_settings_that_do_nothing_are_told(more, said):
    parser = argparse.ArgumentParser()
    prepare.add_arguments(parser)
    args = parser.parse_args([str(word) for word in command(Path("raw"), Path("out"), *more)[1:]])
    args.stanza_dir = args.stanza_dir if "--stanza-dir" in more else None
    found = list(idle_settings(args))
    assert len(found) == len(said)
    assert all(part in line for part, line in zip(said, found))


def test_single_models_of_the_source_make_no_chunks_of_the_target():
    parser = argparse.ArgumentParser()
    prepare.add_arguments(parser)
    more = ("--stanza-model", "constituency=x", "--stanza-dir", "own", "--chunks", "rules")
    words = command(Path("raw"), Path("out"), *more)[1:]
    settings = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            AnnotatorSettings, "annotator", lambda found, *of: settings.append((found, of))
        )
        with suppress(AssertionError):  # that is no annotator
            find_annotators(parser.parse_args(words))[CHUNKS]()
    ((found, of),) = settings
    assert of == ("constituents", "de")
    assert found.paths.stanza_dir == Path("own")
    assert set(found.paths.stanza_files.values()) == {None}


def test_a_failure_of_fairseq_names_its_log(raw, tmp_path, monkeypatch):
    def failing(plan, destination):
        code = "import os, sys; os.mkdir(sys.argv[1]); raise SystemExit('first\\nno disk')"
        return [sys.executable, "-c", code, str(destination)]

    monkeypatch.setattr(fairseq_data, "command", failing)
    expected = r"fairseq-preprocess failed \(status 1\): no disk; see .*\.log"
    with pytest.raises(SystemExit, match=expected):
        main(command(raw, tmp_path / "out", "--no-parse"))
    assert not list((tmp_path / "out").glob("data-bin*"))


def test_an_interrupted_fairseq_leaves_no_partial_folder(raw, tmp_path, monkeypatch):
    def interrupted(command, **options):
        (tmp_path / "data-bin.partial").mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr("subprocess.call", interrupted)
    with pytest.raises(SystemExit, match="interrupted: run the same command again"):
        main(command(raw, tmp_path, "--no-parse"))
    assert not list(tmp_path.glob("data-bin*"))


def test_the_raw_text_is_never_overwritten(prepared, models):
    arguments = command(prepared / "words", prepared, "--stanza-dir", str(models))
    arguments[arguments.index("--validpref") + 1] = f"{prepared}/words/valid"
    arguments[arguments.index("--testpref") + 1] = f"{prepared}/words/test"
    with pytest.raises(SystemExit, match=r"train.en would be overwritten: give another"):
        main(arguments)


def test_one_process_a_folder(raw, models, tmp_path):
    with sole_user(tmp_path), pytest.raises(SystemExit, match="another process prepares"):
        main(command(raw, tmp_path, "--no-parse"))


def test_fairseq_keeps_the_folder_when_prepare_is_killed(raw, tmp_path):
    """Its process goes on writing for a while; the next run would use what it writes."""
    folder = tmp_path / "out"
    job = started("-m", "syntax_nmt.cli", *command(raw, folder, "--no-parse"))
    deadline = time.monotonic() + 100
    while not (folder / "logs").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.2)
    job.kill()
    job.wait()
    with pytest.raises(UserError, match="another process prepares"), sole_user(folder):
        pass
    while time.monotonic() < deadline:
        with suppress(UserError), sole_user(folder):
            break
        time.sleep(0.1)
    main(command(raw, folder, "--no-parse"))
    assert not list(folder.glob("*.partial*"))


def test_what_is_done_is_not_written_again(raw, tmp_path, models):
    """The disk may be read-only by now."""
    arguments = command(raw, tmp_path / "out", "--stanza-dir", str(models))
    main(arguments)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    main(arguments)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")} == before


def test_a_folder_whose_name_begins_with_a_hyphen(raw, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(raw, "-raw")
    arguments = ["prepare", "--source-lang=en", "--target-lang=de", "--vocab-size=150"]
    main([*arguments, "--trainpref=-raw/train", "--destdir=-out", "--no-parse"])
    assert Path("-out/data-bin/train.en-de.en.idx").is_file()
    said = capsys.readouterr().out
    assert "syntax-nmt train ./-out " in said
    assert not re.search(r"\s-out", said)


@pytest.fixture
def chinese(tmp_path) -> Path:
    """A corpus whose source has no spaces."""
    folder = tmp_path / "raw"
    folder.mkdir()
    for name in ("train", "valid"):
        (folder / f"{name}.zh").write_text("老人读书。\n我喜欢 Python 3。\n\n猫 看狗\n" * 9)
        (folder / f"{name}.en").write_text("The old man reads.\nI like Python 3.\n\nCats.\n" * 9)
    return folder


def chinese_command(raw: Path, *more: str) -> list[str]:
    return [
        *["prepare", "--source-lang", "zh", "--target-lang", "en", "--vocab-size", "60"],
        *["--trainpref", f"{raw}/train", "--validpref", f"{raw}/valid", "--no-parse"],
        *["--destdir", str(raw.parent / "out"), *more],
    ]


def test_text_without_spaces_is_cut_into_characters(chinese, capsys):
    main(chinese_command(chinese))
    words = lines(chinese.parent / "out" / "words" / "train.zh")
    assert words[:4] == ["老 人 读 书 。", "我 喜 欢 Python 3 。", "", "猫 看 狗"]
    main(["options", "--training", str(chinese.parent / "out")])
    assert "--source-tokenizer char --target-tokenizer penn" in capsys.readouterr().out


def test_characters_that_are_parsed_get_a_warning(chinese, capsys):
    asked = [each for each in chinese_command(chinese) if each != "--no-parse"]
    with pytest.raises(SystemExit):
        main([*asked, "--parse-command", "false"])
    said = [line for line in capsys.readouterr().err.splitlines() if "into characters" in line]
    assert said == [
        "warning: zh is cut into characters, and parsers are trained on words: give "
        "--source-tokenizer stanza with --source-segmenter, or none for text in words"
    ]


def test_text_that_is_cut_already_is_not_cut_anew_by_default(chinese):
    (chinese / "valid.zh").write_text("老人 每天 在 公园 读书 。\n我 喜欢 猫 。\n\n猫\n" * 9)
    with pytest.raises(SystemExit, match=r"valid.zh: looks as if it were split into words already"):
        main(chinese_command(chinese))
    assert not (chinese.parent / "out").exists()
    main(chinese_command(chinese, "--source-tokenizer", "none"))
    assert lines(chinese.parent / "out" / "words" / "valid.zh")[0] == "老人 每天 在 公园 读书 。"


def test_english_that_is_cut_already_gets_a_warning(chinese, capsys):
    """It may be raw text with mistakes, and is not refused."""
    (chinese / "train.en").write_text("i can 't go .\nI like Python 3 .\n\nhe 's a cat .\n" * 9)
    main(chinese_command(chinese))
    said = [line for line in capsys.readouterr().err.splitlines() if "contractions" in line]
    assert said == [
        f"warning: {chinese}/train.en: 18 of 36 lines have contractions apart from their words, "
        "such as line 1 (can 't): if the text is tokenised, give --target-tokenizer none, or penn "
        "makes other words of them"
    ]
    main(chinese_command(chinese, "--target-tokenizer", "none"))
    assert "contractions" not in capsys.readouterr().err
    assert lines(chinese.parent / "out" / "words" / "train.en")[0] == "i can 't go ."


def test_what_jobs_have_parsed_is_used_and_never_removed(raw, models, prepared, tmp_path, capsys):
    """As the guide says for clusters: words, shards, merge, and prepare again."""
    folder = tmp_path / "out"
    main(command(raw, folder, "--no-parse"))
    trees = folder / "words" / "train.en.conllu"
    text = ["--input", f"{folder}/words/train.en", "--output", str(trees)]
    for index in ("0", "1"):
        shard = ["--num-shards", "2", "--shard-id", index, "--part-size", "100"]
        main(["parse", "--lang", "en", "--stanza-dir", str(models), *text, *shard])
    main(["merge", *text])
    merged = trees.read_bytes()
    assert merged == (prepared / "words" / "train.en.conllu").read_bytes()
    status = trees.stat()
    for _ in range(2):
        main(command(raw, folder, "--stanza-dir", str(models)))
        assert "conllu given" in capsys.readouterr().out
    main(command(raw, folder, "--no-parse"))
    assert (trees.read_bytes(), trees.stat().st_mtime_ns) == (merged, status.st_mtime_ns)
    assert (folder / "data-bin" / "train.en-de.en.heads.idx").is_file()
    trees.write_bytes((prepared / "words" / "test.en.conllu").read_bytes())
    with pytest.raises(SystemExit, match=r"train.en.conllu"):
        main(command(raw, folder, "--no-parse"))
    assert trees.is_file()


def test_trees_of_the_target(raw, models, tmp_path):
    """Made by models of its language; given ones are taken."""
    folder, turned = tmp_path / "out", ["--source-lang", "de", "--target-lang", "en", "--no-parse"]
    of_target = ["--target-parse", "--target-stanza-dir", str(models)]
    main([*command(raw, folder), *turned, *of_target])
    words = folder / "words"
    assert len(list(read_conllu(words / "train.en.conllu"))) == 240
    names = read_manifest(folder / "data-bin")
    assert names.keys() == {f"{x}.de-en.en.heads" for x in ("train", "valid", "test", "test1")}
    assert not (folder / "parser.json").exists()  # typed text is the source
    message = refused(*command(raw, tmp_path / "no"), "--no-parse", *of_target)
    assert "are of language 'en', the text is of language 'de'" in message
    given = shutil.copytree(raw, tmp_path / "given")
    for split, name in (("train", "train"), ("valid", "val"), ("test", "test")):
        shutil.copy(words / f"{split}.en.conllu", given / f"{name}.en.conllu")
        flat = (
            " ".join(f"(W {escape_word(word)})" for word in text.split())
            for text in lines(words / f"{split}.en")
        )
        trees = "".join(f"(S {each})\n" if each else "()\n" for each in flat)
        (given / f"{name}.en.trees").write_text(trees)
    main([*command(given, tmp_path / "other"), *turned])
    taken = "data-bin/train.de-en.en.heads.bin"
    assert (tmp_path / "other" / taken).read_bytes() == (folder / taken).read_bytes()
    names = read_manifest(tmp_path / "other" / "data-bin")
    assert names["train.de-en.en.trees"].annotated == names["train.de-en.en.heads"].annotated
    constituents = ["--target-constituents", "--target-stanza-dir", str(models)]
    message = refused(*command(raw, tmp_path / "no"), *turned, *constituents)
    assert "constituency.pt" in message


def test_models_of_another_language_are_found_before_the_long_work(raw, models, tmp_path):
    folder = tmp_path / "out"
    more = ["--no-parse", "--chunks", "rules", "--target-stanza-dir", str(tmp_path / "models")]
    (tmp_path / "models").mkdir()
    for name in ("tagger.pt", "constituency.pt"):
        shutil.copy(models / "tagger.pt", tmp_path / "models" / name)
    with pytest.raises(SystemExit, match="Stanza cannot load"):
        main(command(raw, folder, *more))
    assert not (folder / "sentencepiece.model").exists()


@pytest.mark.parametrize("mark", [":", ","])
def test_a_name_that_fairseq_would_take_for_something_else(raw, tmp_path, monkeypatch, mark):
    """Neither it nor the commands printed at the end could use it."""
    monkeypatch.chdir(tmp_path)
    said = f"--destdir a{mark}b: fairseq takes what stands after {mark} for another"
    with pytest.raises(SystemExit, match=said):
        main([*command(raw, tmp_path, "--no-parse"), f"--destdir=a{mark}b"])
    assert not (tmp_path / f"a{mark}b").exists()
