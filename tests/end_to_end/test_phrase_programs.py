"""fairseq's programs with parsed phrases: trained, resumed and translated with --load-phrases."""

import re

import pytest
from commands import fairseq, succeed
from prepared_corpus import TEST_SENTENCES
from training import TRAINING

pytestmark = pytest.mark.dear

PHRASES = (
    *("--arch", "phrase_transformer_tiny", "--phrase-segmentation", "parsed", "--load-phrases"),
    *("--criterion", "label_smoothed_cross_entropy"),
)


@pytest.fixture(scope="module")
def parsed_checkpoint(prepared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parsed")
    succeed(*fairseq("train", prepared.data, *TRAINING, *PHRASES, "--save-dir", folder))
    return folder / "checkpoint_last.pt"


def generated(prepared, checkpoint, *arguments):
    command = fairseq("generate", prepared.data, "--path", checkpoint, "--max-len-b", "10")
    done = succeed(*command, "--load-phrases", "--beam", "3", *arguments)
    return dict(re.findall(r"^H-(\d+)\t\S+\t(.*)$", done.stdout, flags=re.MULTILINE))


def test_translates_the_test_set(prepared, parsed_checkpoint):
    """Every sentence, and the same in batches of any size."""
    few = generated(prepared, parsed_checkpoint, "--batch-size", "3")
    assert sorted(map(int, few)) == list(range(TEST_SENTENCES))
    assert few == generated(prepared, parsed_checkpoint, "--batch-size", "64")


STOCK = (
    *("--arch", "transformer", "--encoder-layers", "1", "--decoder-layers", "1"),
    *("--encoder-embed-dim", "16", "--decoder-embed-dim", "16", "--encoder-ffn-embed-dim", "16"),
    *("--decoder-ffn-embed-dim", "16", "--criterion", "label_smoothed_cross_entropy"),
)


def test_a_model_of_fairseqs_own_beside_the_annotation_files(prepared, tmp_path):
    """`--load-phrases` for all systems alike: trained, validated and translated, with a warning."""
    options = (*TRAINING, *STOCK, "--load-phrases", "--max-update", "2", "--save-dir", tmp_path)
    done = succeed(*fairseq("train", prepared.data, *options))
    assert (done.stdout + done.stderr).count("--load-phrases: has no effect") == 1
    assert '"valid_loss"' in done.stdout + done.stderr
    assert len(generated(prepared, tmp_path / "checkpoint_last.pt")) == TEST_SENTENCES
