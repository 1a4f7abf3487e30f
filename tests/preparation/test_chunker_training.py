"""Training a chunker on a made-up language whose chunks are plain to see."""

import json
import random
import re
import signal
import subprocess

import pytest
from stanza_pipeline import stanza_pipeline

from syntax_nmt.data.chunks import chunks_of_tags, iob2_tags
from syntax_nmt.data.conll2000 import read_conll2000
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.annotation import chunker_training
from syntax_nmt.preparation.annotation.chunker_training import ChunkerSettings, train_chunker
from syntax_nmt.scoring.chunks.chunk_f1 import chunk_f1

pytestmark = pytest.mark.dear

TINY = ChunkerSettings(
    max_steps=45,
    batch_size=16,
    word_dim=16,
    char_dim=8,
    char_hidden_dim=8,
    hidden_dim=32,
    learning_rate=0.02,
)


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
    report = train_chunker(columns, output, lang="en", settings=TINY, note=notes.append)
    return output, report, notes


def predict(model, sentences):
    """Tags as a Stanza pipeline gives them."""
    folder = model.parent / "stanza"
    folder.mkdir(exist_ok=True)
    (folder / "resources.json").write_text(json.dumps({}))
    pipeline = stanza_pipeline(
        folder,
        "ner",
        ner_model_path=model,
        ner_pretrain_path="",
        ner_forward_charlm_path="",
        ner_backward_charlm_path="",
    )
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
    assert [step for step, _ in report.scores] == [15, 30, 45]
    assert report.f1 == max(score for _, score in report.scores)
    assert report.f1 > 95
    assert len(notes) == 3
    assert re.fullmatch(r"step 15: F1 \d+\.\d\d on the held-out sentences", notes[0])
    assert [path.name for path in output.parent.iterdir() if path.is_file()] == ["chunker.pt"]


@pytest.mark.slow
def test_the_same_bytes_again_and_others_from_another_seed(trained, columns, tmp_path):
    output, _, _ = trained
    train_chunker(columns, tmp_path / "again.pt", lang="en", settings=TINY)
    assert (tmp_path / "again.pt").read_bytes() == output.read_bytes()
    other = ChunkerSettings(**{**vars(TINY), "seed": 7})
    train_chunker(columns, tmp_path / "other.pt", lang="en", settings=other)
    assert (tmp_path / "other.pt").read_bytes() != output.read_bytes()


def test_held_out_sentences_are_not_learnt_from(columns, tmp_path):
    everything = list(read_conll2000(columns))
    learnt, held_out = chunker_training._data(columns, None)
    assert held_out == everything[19::20]
    assert [s for n, s in enumerate(everything, start=1) if n % 20] == learnt
    valid = write_columns(tmp_path / "valid.txt", 5, seed=3)
    learnt, held_out = chunker_training._data(columns, valid)
    assert (learnt, held_out) == (everything, list(read_conll2000(valid)))


def test_the_rate_that_ends_training_follows_from_the_first():
    options = ChunkerSettings(learning_rate=0.02).options(8489)
    named = dict(zip(options[::2], options[1::2]))
    assert float(named["--min_lr"]) == pytest.approx(0.0005)
    assert named["--eval_interval"] == "266"


def refuse(train, output, **options):
    with pytest.raises(UserError) as caught:
        train_chunker(train, output, lang="en", **options)
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


def test_an_unfit_validation_text_is_named(columns, tmp_path, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)
    missing = tmp_path / "valid.txt"
    assert str(missing) in refuse(columns, tmp_path / "chunker.pt", valid=missing)


def test_an_output_that_cannot_be_written_is_refused_before_training(
    columns, tmp_path, monkeypatch
):
    monkeypatch.setattr(subprocess, "Popen", None)
    assert "it is a folder" in refuse(columns, tmp_path)


def test_where_stanza_fails_its_log_is_kept_and_the_old_model_stays(columns, tmp_path):
    output = tmp_path / "chunker.pt"
    output.write_bytes(b"old")
    settings = ChunkerSettings(**{**vars(TINY), "hidden_dim": -1})
    message = refuse(columns, output, settings=settings)
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
    settings = ChunkerSettings(**{**vars(TINY), "max_steps": 100_000})
    with pytest.raises(KeyboardInterrupt):
        train_chunker(columns, tmp_path / "c.pt", lang="en", settings=settings, note=interrupt)
    assert started[0].returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []
