"""fairseq's programs and `syntax-nmt chunks` with the bi-scale decoder."""

import json
import re
import shutil

import pytest
from commands import fairseq, succeed
from prepared_corpus import TEST_SENTENCES

pytestmark = pytest.mark.dear

TRAINING = (
    *("--share-all-embeddings", "--encoder-embed-dim", "48", "--decoder-embed-dim", "48"),
    *("--criterion", "chunk_cross_entropy", "--label-smoothing", "0.1", "--load-chunks"),
    *("--optimizer", "adam", "--lr", "1e-2", "--clip-norm", "1", "--max-tokens", "1000"),
    *("--max-update", "40", "--no-epoch-checkpoints", "--log-format", "json"),
    *("--arch", "bi_scale_rnn_tiny"),
)


@pytest.fixture(scope="module")
def trained(prepared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bi_scale")
    done = succeed(*fairseq("train", prepared.data, *TRAINING, "--save-dir", folder))
    return folder / "checkpoint_last.pt", done.stdout + done.stderr


@pytest.fixture(scope="module")
def checkpoint(trained):
    return trained[0]


@pytest.fixture(scope="module")
def bare(prepared, tmp_path_factory):
    """The data folder without any annotation file."""
    folder = tmp_path_factory.mktemp("bare") / "data-bin"
    shutil.copytree(prepared.data, folder)
    for pattern in ("dict.chunks.txt", "*.chunks.*", "*.heads.*", "*.phrases.*", "syntax.json"):
        for path in folder.glob(pattern):
            path.unlink()
    return folder


def lines(kind, text):
    found = re.findall(rf"^{kind}-(\d+)\t(.*)$", text, flags=re.MULTILINE)
    return {int(number): rest.split("\t") for number, rest in found}


def test_training_and_validation_log_losses_and_accuracies(trained):
    for split in ("train", "valid"):
        logged = [
            json.loads(x) for x in re.findall(r"\{.*\}", trained[1]) if f'"{split}_loss"' in x
        ]
        assert logged
        for figure in ("boundary_loss", "tag_loss", "boundary_accuracy", "tag_accuracy"):
            assert float(logged[-1][f"{split}_{figure}"]) > 0
        assert float(logged[-1][f"{split}_boundary_accuracy"]) > 60
    assert "nothing trains" not in trained[1]


def test_translates_without_annotation_files(prepared, bare, checkpoint):
    arguments = ("--path", checkpoint, "--max-len-b", "20", "--beam", "3")
    few = succeed(*fairseq("generate", bare, *arguments, "--batch-size", "3")).stdout
    many = succeed(*fairseq("generate", prepared.data, *arguments, "--load-chunks")).stdout
    assert sorted(lines("H", few)) == list(range(TEST_SENTENCES))
    assert {n: h[1] for n, h in lines("H", few).items()} == {
        n: h[1] for n, h in lines("H", many).items()
    }
    typed = succeed(
        *fairseq("interactive", bare, *arguments, "--bpe", "sentencepiece"),
        *("--sentencepiece-model", prepared.folder / "sentencepiece.model", "--buffer-size", "7"),
        *("--tokenizer", "syntax_words", "--source-tokenizer", "none"),
        *("--target-tokenizer", "none"),
        stdin=(prepared.corpus / "test.src").read_text(encoding="utf-8"),
    ).stdout
    assert {n: h[1] for n, h in lines("H", typed).items()} == {
        n: h[1] for n, h in lines("H", few).items()
    }
