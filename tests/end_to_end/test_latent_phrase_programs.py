"""fairseq's programs with latent phrases and the synchronous constraint."""

import re

import pytest
from commands import fairseq, refuse, succeed
from prepared_corpus import TEST_SENTENCES
from training import TRAINING

pytestmark = pytest.mark.dear

LATENT = ("--arch", "latent_phrase_transformer_tiny", "--criterion", "synchronous_cross_entropy")
SHORT = ("--max-update", "4", "--log-interval", "1")


def train(prepared, folder, *arguments):
    plain = [part for part in TRAINING if part != "--load-dependencies"]
    done = succeed(*fairseq("train", prepared.data, *plain, *arguments, "--save-dir", folder))
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def checkpoint(prepared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("latent")
    log = train(prepared, folder, *LATENT)
    assert '"train_sync_loss"' in log
    assert '"valid_sync_loss"' in log
    return folder / "checkpoint_last.pt"


@pytest.mark.parametrize("search", [["--beam", "3"], ["--score-reference"], ["--print-alignment"]])
def test_translates_the_test_set(prepared, checkpoint, search):
    command = fairseq("generate", prepared.data, "--path", checkpoint, "--max-len-b", "10")
    done = succeed(*command, *search)
    numbers = re.findall(r"^H-(\d+)\t", done.stdout, flags=re.MULTILINE)
    assert sorted(map(int, numbers)) == list(range(TEST_SENTENCES))


def test_every_feature_and_every_loss_at_once(prepared, tmp_path):
    log = train(
        prepared, tmp_path, *LATENT, *SHORT, "--load-dependencies", "--load-phrases",
        "--phrase-segmentation", "parsed", "--phrase-attention", "--transparent-attention",
        "--supervised-layer=-1", "--local-attention-window", "4",
        "--criterion", "syntax_cross_entropy", "--child-weight", "0.4", "--parent-weight", "0.4",
        "--sync-weight", "0.01",
    )  # fmt: skip
    assert '"train_sync_loss"' in log
    assert '"train_uas"' in log


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--sync-cross-layers", "0,1"), "go with --sync-loss attention"),
        (("--sync-loss", "attention", "--sync-cross-layers", "x"), "--sync-cross-layers x"),
        (("--sync-loss", "attention", "--sync-cross-layers", "0"), "give equally many"),
        (("--sync-loss", "attention", "--sync-cross-layers", "0,2"), "--sync-cross-layers 2"),
    ],
)
def test_contradicting_options(prepared, tmp_path, options, message):
    plain = [part for part in TRAINING if part != "--load-dependencies"]
    command = fairseq("train", prepared.data, *plain, *LATENT, *options, "--save-dir", tmp_path)
    assert message in refuse(*command)
