"""Training a chunker: a Stanza sequence tagger that learns the chunks of a CoNLL-2000 file.

Stanza treats chunks as named entities. Its tagger is a bidirectional LSTM over word and character
embeddings with a CRF on top; nothing is pretrained, so it trains offline.
"""

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from syntax_nmt.data.chunks import ChunkedSentence, read_conll2000
from syntax_nmt.data.text_files import check_writable, write_atomically, write_bytes_atomically
from syntax_nmt.errors import UserError

HELD_OUT = 20
MAX_STEPS = 10_000
_MODEL = "chunker.pt"
_STEP = re.compile(r"step (\d+)/(\d+), loss =")
_SCORE = re.compile(r"step (\d+): .*dev_score = ([0-9.]+)")
_LEARNING_RATE = 0.002
# Options of Stanza's trainer; they reach a chunk F1 of about 93 on CoNLL-2000. The learning rate
# decays by 0.6 if an epoch brings no gain, and training ends when 1/40 of it is left.
_SETTINGS: dict[str, Any] = {
    "seed": 1234,
    "log_step": 50,
    "batch_size": 32,
    "max_batch_words": 1000,
    "word_emb_dim": 100,
    "char_emb_dim": 30,
    "char_hidden_dim": 50,
    "hidden_dim": 200,
    "optim": "adam",
    "lr": _LEARNING_RATE,
    "min_lr": _LEARNING_RATE / 40,
    "lr_decay": 0.6,
    "patience": 1,
    "dropout": 0.4,
    "word_dropout": 0.05,
}


class TrainedChunker(NamedTuple):
    """The result of a training.

    Attributes:
        training_sentences: learnt from.
        held_out_sentences: scored after each epoch; the best model of these was kept.
        f1: chunk F1 of that model on them, in percent; None without an epoch.
    """

    training_sentences: int
    held_out_sentences: int
    f1: float | None


def train_chunker(
    train: Path,
    output: Path,
    *,
    lang: str,
    max_steps: int = MAX_STEPS,
    note: Callable[[str], None] = lambda line: None,
) -> TrainedChunker:
    """Trains a chunker and writes it; the same data, steps and machine give the same bytes.

    Every 20th sentence is held out, to choose the best epoch. If training fails, its log is saved
    next to the output, as `OUTPUT.log`.

    Args:
        train: chunked text in the columns of CoNLL-2000, plain or `.gz`.
        output: the model's file; it gets its name only when it is complete.
        lang: language code of the text.
        max_steps: maximal number of updates.
        note: called with one line after each epoch.

    Raises:
        UserError: the data cannot be read or hold no chunks, the output cannot be written, or
            Stanza fails.
    """
    check_writable(output, train)
    learnt, held_out = _data(train)
    # The held-out text is scored once an epoch.
    options = {
        **_SETTINGS,
        "max_steps": max_steps,
        "max_steps_no_improve": max_steps,
        "eval_interval": -(-len(learnt) // _SETTINGS["batch_size"]),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_document(folder / "train.json", learnt)
        _write_document(folder / "valid.json", held_out)
        command = [
            *[sys.executable, "-m", "stanza.models.ner_tagger", "--mode", "train", "--cpu"],
            *["--no_pretrain", "--shorthand", f"{lang}_chunks"],
            # Relative names: the model records them, and must be the same from any folder.
            *["--train_file", "train.json", "--eval_file", "valid.json"],
            *["--save_dir", ".", "--save_name", _MODEL],
            *(part for name, value in options.items() for part in (f"--{name}", str(value))),
        ]
        log: list[str] = []
        status, scores = _follow(command, folder, log, note)
        try:
            if status:
                raise RuntimeError(f"exit status {status}")
            model = _model_bytes(folder / _MODEL)
        except Exception as error:
            raise _failure(train, output, str(error), log) from error
        write_bytes_atomically(output, model)
    return TrainedChunker(len(learnt), len(held_out), max(scores, default=None))


def _data(train: Path) -> tuple[list[ChunkedSentence], list[ChunkedSentence]]:
    """The training sentences, and those held out to choose the best epoch."""
    sentences = list(read_conll2000(train))
    if all(tag == "O" for sentence in sentences for tag in sentence.tags):
        raise UserError(
            f"{train}: no chunk in {len(sentences)} sentences: give text in the columns of "
            f"CoNLL-2000, 'word POS chunk'"
        )
    if len(sentences) < HELD_OUT:
        raise UserError(
            f"{train}: {len(sentences)} sentences, of which every {HELD_OUT}th would be held out: "
            f"give at least {HELD_OUT}"
        )
    held_out = sentences[HELD_OUT - 1 :: HELD_OUT]
    del sentences[HELD_OUT - 1 :: HELD_OUT]
    return sentences, held_out


def _write_document(path: Path, sentences: Sequence[ChunkedSentence]) -> None:
    """Writes the JSON that Stanza's trainer reads; it makes BIOES of the tags itself."""
    document = [
        [{"text": word, "ner": tag} for word, tag in zip(sentence.words, sentence.tags)]
        for sentence in sentences
    ]
    with write_atomically(path) as out:
        json.dump(document, out)


def _follow(
    command: Sequence[str], folder: Path, log: list[str], note: Callable[[str], None]
) -> tuple[int, list[float]]:
    """Runs the trainer; returns its exit status, and the F1 of each scoring in percent."""
    scores = []
    steps: list[tuple[int, float]] = []  # the first two that are told of, and their times
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            log.append(line)
            found = _SCORE.search(line)
            if found:
                scores.append(100 * float(found[2]))
                note(f"step {found[1]}: F1 {scores[-1]:.2f} on the held-out sentences")
            found = _STEP.search(line)
            if found and len(steps) < 2:
                steps.append((int(found[1]), time.monotonic()))
                if len(steps) == 2:
                    note(_how_long(steps[0], steps[1], int(found[2])))
        return process.wait(), scores
    finally:  # an interrupted training leaves no process behind
        process.kill()
        process.wait()


def _how_long(first: tuple[int, float], second: tuple[int, float], steps_in_all: int) -> str:
    """The estimated time of a training, from two of its steps after warm-up."""
    seconds = (second[1] - first[1]) / (second[0] - first[0]) * (steps_in_all - second[0])
    return (
        f"{steps_in_all:,} steps at most, which take {max(1, round(seconds / 60)):,} more minutes "
        "at this rate; it ends before where F1 stops rising"
    )


def _model_bytes(path: Path) -> bytes:
    """A trained model, checked by loading, because Stanza does not report an error in saving.

    Stanza saves in torch's old format, which holds addresses in memory; the new one does not.
    """
    import torch

    model = torch.load(path, map_location="cpu", weights_only=True)
    content = io.BytesIO()
    torch.save(model, content)
    return content.getvalue()


def _failure(train: Path, output: Path, problem: str, log: Sequence[str]) -> UserError:
    """Saves the log; the error has its last line."""
    kept = output.with_name(f"{output.name}.log")
    with write_atomically(kept) as out:
        out.writelines(log)
    last = log[-1].strip() if log else "it said nothing"
    return UserError(f"training on {train} failed ({problem}): {last}; the whole log is in {kept}")
