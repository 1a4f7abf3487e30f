"""Mistakes that fairseq answers with a traceback, or not at all: one line each."""

import sys
from unittest import mock

import pytest
from commands import USER_DIR, fairseq, refuse
from fairseq import options, tasks
from fairseq_cli import train

pytestmark = pytest.mark.dear

PLUGIN = ("--user-dir", USER_DIR, "--task", "syntax_translation", "--cpu")
TRAIN = ("--arch", "dependency_transformer_tiny", "--share-all-embeddings", "--optimizer", "sgd")
TRAIN += ("--lr", "0.1", "--max-update", "1", "--max-tokens", "999")


def trained(prepared, folder, *arguments):
    """Trains in this process, as `fairseq-train` does, which also reads the options."""
    command = ["fairseq-train", prepared.data, *PLUGIN, *TRAIN, "--save-dir", folder, *arguments]
    with mock.patch.object(sys, "argv", [str(part) for part in command]):
        train.cli_main()


MISTAKES = {
    "too long": (("--max-source-positions", "2"), r"every sentence is too long, such as .* tokens"),
    "no GPU": (("--fp16",), r"--fp16 flattens .* --fp16-no-flatten-grads"),
    "small batches": (("--max-tokens", "3"), r"every sentence is too long, .* limit is 3 source"),
    "no TPU": (("--bf16",), r"--bf16 of fairseq-train is for TPUs, .* common\.bf16=true"),
    "no TPU, either": (("--memory-efficient-bf16",), "--bf16 of fairseq-train is for TPUs"),
    "no parses": (
        ("--criterion", "dependency_cross_entropy"),
        "the criterion needs the dependency trees of the source: add --load-dependencies",
    ),
    "no loss of parses": (
        ("--criterion", "label_smoothed_cross_entropy", "--load-dependencies"),
        "--criterion label_smoothed_cross_entropy has no loss of the dependency trees",
    ),
    "no phrases": (
        ("--arch", "phrase_transformer_tiny", "--phrase-segmentation", "parsed"),
        "the model reads phrases .*: add --load-phrases",
    ),
    "no source": (("--no-cross-attention",), "nothing would read the source: add --cross-self"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_trainings(prepared, tmp_path, mistake, caplog):
    caplog.set_level("INFO")
    arguments, message = MISTAKES[mistake]
    limits = () if mistake == "too long" else ("--max-source-positions", "99")
    with pytest.raises(SystemExit, match=f"^syntax-nmt: error: [^\n]*{message}[^\n]*$"):
        trained(prepared, tmp_path / "saved", *limits, *arguments)
    assert not list((tmp_path / "saved").glob("*.pt"))
    assert "begin training epoch" not in caplog.text or not mistake.startswith("no p")


def test_a_forgotten_learning_rate(prepared, tmp_path, caplog):
    trained(prepared, tmp_path / "saved")
    assert "fairseq's default" not in caplog.text
    trained(prepared, tmp_path / "other", "--lr", "0.25")
    assert "--lr is 0.25, fairseq's default, with which hardly anything trains" in caplog.text


def test_a_folder_below_a_file(prepared, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit, match=r"--save-dir .*/file is a file: give another folder"):
        trained(prepared, tmp_path / "file" / "below" / "it")
    trained(prepared, tmp_path / "new" / "folder")
    assert (tmp_path / "new" / "folder" / "checkpoint_last.pt").is_file()


def test_other_programs_keep_their_options():
    """fairseq-train has no --path."""
    for get, known in (
        (options.get_training_parser, {"--save-dir"}),
        (options.get_generation_parser, {"--save-dir", "--path"}),
    ):
        parser = get(default_task="syntax_translation")
        tasks.TASK_REGISTRY["syntax_translation"].add_args(parser)
        text = parser.format_help()
        assert {name for name in ("--save-dir", "--path") if f"  {name} " in text} == known


def test_validation_without_a_checkpoint(prepared, tmp_path):
    missing = "--path", tmp_path / "none.pt", "--max-tokens", "100"
    message = refuse(*fairseq("validate", prepared.data, *missing))
    assert "none.pt: no such checkpoint" in message


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--bpe", "sentencepiece", "--sentencepiece-model", "nowhere.model"),
            "--sentencepiece-model nowhere.model: no such file",
        ),
        (("--max-tokens", "5"), "--max-tokens 5: a sentence has "),
        (("--constraints",), "--constraints: the text has none here: fairseq-interactive reads"),
        (("--replace-unk",), "--replace-unk without a value names no dictionary of words: give"),
        (("--replace-unk", ""), "--replace-unk: fairseq-generate reads the source words from raw"),
    ],
)
def test_translations(prepared, good, options, said):
    assert said in refuse(*fairseq("generate", prepared.data, "--path", good, *options))
