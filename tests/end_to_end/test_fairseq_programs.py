"""fairseq's own programs with the plugin, from training to interactive translation."""

import re
from pathlib import Path

import pytest
from commands import fairseq, refuse, succeed
from methods import STOCK
from prepared_corpus import TEST_SENTENCES


@pytest.fixture(scope="module")
def training() -> tuple[str, ...]:
    """What the tests train."""
    return (
        *("--arch", "dependency_transformer_tiny", "--load-dependencies"),
        *("--criterion", "dependency_cross_entropy", "--label-smoothing", "0.1"),
        *("--share-all-embeddings", "--optimizer", "adam", "--lr", "3e-3"),
        *("--max-tokens", "2000", "--max-update", "12", "--no-epoch-checkpoints"),
        *("--log-format", "json", "--log-interval", "4"),
    )


@pytest.fixture(scope="module")
def checkpoint(prepared, training, tmp_path_factory) -> Path:
    """A model trained on the small corpus for a few updates."""
    folder = tmp_path_factory.mktemp("checkpoints")
    succeed(*fairseq("train", prepared.data, *training, "--save-dir", folder))
    return folder / "checkpoint_last.pt"


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
def test_training_logs_and_resumes(prepared, tmp_path, training):
    """Side losses are logged apart, in training and validation; a stopped run goes on."""
    train = fairseq("train", prepared.data, *training, "--save-dir", tmp_path)
    done = succeed(*train, "--max-update", "6")
    log = done.stdout + done.stderr
    for split in ("train", "valid"):
        for figure in ("uas", "child_loss", "parent_loss", "supervised", "nll_loss"):
            assert f'"{split}_{figure}"' in log, log[-2000:]
    resumed = succeed(*train, "--max-update", "8")
    assert "@ 6 updates" in resumed.stdout + resumed.stderr
    assert '"num_updates": "8"' in resumed.stdout + resumed.stderr


@pytest.mark.dear
def test_validation_with_bleu_resumes(prepared, tmp_path, training):
    """`--eval-bleu` puts numpy's numbers into the checkpoint; the safe loader reads them."""
    train = fairseq("train", prepared.data, *training, "--save-dir", tmp_path)
    bleu = ("--eval-bleu", "--eval-bleu-args", '{"beam": 2, "max_len_b": 5}')
    succeed(*train, *bleu, "--best-checkpoint-metric", "bleu", "--max-update", "2")
    done = succeed(*train, *bleu, "--best-checkpoint-metric", "bleu", "--max-update", "3")
    assert "Loaded checkpoint" in done.stderr + done.stdout


def test_heads_without_supervision_are_mentioned(prepared, tmp_path, training):
    unsupervised = [option for option in training if option != "--load-dependencies"]
    done = succeed(
        *fairseq("train", prepared.data, *unsupervised, "--save-dir", tmp_path),
        *("--criterion", "label_smoothed_cross_entropy", "--max-update", "1"),
    )
    assert (
        "nothing trains what the model learns of the dependency trees" in done.stderr + done.stdout
    )


@pytest.mark.dear
def test_a_model_of_fairseqs_own_beside_the_annotation_files(prepared, tmp_path, training):
    """`--load-phrases` for all systems alike: trained, validated and translated, with a warning."""
    options = (*training, *STOCK, "--load-phrases", "--max-update", "2", "--save-dir", tmp_path)
    done = succeed(*fairseq("train", prepared.data, *options))
    assert (done.stdout + done.stderr).count("--load-phrases: has no effect") == 1
    assert '"valid_loss"' in done.stdout + done.stderr
    path = ("--path", tmp_path / "checkpoint_last.pt", "--load-phrases", "--max-len-b", "10")
    generated = outputs(succeed(*fairseq("generate", prepared.data, *path)).stdout)
    assert len(generated) == TEST_SENTENCES


# What a user can get wrong: one line each, a non-zero exit status, no traceback.


@pytest.mark.parametrize("option", ["--truncate-source", "--num-batch-buckets=2"])
def test_options_that_move_tokens(prepared, tmp_path, option, training):
    command = fairseq("train", prepared.data, *training, "--save-dir", tmp_path, option)
    assert option.split("=")[0] in refuse(*command)


def test_forgotten_task(prepared, checkpoint):
    command = fairseq("generate", prepared.data, "--path", checkpoint)
    task = ("--task", "syntax_translation")
    assert " ".join(task) in refuse(*(part for part in command if part not in task))


@pytest.mark.parametrize(
    ("options", "said"),
    [(("-s", "xx", "-t", "tgt"), ("xx", "src, tgt")), (("--gen-subset", "dev"), ("dev",))],
)
def test_what_the_data_folder_lacks(prepared, checkpoint, options, said):
    message = refuse(*fairseq("generate", prepared.data, "--path", checkpoint, *options))
    assert all(part in message for part in said)


@pytest.mark.parametrize(("given", "said"), [("", "data-bin"), ("nowhere", "nowhere")])
def test_another_folder_than_that_of_the_data(prepared, checkpoint, given, said):
    message = refuse(*fairseq("generate", prepared.folder / given, "--path", checkpoint))
    assert str(prepared.folder / said) in message
