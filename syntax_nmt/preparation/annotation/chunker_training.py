"""Training a chunker: a Stanza sequence tagger that learns the chunks of a CoNLL-2000 file.

To Stanza chunks are named entities. Its tagger is a bidirectional LSTM over word and character
embeddings with a CRF on top; nothing is pretrained, so that it trains offline.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from syntax_nmt.data.conll2000 import ChunkedSentence, read_conll2000
from syntax_nmt.data.text_files import check_writable, write_atomically, write_bytes_atomically
from syntax_nmt.errors import UserError

HELD_OUT = 20
_MODEL = "chunker.pt"
_SCORE = re.compile(r"step (\d+): .*dev_score = ([0-9.]+)")
_STEP = re.compile(r"step (\d+)/(\d+), loss =")


@dataclass(frozen=True)
class ChunkerSettings:
    """How to train; the defaults reach a chunk F1 of about 93 on CoNLL-2000.

    Attributes:
        max_steps: updates of the parameters, at most; training ends before where the learning rate
            has decayed to 1/40.
        seed: of everything random.
        batch_size: sentences in a batch.
        word_dim: size of word embeddings.
        char_dim: size of character embeddings.
        char_hidden_dim: size of the character LSTM, each way.
        hidden_dim: size of the word LSTM, each way.
        learning_rate: of Adam at the beginning; it decays by 0.6 where an epoch brings no gain.
    """

    max_steps: int = 10_000
    seed: int = 1234
    batch_size: int = 32
    word_dim: int = 100
    char_dim: int = 30
    char_hidden_dim: int = 50
    hidden_dim: int = 200
    learning_rate: float = 0.002

    def options(self, training_sentences: int) -> list[str]:
        """The options of Stanza's trainer; the held-out text is scored once an epoch."""
        epoch = -(-training_sentences // self.batch_size)
        options = {
            "max_steps": self.max_steps,
            "max_steps_no_improve": self.max_steps,
            "eval_interval": epoch,
            "log_step": 50,
            "seed": self.seed,
            "batch_size": self.batch_size,
            "max_batch_words": 1000,
            "word_emb_dim": self.word_dim,
            "char_emb_dim": self.char_dim,
            "char_hidden_dim": self.char_hidden_dim,
            "hidden_dim": self.hidden_dim,
            "optim": "adam",
            "lr": self.learning_rate,
            "min_lr": self.learning_rate / 40,
            "lr_decay": 0.6,
            "patience": 1,
            "dropout": 0.4,
            "word_dropout": 0.05,
        }
        return [part for name, value in options.items() for part in (f"--{name}", str(value))]


@dataclass(frozen=True)
class TrainedChunker:
    """What came of a training.

    Attributes:
        training_sentences: learnt from.
        held_out_sentences: scored after each epoch; the best model of these was kept.
        scores: step and F1 of each scoring, in order.
    """

    training_sentences: int
    held_out_sentences: int
    scores: tuple[tuple[int, float], ...] = field(repr=False)

    @property
    def f1(self) -> float | None:
        """Chunk F1 of the kept model on the held-out text, in percent; None without an epoch."""
        return max((score for _, score in self.scores), default=None)


def train_chunker(
    train: Path,
    output: Path,
    *,
    lang: str,
    valid: Path | None = None,
    settings: ChunkerSettings | None = None,
    note: Callable[[str], None] = lambda line: None,
) -> TrainedChunker:
    """Trains a chunker and writes it; the same data, settings and machine give the same bytes.

    Where training fails, its log is kept beside the output, as `OUTPUT.log`.

    Args:
        train: chunked text in the columns of CoNLL-2000, plain or `.gz`.
        output: the model's file; it takes its name only when all of it is on disk.
        lang: language code of the text.
        valid: chunked text that decides which epoch is kept; by default every 20th sentence of
            `train`, which is then not learnt from.
        settings: sizes and schedule.
        note: called with one line after each epoch, and a line that says how long it may take.

    Raises:
        UserError: the data cannot be read or hold no chunks, the output cannot be written, or
            Stanza fails.
    """
    settings = settings or ChunkerSettings()
    check_writable(output, train, *([] if valid is None else [valid]))
    learnt, held_out = _data(train, valid)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_document(folder / "train.json", learnt)
        _write_document(folder / "valid.json", held_out)
        command = [
            *[sys.executable, "-m", "stanza.models.ner_tagger", "--mode", "train", "--cpu"],
            *["--no_pretrain", "--shorthand", f"{lang}_chunks"],
            # Relative names: the model records them, and is to be the same from any folder.
            *["--train_file", "train.json", "--eval_file", "valid.json"],
            *["--save_dir", ".", "--save_name", _MODEL],
            *settings.options(len(learnt)),
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
    return TrainedChunker(len(learnt), len(held_out), tuple(scores))


def _data(train: Path, valid: Path | None) -> tuple[list[ChunkedSentence], list[ChunkedSentence]]:
    """What is learnt from, and what decides which epoch is kept."""
    learnt = _sentences(train)
    if valid is not None:
        return learnt, _sentences(valid)
    if len(learnt) < HELD_OUT:
        raise UserError(
            f"{train}: {len(learnt)} sentences, of which every {HELD_OUT}th would be held out: "
            f"give at least {HELD_OUT}, or a validation text"
        )
    held_out = learnt[HELD_OUT - 1 :: HELD_OUT]
    del learnt[HELD_OUT - 1 :: HELD_OUT]
    return learnt, held_out


def _sentences(path: Path) -> list[ChunkedSentence]:
    sentences = list(read_conll2000(path))
    if all(tag == "O" for sentence in sentences for tag in sentence.tags):
        raise UserError(
            f"{path}: no chunk in {len(sentences)} sentences: give text in the columns of "
            f"CoNLL-2000, 'word POS chunk'"
        )
    return sentences


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
) -> tuple[int, list[tuple[int, float]]]:
    """Runs the trainer; returns its exit status, and step and F1 in percent of each scoring."""
    scores = []
    began: tuple[int, float] | None = None
    told = False
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
                scores.append((int(found[1]), 100 * float(found[2])))
                note(f"step {found[1]}: F1 {scores[-1][1]:.2f} on the held-out sentences")
            found = _STEP.search(line)
            if found and began is None:  # the steps before this one loaded and warmed up
                began = int(found[1]), time.monotonic()
            elif found and began is not None and not told:
                told = True
                done, total = int(found[1]), int(found[2])
                seconds = (time.monotonic() - began[1]) / (done - began[0]) * (total - done)
                note(
                    f"{total:,} steps at most, which take {max(1, round(seconds / 60)):,} more "
                    f"minutes at this rate; it ends before where F1 stops rising"
                )
        return process.wait(), scores
    finally:  # an interrupted training leaves no process behind
        process.kill()
        process.wait()


def _model_bytes(path: Path) -> bytes:
    """A trained model, which is known to load; Stanza does not stop where it could not save one.

    Stanza saves in torch's old format, which holds addresses in memory; the new one does not.
    """
    import torch

    model = torch.load(path, map_location="cpu", weights_only=True)
    content = io.BytesIO()
    torch.save(model, content)
    return content.getvalue()


def _failure(train: Path, output: Path, problem: str, log: Sequence[str]) -> UserError:
    """Keeps the log; the error says what its last line says."""
    kept = output.with_name(f"{output.name}.log")
    with write_atomically(kept) as out:
        out.writelines(log)
    last = log[-1].strip() if log else "it said nothing"
    return UserError(f"training on {train} failed ({problem}): {last}; the whole log is in {kept}")
