"""Training a chunker on a made-up language whose chunks are plain to see."""

import random
import re
import signal
import subprocess

import pytest
import stanza

from syntax_nmt.data.chunks import chunks_of_tags, iob2_tags, read_conll2000
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.annotators import chunker_training
from syntax_nmt.preparation.annotators.chunker_training import train_chunker
from syntax_nmt.scoring.chunks.chunk_f1 import chunk_f1

pytestmark = pytest.mark.dear

STEPS = 45
TINY = {"batch_size": 16, "word_emb_dim": 16, "char_emb_dim": 8, "char_hidden_dim": 8}
TINY |= {"hidden_dim": 32, "lr": 0.02, "min_lr": 0.0005}


@pytest.fixture(scope="module", autouse=True)
def settings():
    """Small sizes, which a test may change further."""
    with pytest.MonkeyPatch.context() as patch:
        settings = {**chunker_training._SETTINGS, **TINY}
        patch.setattr(chunker_training, "_SETTINGS", settings)
        yield settings


def write_columns(path, sentences, seed):
    """`the cat has seen the old dog .` and the like."""
    rng = random.Random(seed)
    blocks = []
    for _ in range(sentences):
        rows = []
        for part in ("NP", "VP", "NP"):
            words = ["the", *rng.choices(["old", "small"], k=rng.randrange(3))]
            words.append(rng.choice(["cat", "dog", "man"]))
            if part == "VP":
                words = rng.choice([["sees"], ["has", "seen"], ["will", "have", "seen"]])
            rows += [f"{word} X {'I' if at else 'B'}-{part}" for at, word in enumerate(words)]
        blocks.append("\n".join([*rows, ". . O", ""]))
    path.write_text("\n".join(blocks), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def columns(tmp_path_factory):
    return write_columns(tmp_path_factory.mktemp("columns") / "train.txt", 240, seed=1)


@pytest.fixture(scope="module")
def trained(columns):
    notes = []
    output = columns.with_name("models") / "chunker.pt"
    report = train_chunker(columns, output, lang="en", max_steps=STEPS, note=notes.append)
    return output, report, notes


def predict(model, sentences):
    """Tags as a Stanza pipeline gives them."""
    folder = model.parent / "stanza"
    folder.mkdir(exist_ok=True)
    (folder / "resources.json").write_text("{}")
    names = ("pretrain", "forward_charlm", "backward_charlm")
    none = {f"ner_{name}_path": "" for name in names}
    pipeline = stanza.Pipeline(
        lang="en", dir=str(folder), processors="tokenize,ner", ner_model_path=str(model),
        tokenize_pretokenized=True, allow_unknown_language=True, download_method=None,
        use_gpu=False, verbose=False, **none,
    )  # fmt: skip
    document = pipeline([list(sentence.words) for sentence in sentences])
    return [[token.ner for token in sentence.tokens] for sentence in document.sentences]


def test_the_model_finds_the_chunks_of_new_sentences(trained, tmp_path):
    output, _, _ = trained
    gold = list(read_conll2000(write_columns(tmp_path / "test.txt", 40, seed=2)))
    predicted = [iob2_tags(chunks_of_tags(tags)) for tags in predict(output, gold)]
    scores = chunk_f1((sentence.tags for sentence in gold), predicted)
    assert scores.overall.f1 > 95, scores.table()
    assert scores.accuracy > 95


def test_what_is_reported(trained):
    output, report, notes = trained
    # Every 20th of 240 is held out; of the 228 others 15 batches make an epoch.
    assert (report.training_sentences, report.held_out_sentences) == (228, 12)
    said = [re.fullmatch(r"step (\d+): F1 (.+) on the held-out sentences", note) for note in notes]
    assert [int(found[1]) for found in said] == [15, 30, 45]
    assert report.f1 == pytest.approx(max(float(found[2]) for found in said), abs=0.01)
    assert report.f1 > 95
    assert [path.name for path in output.parent.iterdir() if path.is_file()] == ["chunker.pt"]


@pytest.mark.slow
def test_the_same_bytes_again(trained, columns, tmp_path):
    output, _, _ = trained
    train_chunker(columns, tmp_path / "again.pt", lang="en", max_steps=STEPS)
    assert (tmp_path / "again.pt").read_bytes() == output.read_bytes()


def refuse(train, output):
    with pytest.raises(UserError) as caught:
        train_chunker(train, output, lang="en")
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no chunk in 0 sentences"),
        ("the DT O\ncat NN O\n" * 30, "no chunk in 1 sentences"),
        ("the DT B-NP\n\n" * 19, "19 sentences"),
        ("the DT B-NP\ncat NN\n", "train.txt:2: 2 columns"),
    ],
)
def test_unfit_data_are_refused_before_training(tmp_path, text, said, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)
    train = tmp_path / "train.txt"
    train.write_text(text, encoding="utf-8")
    assert said in refuse(train, tmp_path / "chunker.pt")
    assert not (tmp_path / "chunker.pt").exists()


def test_an_output_that_cannot_be_written_is_refused_before_training(
    columns, tmp_path, monkeypatch
):
    monkeypatch.setattr(subprocess, "Popen", None)
    assert "it is a folder" in refuse(columns, tmp_path)


def test_where_stanza_fails_its_log_is_kept_and_the_old_model_stays(
    columns, settings, tmp_path, monkeypatch
):
    output = tmp_path / "chunker.pt"
    output.write_bytes(b"old")
    monkeypatch.setitem(settings, "hidden_dim", -1)
    message = refuse(columns, output)
    assert re.search(r"failed \(exit status 1\): \w+Error: .*; the whole log is in", message)
    log = tmp_path / "chunker.pt.log"
    assert str(log) in message
    assert "Traceback" in log.read_text()
    assert output.read_bytes() == b"old"


def test_a_model_that_was_not_saved_is_no_success(columns, tmp_path, monkeypatch):
    """Stanza ends with success where it could not save, for instance on a full disk."""
    monkeypatch.setattr(chunker_training.sys, "executable", "true")
    message = refuse(columns, tmp_path / "chunker.pt")
    assert "No such file" in message
    assert "it said nothing" in message
    assert not (tmp_path / "chunker.pt").exists()


def test_an_interrupted_training_leaves_nothing(columns, tmp_path, monkeypatch):
    started = []
    popen = subprocess.Popen

    def recorded(*arguments, **options):
        started.append(popen(*arguments, **options))
        return started[-1]

    def interrupt(line):
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", recorded)
    with pytest.raises(KeyboardInterrupt):
        train_chunker(columns, tmp_path / "c.pt", lang="en", note=interrupt)
    assert started[0].returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []
