"""fairseq's own programs with the plugin, from training to interactive translation."""

import re
import shlex
import shutil
import sys

import pytest
from commands import assert_task_is_asked_for, fairseq, refuse, succeed, syntax_nmt
from prepared_corpus import TEST_SENTENCES
from training import TRAINING


def outputs(text):
    """The best translation of each sentence number."""
    return dict(re.findall(r"^H-(\d+)\t\S+\t(.*)$", text, flags=re.MULTILINE))


@pytest.mark.parametrize("batch", ["1", "7", "8", "64"])
def test_no_sentence_is_lost(prepared, checkpoint, batch):
    done = succeed(
        *fairseq("generate", prepared.data, "--path", checkpoint, "--batch-size", batch),
        *("--beam", "2", "--max-len-b", "10"),
    )
    assert sorted(map(int, outputs(done.stdout))) == list(range(TEST_SENTENCES))


def test_generation_options(prepared, checkpoint):
    done = succeed(
        *fairseq("generate", prepared.data, "--path", checkpoint, "--max-len-b", "10"),
        *("--print-alignment", "--nbest", "2", "--lenpen", "0.6"),
    )
    assert len(re.findall(r"^A-\d+\t\S+", done.stdout, flags=re.MULTILINE)) == 2 * TEST_SENTENCES


def test_interactive_equals_generate(prepared, checkpoint):
    """Translation of typed text reads no annotation file and gives what the test set gave."""
    generated = outputs(
        succeed(
            *fairseq("generate", prepared.data, "--path", checkpoint, "--max-len-b", "10")
        ).stdout
    )
    model = prepared.folder / "sentencepiece.model"
    typed = succeed(
        *fairseq("interactive", prepared.data, "--path", checkpoint, "--max-len-b", "10"),
        *("--bpe", "sentencepiece", "--sentencepiece-model", model),
        *("--tokenizer", "syntax_words", "--source-tokenizer", "none"),
        *("--target-tokenizer", "none", "--buffer-size", "7"),
        stdin=(prepared.corpus / "test.src").read_text(encoding="utf-8"),
    )
    assert outputs(typed.stdout) == generated


def test_validate_logs_the_attachment(prepared, checkpoint):
    done = succeed(
        *fairseq("validate", prepared.data, "--path", checkpoint, "--load-dependencies"),
        *("--valid-subset", "test", "--max-tokens", "2000"),
    )
    assert re.search(r"uas\D+\d", done.stdout + done.stderr)


@pytest.mark.dear
def test_training_logs_and_resumes(prepared, tmp_path):
    """Side losses are logged apart, in training and validation; a stopped run goes on."""
    train = fairseq("train", prepared.data, *TRAINING, "--save-dir", tmp_path)
    done = succeed(*train, "--max-update", "6")
    log = done.stdout + done.stderr
    for split in ("train", "valid"):
        for figure in ("uas", "child_loss", "parent_loss", "supervised", "nll_loss"):
            assert f'"{split}_{figure}"' in log, log[-2000:]
    resumed = succeed(*train, "--max-update", "8")
    assert "@ 6 updates" in resumed.stdout + resumed.stderr
    assert '"num_updates": "8"' in resumed.stdout + resumed.stderr


def test_trees_come_out(prepared, checkpoint, tmp_path):
    output = tmp_path / "test.conllu"
    syntax_nmt(
        *("trees", prepared.data, "--path", checkpoint, "--gen-subset", "test"),
        *("--conllu", prepared.corpus / "test.src.conllu", "--output", output),
    )
    text = output.read_text(encoding="utf-8")
    roots = [
        line
        for line in text.splitlines()
        if re.match(r"^\d+\t", line) and line.split("\t")[6] == "0"
    ]
    assert len(roots) == TEST_SENTENCES


def test_all_three_kinds_load(prepared, tmp_path):
    succeed(
        *fairseq("train", prepared.data, *TRAINING, "--load-phrases", "--load-chunks"),
        *("--save-dir", tmp_path, "--max-update", "2"),
    )


@pytest.mark.dear
def test_two_processes_train_together(prepared, tmp_path):
    """Two CPU workers: one log, which sums both, and one checkpoint.

    fairseq joins CPU workers only if it is told everything: by itself it takes the number of GPUs
    for the number of workers, and each would train alone.
    """
    train = fairseq("train", prepared.data, *TRAINING, "--save-dir", tmp_path, "--max-update", "2")
    together = (
        *("--distributed-backend", "gloo", "--ddp-backend", "legacy_ddp"),
        *("--distributed-world-size", "2", "--distributed-init-method", "env://"),
        *("--distributed-no-spawn", "--distributed-rank"),
    )
    worker = shlex.join([sys.executable, "-m", *map(str, (*train, *together))]) + " $RANK"
    launch = ("--nproc_per_node", "2", "--standalone", "--no-python")
    done = succeed("torch.distributed.run", *launch, "bash", "-c", worker)
    log = done.stdout + done.stderr
    assert "training on 2 devices" in log
    assert log.count('"train_supervised": "100"') == 1
    assert (tmp_path / "checkpoint_last.pt").is_file()


@pytest.mark.dear
def test_validation_with_bleu_resumes(prepared, tmp_path):
    """`--eval-bleu` puts numpy's numbers into the checkpoint; the safe loader reads them."""
    train = fairseq("train", prepared.data, *TRAINING, "--save-dir", tmp_path)
    bleu = ("--eval-bleu", "--eval-bleu-args", '{"beam": 2, "max_len_b": 5}')
    succeed(*train, *bleu, "--best-checkpoint-metric", "bleu", "--max-update", "2")
    done = succeed(*train, *bleu, "--best-checkpoint-metric", "bleu", "--max-update", "3")
    assert "Loaded checkpoint" in done.stderr + done.stdout


def test_heads_without_supervision_are_mentioned(prepared, tmp_path):
    done = succeed(
        *fairseq("train", prepared.data, *TRAINING, "--save-dir", tmp_path),
        *("--criterion", "label_smoothed_cross_entropy", "--max-update", "1"),
    )
    assert (
        "nothing trains what the model learns of the dependency trees" in done.stderr + done.stdout
    )


# What a user can get wrong: one line each, a non-zero exit status, no traceback.


def test_forgotten_task(prepared, checkpoint):
    assert_task_is_asked_for(*fairseq("generate", prepared.data, "--path", checkpoint))


def test_forgotten_parses(prepared, tmp_path):
    command = [
        part
        for part in fairseq("train", prepared.data, *TRAINING, "--save-dir", tmp_path)
        if part != "--load-dependencies"
    ]
    assert "--load-dependencies" in refuse(*command)


@pytest.mark.parametrize("option", ["--truncate-source", "--num-batch-buckets=2"])
def test_options_that_move_tokens(prepared, tmp_path, option):
    command = fairseq("train", prepared.data, *TRAINING, "--save-dir", tmp_path, option)
    assert option.split("=")[0] in refuse(*command)


def test_unknown_language(prepared, checkpoint):
    command = fairseq("generate", prepared.data, "--path", checkpoint, "-s", "xx", "-t", "tgt")
    message = refuse(*command)
    assert "xx" in message
    assert "src, tgt" in message


def test_folder_around_the_data(prepared, checkpoint):
    message = refuse(*fairseq("generate", prepared.folder, "--path", checkpoint))
    assert str(prepared.data) in message


def test_missing_folder(checkpoint, tmp_path):
    message = refuse(*fairseq("generate", tmp_path / "nowhere", "--path", checkpoint))
    assert "nowhere" in message


def test_missing_split(prepared, checkpoint):
    command = fairseq("generate", prepared.data, "--path", checkpoint, "--gen-subset", "dev")
    assert "dev" in refuse(*command)


def copy_of(prepared, tmp_path):
    return shutil.copytree(prepared.data, tmp_path / "data-bin")


def training_on(data, tmp_path):
    return fairseq("train", data, *TRAINING, "--save-dir", tmp_path / "checkpoints")


def test_missing_annotation_file(prepared, tmp_path):
    data = copy_of(prepared, tmp_path)
    (data / "train.src-tgt.src.heads.bin").unlink()
    assert "train.src-tgt.src.heads.bin" in refuse(*training_on(data, tmp_path))


def test_changed_text(prepared, tmp_path):
    """Annotation files made for other text, which has the same number of sentences."""
    data = copy_of(prepared, tmp_path)
    for suffix in ("bin", "idx"):
        shutil.copy(data / f"valid.src-tgt.tgt.{suffix}", data / f"valid.src-tgt.src.{suffix}")
    assert "valid.src-tgt.src" in refuse(*training_on(data, tmp_path))


def test_flipped_bit(prepared, tmp_path):
    data = copy_of(prepared, tmp_path)
    path = data / "train.src-tgt.src.heads.bin"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert path.name in refuse(*training_on(data, tmp_path))
