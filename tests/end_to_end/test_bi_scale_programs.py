"""fairseq's programs and `syntax-nmt chunks` with the bi-scale decoder."""

import json
import re
import shutil

import pytest
from commands import fairseq, refuse, succeed, syntax_nmt
from prepared_corpus import TEST_SENTENCES

from syntax_nmt.data.chunks import read_chunks

pytestmark = pytest.mark.dear

TRAINING = (
    *("--share-all-embeddings", "--encoder-embed-dim", "48", "--decoder-embed-dim", "48"),
    *("--criterion", "chunk_cross_entropy", "--label-smoothing", "0.1", "--load-chunks"),
    *("--optimizer", "adam", "--lr", "1e-2", "--clip-norm", "1", "--max-tokens", "1000"),
    *("--max-update", "40", "--no-epoch-checkpoints", "--log-format", "json"),
    *("--arch", "bi_scale_rnn_tiny"),
)
FIGURES = ("boundary_loss", "tag_loss", "boundary_accuracy", "tag_accuracy")


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
        for figure in FIGURES:
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
    words_alone = succeed(
        *fairseq("generate", bare, *arguments),
        *("--model-overrides", "{'no_joint_score': True}"),
    ).stdout
    scores = [{n: float(h[0]) for n, h in lines("H", x).items()} for x in (few, words_alone)]
    assert sum(scores[1].values()) > sum(scores[0].values())
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


def test_references_are_scored_with_and_without_annotation(prepared, bare, checkpoint):
    command = ("--path", checkpoint, "--score-reference")
    with_chunks = succeed(*fairseq("generate", prepared.data, *command, "--load-chunks")).stdout
    without = succeed(*fairseq("generate", bare, *command)).stdout
    scores = [{n: float(h[0]) for n, h in lines("H", x).items()} for x in (with_chunks, without)]
    assert len(scores[0]) == len(scores[1]) == TEST_SENTENCES
    assert scores[0] != scores[1]


def test_other_tags_are_refused(prepared, checkpoint):
    command = fairseq("generate", prepared.data, "--path", checkpoint, "--score-reference")
    overrides = ("--model-overrides", "{'chunk_tags': 'A B C D E F'}")
    message = refuse(*command, "--load-chunks", *overrides)
    assert "A B C D E F" in message
    assert "leave --load-chunks out" in message


def test_everything_at_once(prepared):
    """Its search in validation reads no annotation, though the batch has one."""
    done = succeed(
        *fairseq("train", prepared.data, *TRAINING, "--max-update", "2", "--no-save"),
        *("--chunk-attention", "word", "--relation-kernels", "3:8", "--relation-hidden-dim", "8"),
        *("--decoder-layers", "2", "--criterion", "syntax_cross_entropy"),
        *("--boundary-weight", "1", "--eval-bleu"),
        *("--eval-bleu-args", '{"beam": 1, "max_len_a": 0, "max_len_b": 5}'),
    )
    log = done.stdout + done.stderr
    assert '"train_boundary_accuracy"' in log
    assert '"valid_bleu"' in log


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--arch", "rnn_search_tiny"), "give --arch bi_scale_rnn"),
        (("--arch", "rnn_search_tiny", "--chunk-attention", "word"), "needs --bi-scale"),
    ],
)
def test_contradicting_options(prepared, tmp_path, options, message):
    command = fairseq("train", prepared.data, *TRAINING, *options, "--save-dir", tmp_path)
    assert message in refuse(*command)


def test_forgotten_annotation(prepared, tmp_path):
    plain = [part for part in TRAINING if part != "--load-chunks"]
    command = fairseq("train", prepared.data, *plain, "--save-dir", tmp_path)
    assert "add --load-chunks" in refuse(*command)


@pytest.fixture
def chunks(prepared, checkpoint, tmp_path):
    """`syntax-nmt chunks` over the test set; gives stdout and stderr."""

    def run(*arguments):
        done = syntax_nmt(
            *("chunks", prepared.data, "--path", checkpoint, "--cpu"),
            *("--source", prepared.corpus / "test.src", "--target", prepared.corpus / "test.tgt"),
            *("--bpe", "sentencepiece"),
            *("--sentencepiece-model", prepared.folder / "sentencepiece.model", *arguments),
        )
        return done.stdout, done.stderr

    return run


def test_chunks_of_given_translations(prepared, chunks, tmp_path):
    reference = prepared.corpus / "test.tgt.chunks"
    iob2, stderr = chunks("--score", reference, "--json", tmp_path / "figures.json")
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["boundary_accuracy"] > 60
    (row,) = [line for line in stderr.splitlines() if line.startswith("boundary accuracy")]
    assert row.split()[2] == f"{figures['boundary_accuracy']:.2f}"
    words = (prepared.corpus / "test.tgt").read_text(encoding="utf-8").splitlines()
    assert [len(x.split()) for x in iob2.splitlines()] == [len(x.split()) for x in words]
    path = tmp_path / "found.chunks"
    path.write_text(iob2, encoding="utf-8")
    found = list(read_chunks(path))
    text, _ = chunks("--format", "brackets", "--alignments", tmp_path / "alignments")
    plain = [re.sub(r"\[\S+ ", "", line).replace("]", "").split() for line in text.splitlines()]
    assert plain == [line.split() for line in words]
    for line, sentence in zip((tmp_path / "alignments").read_text().splitlines(), found):
        matrix = json.loads(line)
        assert len(matrix["attention"]) == len(matrix["chunks"])
        assert all(len(row) == len(matrix["source"]) for row in matrix["attention"])
        assert all(0 <= sum(row) <= 1.001 for row in matrix["attention"])
        assert sum(len(chunk["words"]) for chunk in matrix["chunks"]) == sentence[-1].end
    # The same figure from files alone.
    by_file = syntax_nmt("chunks", "--hypothesis", path, "--score", reference, "--json", "-")
    assert json.loads(by_file.stdout)["f1"] == pytest.approx(figures["f1"])
