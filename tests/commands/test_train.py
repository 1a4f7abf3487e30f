"""`syntax-nmt train` and `translate`: fairseq's programs with the lines that `prepare` prints."""

import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from threading import Thread
from unittest.mock import Mock

import pytest
from commands import kill_all, refuse, started, syntax_nmt

from syntax_nmt import FOLDER
from syntax_nmt.commands import train
from syntax_nmt.commands.translate import translations
from syntax_nmt.data.annotation.columns import CHUNK_TAG, TARGET_UPOS
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.training_commands import named_method, next_commands, trainable
from syntax_nmt.preparation.training_data import TrainingData
from syntax_nmt.preparation.trainings import Training, news_of, translate_test
from syntax_nmt.preparation.trainings import train as train_once

FEW = ("--", "--max-epoch", "1", "--validate-interval", "1", "--max-update", "3")


@pytest.fixture(scope="module")
def folder(prepared, tmp_path_factory):
    """A copy of the prepared corpus, to train in."""
    copy = tmp_path_factory.mktemp("train") / "prepared"
    return shutil.copytree(prepared.folder, copy)


@pytest.fixture(scope="module")
def trained(folder, prepared):
    """What a training of two methods with two seeds printed."""
    methods = ("baseline", "pascal", "--seeds", "1", "2")
    reference = prepared.corpus / "test.tgt"
    return syntax_nmt("train", folder, *methods, "--compare", reference, *FEW)


@pytest.mark.dear
def test_every_method_is_trained_with_every_seed_and_compared(trained, folder):
    for method in ("baseline", "pascal"):
        for seed in (1, 2):
            made = folder / method / f"seed{seed}"
            assert (made / "checkpoint_best.pt").is_file()
            assert f"'seed': {seed}," in (made / "train.log").read_text("utf-8")
            assert len(re.findall("^D-", (made / "test.out").read_text("utf-8"), re.M)) == 20
            said = rf"{method}, seed {seed}: epoch 1, 3 updates: [\d.]+ bits a token, BLEU [\d.]+"
            assert re.search(said, trained.stdout)
    assert "Δ: difference from baseline" in trained.stdout
    assert re.search(r"^pascal +\d", trained.stdout, re.M)


def test_logs_of_other_forms_are_no_news():
    """`-- --log-format json`, and losses that are no numbers, end no training of days."""
    head = "2026-11-27 | INFO | valid | "
    figures = "epoch 001 | valid on 'valid' subset | loss 9.3 | nll_loss 9.1 | ppl 5"
    shown = news_of(f"{head}{figures} | wps 2 | num_updates 39 | best_loss 9.3\n")
    assert shown == "epoch 1, 39 updates: 9.1 bits a token"
    shown = news_of(f"{head}{figures} | bleu 0.02 | wps 2 | num_updates 39\n")
    assert shown == "epoch 1, 39 updates: 9.1 bits a token, BLEU 0.02"
    assert news_of(f'{head}{{"epoch": 1, "valid_nll_loss": "9.1"}}\n') is None
    assert news_of(f"{head}{figures.replace('9.1', 'nan')} | num_updates 39\n") is None
    assert news_of(f"2026-11-27 | INFO | train | {figures} | num_updates 39\n") is None


@pytest.mark.dear
def test_what_is_finished_is_not_done_again(trained, folder):
    output = folder / "pascal" / "seed2" / "test.out"
    before = output.stat().st_mtime_ns
    again = syntax_nmt("train", folder, "pascal", "--seeds", "2", *FEW)
    assert output.stat().st_mtime_ns == before
    assert "epoch" not in again.stdout
    assert "translating" not in again.stdout


@pytest.mark.dear
def test_other_options_have_a_folder_of_their_own(trained, folder):
    """A training resumes with other options, as fairseq does, but says so."""
    asked = ("--dropout", "0.2")
    again = syntax_nmt("train", folder, "pascal", "--seeds", "2", *FEW, *asked)
    said = "warning: pascal, seed 2: resumes what was trained with -- --max-epoch 1"
    assert said in again.stderr
    assert again.stderr.rstrip().endswith(
        "--dropout 0.2: to train it anew beside that, give --name"
    )
    syntax_nmt("train", folder, "pascal", "--name", "wet", *FEW, *asked)
    assert re.search(r"\bdropout\W+0\.2\b", (folder / "pascal-wet/train.log").read_text("utf-8"))


@pytest.mark.dear
def test_typed_text_is_translated(trained, folder, prepared):
    lines = (prepared.corpus / "test.src").read_text("utf-8").splitlines()[:3]
    text = "".join(f"{line}\n" for line in lines)
    done = syntax_nmt("translate", folder, "baseline", "--seed", "1", stdin=text)
    assert len(done.stdout.splitlines()) == 3
    (folder / "text").write_text(text, "utf-8")
    same = syntax_nmt("translate", folder, "baseline", folder / "text", "--seed", "1")
    assert same.stdout == done.stdout
    (folder / "text.gz").write_bytes(gzip.compress(text.encode()))
    same = syntax_nmt("translate", folder, "baseline", folder / "text.gz", "--seed", "1")
    assert same.stdout == done.stdout
    other = syntax_nmt(
        "translate", folder, "baseline", "--seed", "1", "--", "--beam", "1", stdin=text
    )
    assert len(other.stdout.splitlines()) == 3
    said = refuse("syntax_nmt.cli", "translate", folder, "baseline")
    assert "no such checkpoint: give --seed 1" in said


@pytest.mark.dear
def test_a_pipe_is_translated(trained, folder, prepared, tmp_path):
    """Also one that is none but in this process, as of the shell's `<(…)`."""
    text = "".join((prepared.corpus / "test.src").read_text("utf-8").splitlines(True)[:2])
    command = ("translate", "--seed", "1", folder, "baseline")
    expected = syntax_nmt(*command, stdin=text).stdout
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    Thread(target=pipe.write_text, args=(text, "utf-8"), daemon=True).start()
    assert syntax_nmt(*command, pipe).stdout == expected
    arguments = [sys.executable, "-m", "syntax_nmt.cli", *map(str, command)]
    shell = f"{shlex.join(arguments)} <(printf %s {shlex.quote(text)})"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, encoding="utf-8")
    assert (done.stdout, done.returncode) == (expected, 0), done.stderr


@pytest.mark.parametrize("log", ["WARNING:", "2026-11-28 08:00:00 | WARNING | "])
@pytest.mark.parametrize("first", [True, False])
def test_a_line_that_is_skipped_has_an_empty_translation(log, first, capsys):
    """All later ones would be shifted."""
    warning = f"{log}syntax_nmt.task.batches{' | ' if '|' in log else ':'}"
    logged = [f"{warning}line {number} (9 tokens) is too long: why\n" for number in (1, 3, 7, 6)]
    printed = [
        f"S-1\t{warning}line 8 (9 tokens) is text\n",
        *["D-1\t-0.5\ttwo\ttabs\n", "H-1\t-0.5\ttwo\n", "D-4\t-0.5\t\n", "P-4\t-0.1\n"],
    ]
    found = "".join(translations([*logged, *printed] if first else [*printed, *logged]))
    assert found == "\ntwo\ttabs\n\n\n\n\n\n"
    assert capsys.readouterr().err.splitlines() == [
        "warning: line 1 (9 tokens) is too long: why",
        "warning: line 3 (9 tokens) is too long: why",
        "warning: line 4 has no translation",
        "warning: line 6 (9 tokens) is too long: why",
        "warning: line 7 (9 tokens) is too long: why",
    ]


def test_warnings_are_passed_on_once(capsys):
    """fairseq-interactive logs them among what it prints."""
    said = ["--load-features: has no effect", "/a/syntax_nmt.old/parser.json: made by | another"]
    log = "2026-11-28 08:00:00 | {} | {} | {}\n"
    ours, other = (log.format("WARNING", "syntax_nmt.task.typed_input", each) for each in said)
    printed = [ours, log.format("INFO", "syntax_nmt.task", "x"), f"S-0\t{ours}", other]
    printed += ["D-0\t-0.5\tone\n", log.format("WARNING", "fairseq.tasks", "x"), ours]
    assert list(translations(printed)) == ["one\n", ""]
    assert capsys.readouterr().err.splitlines() == [f"warning: {each}" for each in said]


@pytest.mark.dear
def test_lines_that_are_too_long(trained, folder, prepared):
    """They are named, and may be skipped; the last one, too."""
    word = (prepared.corpus / "test.src").read_text("utf-8").split()[0]
    text = f"{word}\n{word}{f' {word}' * 1100}\n{word}\n{word}{f' {word}' * 1200}\n"
    command = ("translate", folder, "baseline", "--seed", "1")
    said = refuse("syntax_nmt.cli", *command, stdin=text)
    assert re.search(r"failed: line 2 \([\d]+ source tokens\) is too long .* and 1 more: ", said)
    skip = ("--", "--skip-invalid-size-inputs-valid-test")
    done = syntax_nmt(*command, *skip, stdin=text)
    lines = done.stdout.splitlines()
    assert (len(lines), lines[1], lines[3], lines[0]) == (4, "", "", lines[2])
    assert re.findall(r"^warning: (line \d) .* is too long", done.stderr, re.M) == [
        "line 2", "line 4"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("train", "{}"), "no method: name one or more of baseline, rnn_baseline, "),
        (("train", "{}", "pascl"), "pascl: no such method: did you mean pascal?"),
        (("train", "{}", "nothing"), "nothing: no such method: choose of baseline, "),
        (("train", "{}", "rnn_search_cgru_tiny"), "architecture: give its method, rnn_baseline"),
        (("train", "{}", "phrase_transformer"), "architecture: give its method, ngrams or phrases"),
        (("train", "{}", "baseline", "--compare", "nowhere"), "--compare nowhere: no such file"),
        (("translate", "{}", "heads"), "no such checkpoint: train it by syntax-nmt train"),
        (
            ("translate", "{}", "heads", "--seed", "2"),
            "train it by syntax-nmt train {} heads --seeds 2",
        ),
        (
            ("translate", "{}", "baseline", "--name", "wet"),
            "syntax-nmt train {} baseline --name wet",
        ),
        (("train", "{}", "baseline", "--name", "../x"), "--name '../x' is no plain name"),
        (
            ("translate", "{}", "pascal", "--seed", "1"),
            "has no parser, and pascal reads dependency trees of the source: syntax-nmt train",
        ),
        (("translate", "{}", "baseline", "nowhere"), "nowhere: no such file"),
        (
            ("translate", "{}", "baseline", "--", "--nbest", "2"),
            "--nbest: this command prints a translation for each line and no more",
        ),
        (("translate", "{}", "baseline", "/"), "/: no such file"),
        (("train", "nowhere", "baseline"), "nowhere"),
        (("train", "{}", "baseline", "--seeds", "1", "2", "1"), "--seeds: 1 twice: give each"),
        (
            ("train", "{}", "baseline", "--seeds", "1", "2", "--", "--seed=5"),
            "--seed behind -- would replace all --seeds",
        ),
        (
            ("train", "{}", "baseline", "--", "--save-dir", "elsewhere"),
            "--save-dir behind --: checkpoints are in the prepared folder",
        ),
    ],
)
def test_mistakes_are_one_line(folder, words, part):
    said = refuse("syntax_nmt.cli", *(word.format(folder) for word in words))
    assert part.format(folder) in said


def test_a_seed_of_a_training_without_seeds(folder):
    model = folder / "tree_reg" / "checkpoint_best.pt"
    model.parent.mkdir()
    model.touch()
    said = refuse("syntax_nmt.cli", "translate", folder, "tree_reg", "--seed", "2")
    shutil.rmtree(model.parent)
    assert "no such checkpoint: it was trained without --seeds: leave --seed out" in said


def test_a_reference_of_another_text_is_noted_before_the_trainings(folder, prepared):
    source = prepared.corpus / "test.src"
    command = ("train", folder, "gcn", "--compare", source, "--dry-run")
    said = syntax_nmt(*command).stderr
    assert re.search(r"words/test.tgt: \d+ of its \d+ lines are those of .*/test.src: is it", said)
    right = (*command[:4], prepared.corpus / "test.tgt", "--dry-run")
    assert "lines are those" not in syntax_nmt(*right).stderr


def test_a_text_may_follow_options(folder, prepared):
    command = ("translate", folder, "baseline", "--seed", "1", prepared.corpus / "test.src")
    assert "test.src" in syntax_nmt(*command, "--dry-run").stdout


def test_a_method_whose_annotation_is_missing_is_refused_by_name(folder, tmp_path):
    plain = shutil.copytree(folder / "data-bin", tmp_path / "data-bin")
    (plain / "syntax.json").unlink()
    said = refuse("syntax_nmt.cli", "train", tmp_path, "features")
    assert "features: " in said
    assert (
        "has no parts of speech of the source's words and no dependency relations of the source's "
        "words: run `syntax-nmt prepare` again with --features upos,deprel, or choose of baseline, "
    ) in said
    makings = {"heads": "--parse", "bi_scale": "--chunks tagger", "dbsa": "--parse --target-parse"}
    for method, making in makings.items():
        said = refuse("syntax_nmt.cli", "train", tmp_path, method)
        assert f"{method}: {plain} has no " in said
        assert f"again with {making}, or choose of baseline" in said


def test_a_list_of_columns_that_lacks_one_is_named_whole(folder):
    """The option takes the place of the one given before, whose columns would be gone."""
    annotated = {"train": (TARGET_UPOS, CHUNK_TAG)}
    data = replace(TrainingData.of(folder), annotated=annotated)
    with pytest.raises(UserError, match="again with --target-features upos,chunk,deprel, or"):
        named_method(data, "factors")


def test_what_a_comparison_of_chinese_is_told(folder, tmp_path, monkeypatch):
    """Words of the source, as S- lines have the target's rules; and how to split the reference."""
    runs = []
    monkeypatch.setattr(
        train.subprocess, "run", lambda command: runs.append(command) or Mock(returncode=0)
    )
    data = replace(TrainingData.of(folder), languages=("src", "zh"))
    packed = tmp_path / "test.zh.gz"
    with gzip.open(packed, "wt", encoding="utf-8") as stream:
        stream.write("他们在公园里踢足球。\n" * 20)
    train._compare(data, [], [], packed)
    (command,) = runs
    assert command[3:] == [
        "score", "--source", str(folder / "words" / "test.src"), "--tokenize", "zh",
        "--ter-normalized", "--ter-asian-support", "--reference", str(packed),
    ]  # fmt: skip


@pytest.mark.dear
def test_a_program_that_fails_is_named_with_its_reason(folder):
    said = refuse("syntax_nmt.cli", "train", folder, "latent", "--", "--max-tokens", "2")
    assert "fairseq-train failed: " in said
    assert not (folder / "latent" / "test.out").exists()


def test_the_lines_are_those_that_options_prints(folder):
    """`--dry-run` runs nothing."""
    data = TrainingData.of(folder)
    printed = next_commands(data, FOLDER).replace(" \\\n   ", "")
    methods = [method.save_dir for method in trainable(data)]
    shown, asked = (
        syntax_nmt(*command).stdout.replace(" \\\n   ", "").splitlines()
        for command in (
            ("train", folder, *methods, "--dry-run"),
            ("options", "--training", folder, *methods),
        )
    )
    assert len(shown) == len(asked) == 2 * len(methods)
    assert shown[::2] == asked[::2]
    for method, training, translate in zip(methods, shown[::2], shown[1::2], strict=True):
        assert training in printed
        assert training.endswith(f"/{method}")
        assert shlex.split(translate)[0] == "fairseq-generate"
    assert not (folder / "ngrams").exists()


def test_of_several_test_sets_the_first_is_translated(folder, tmp_path):
    """`--compare` is given its reference; without any test set nothing is translated."""
    data = shutil.copytree(folder / "data-bin", tmp_path / "data-bin")
    tests = list(data.glob("test.*"))
    for path in tests:
        shutil.copy(path, path.with_name(path.name.replace("test", "test1", 1)))
    assert list(TrainingData.of(tmp_path).splits)[-2:] == ["test", "test1"]
    asked = ("train", tmp_path, "baseline", "pascal", "--dry-run")
    assert re.findall(r"--gen-subset (\S+)", syntax_nmt(*asked).stdout) == ["test", "test"]
    for path in (*tests, *data.glob("test1.*")):
        path.unlink()
    assert "fairseq-generate" not in syntax_nmt(*asked).stdout


def test_annotation_that_the_test_set_lacks_is_named_before_a_training(folder, tmp_path):
    data = shutil.copytree(folder / "data-bin", tmp_path / "data-bin")
    manifest = json.loads((data / "syntax.json").read_text())
    manifest["files"]["test.src-tgt.src.upos"]["annotated"] = 0
    (data / "syntax.json").write_text(json.dumps(manifest))
    said = refuse("syntax_nmt.cli", "train", tmp_path, "baseline", "features", *FEW)
    lacks = f"features: test of {data} has no parts of speech of the source's words: run"
    assert lacks in said
    assert "with --features " in said
    assert not (tmp_path / "baseline").exists()


def test_a_changed_test_set_is_translated_again(folder, tmp_path, monkeypatch):
    """Also where the checkpoint is the same."""
    for name in ("data-bin", "segmentation.json", "sentencepiece.model"):
        copy = shutil.copytree if (folder / name).is_dir() else shutil.copy
        copy(folder / name, tmp_path / name)
    data = TrainingData.of(tmp_path)
    training = Training(data, named_method(data, "baseline"), None, ())
    training.folder.mkdir()
    (training.folder / "checkpoint_best.pt").touch()
    runs = []
    monkeypatch.setattr(
        "syntax_nmt.preparation.trainings.lines_of",
        lambda command, _: runs.append(command) or [],
    )
    translate_test(training)
    translate_test(training)
    assert len(runs) == 1
    later = training.output.stat().st_mtime + 10
    os.utime(data.data_bin / "test.src-tgt.src.bin", (later, later))
    translate_test(training)
    assert len(runs) == 2


@pytest.fixture
def training(folder, tmp_path, monkeypatch):
    """Of a copy, by a program that begins to train and leaves a checkpoint."""
    for name in ("data-bin", "segmentation.json", "sentencepiece.model"):
        copy = shutil.copytree if (folder / name).is_dir() else shutil.copy
        copy(folder / name, tmp_path / name)
    data = TrainingData.of(tmp_path)
    made = Training(data, named_method(data, "pascal"), None, ("--lr", "1"))

    def lines_of(*_, **__):
        yield "| INFO | begin training epoch 1\n"
        (made.folder / "checkpoint_last.pt").touch()

    monkeypatch.setattr("syntax_nmt.preparation.trainings.lines_of", lines_of)
    return made


def add_bytes(path):
    path.write_bytes(path.read_bytes() + b"12345678")


@pytest.mark.parametrize(
    "changed", ["dict.src.txt", *(f"train.src-tgt.{each}.bin" for each in ("tgt", "src.heads"))]
)
def test_a_training_on_data_that_have_changed_is_refused(training, changed):
    """What other methods read, and test text, may change."""
    train_once(training)
    data_bin = training.data.data_bin
    for other in ("train.src-tgt.src.phrases.bin", "test.src-tgt.src.bin", "syntax.json"):
        add_bytes(data_bin / other)
    train_once(training)
    add_bytes(data_bin / changed)
    said = rf"pascal: {training.folder} was trained on other data \({changed} is another now"
    with pytest.raises(UserError, match=said):
        train_once(training)
    (training.folder / "train.data").unlink()  # older versions wrote none
    train_once(training)


def test_a_run_that_does_not_begin_leaves_the_options_of_another(training, monkeypatch):
    train_once(training)
    (training.folder / "checkpoint_last.pt").unlink()  # the other has none yet

    def lines_of(*_, **__):
        yield "a line\n"
        raise UserError("another process trains")

    monkeypatch.setattr("syntax_nmt.preparation.trainings.lines_of", lines_of)
    with pytest.raises(UserError, match="another process trains"):
        train_once(replace(training, more=("--lr", "2")))
    assert (training.folder / "train.options").read_text() == "--lr 1\n"


def test_a_reference_of_other_lines_is_refused_before_a_training(folder, prepared):
    reference = prepared.corpus / "valid.tgt"
    (folder / "short.tgt").write_text("".join(reference.read_text().splitlines(True)[:7]))
    command = ("train", folder, "gcn", "--compare", folder / "short.tgt", *FEW)
    assert "short.tgt: has 7 lines, and the test set of" in refuse("syntax_nmt.cli", *command)
    assert not (folder / "gcn").exists()


@pytest.mark.dear
def test_a_killed_training_resumes(folder):
    """At the seed and at the update where it was, and goes on to the seeds that had not begun."""
    more = ("--", "--max-update", "12", "--save-interval-updates", "2", "--log-interval", "1")
    command = ("train", folder, "lisa", "--seeds", "1", "2", *more)
    job = started("-m", "syntax_nmt.cli", *command)
    first = folder / "lisa" / "seed1"
    while not (first / "checkpoint_last.pt").is_file():
        assert job.poll() is None
        time.sleep(0.05)
    kill_all(job, folder)
    assert not (first / "test.out").exists()
    assert not (folder / "lisa" / "seed2").exists()
    done = syntax_nmt(*command)
    logs = [(folder / "lisa" / f"seed{seed}" / "train.log").read_text("utf-8") for seed in (1, 2)]
    assert re.search(r"Loaded checkpoint .*checkpoint_last.pt \(epoch \d+ @ \d+ updates\)", logs[0])
    assert "Loaded checkpoint" not in logs[1]
    for seed, log in enumerate(logs, start=1):
        assert log.count(" updates, score") >= 1
        assert f"lisa, seed {seed}: translating the test set" in done.stdout
        translated = (folder / "lisa" / f"seed{seed}" / "test.out").read_text("utf-8")
        assert len(re.findall("^D-", translated, re.M)) == 20
