"""A tiny model of the built-in corpus, trained in about a minute on a CPU, for demonstration."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from syntax_nmt import FOLDER
from syntax_nmt.data.text_files import write_bytes_atomically
from syntax_nmt.errors import UserError
from syntax_nmt.progress import Progress

_PREPARE = "--source-lang src --target-lang tgt --source-tokenizer none --target-tokenizer none"
# Supervised heads and latent phrases: the model has trees of both kinds.
_TRAIN = """
    --task syntax_translation --arch dependency_transformer_tiny --latent-phrase-layers 2
    --load-dependencies --criterion syntax_cross_entropy --child-weight 0.4 --parent-weight 0.4
    --label-smoothing 0.1 --share-all-embeddings --optimizer fused_adam --adam-betas (0.9,0.98)
    --clip-norm 1.0 --lr 1e-2 --lr-scheduler inverse_sqrt --warmup-updates 200 --max-tokens 1000
    --max-update 800 --no-epoch-checkpoints --cpu --seed 1 --log-format simple --log-interval 10
"""
_UPDATES = 800
_DONE = re.compile(r"num_updates=(\d+)")


def train(folder: Path, manifest: Path) -> Path:
    """Prepares the corpus of a folder and trains; resumes after an interruption.

    Args:
        folder: of the corpus; `prepared` and `checkpoints` are written there, too.
        manifest: identifies the corpus: a model of another one is removed.

    Returns:
        the checkpoint.

    Raises:
        UserError: a step failed; its log says why. Or checkpoints are not of this command.
    """
    texts = [f"--{name}pref {shlex.quote(str(folder / name))}" for name in ("train", "valid")]
    prepared, checkpoints = folder / "prepared", folder / "checkpoints"
    print(f"preparing the corpus: {folder / 'prepare.log'}", file=sys.stderr)
    _run(
        folder / "prepare.log",
        *("syntax_nmt.cli", "prepare", *shlex.split(" ".join([_PREPARE, *texts]))),
        *("--vocab-size", "1000", "--destdir", str(prepared)),
    )
    _begin(checkpoints, manifest)
    print(f"training, about a minute: {folder / 'train.log'}", file=sys.stderr)
    _run(
        folder / "train.log",
        *("fairseq_cli.train", str(prepared / "data-bin"), "--user-dir", str(FOLDER)),
        *(*_TRAIN.split(), "--save-dir", str(checkpoints)),
    )
    return checkpoints / "checkpoint_best.pt"


def _begin(checkpoints: Path, manifest: Path) -> None:
    """Removes models of another corpus."""
    trained_on = checkpoints / manifest.name
    if checkpoints.is_dir() and any(checkpoints.iterdir()):
        if not trained_on.is_file():
            raise UserError(f"{checkpoints}: models that this command did not train: move them")
        if trained_on.read_bytes() != manifest.read_bytes():
            print(f"{checkpoints}: removed, as it was trained on another corpus", file=sys.stderr)
            shutil.rmtree(checkpoints)
    write_bytes_atomically(trained_on, manifest.read_bytes())


def _run(log: Path, *command: str) -> None:
    with log.open("w", encoding="utf-8") as out:
        # The model is so small that several threads are slower than one.
        one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
        program = [sys.executable, "-m", *command]
        running = subprocess.Popen(program, stdout=out, stderr=out, env=one_thread)
    try:
        status = _wait(running, log) if "fairseq_cli.train" in command else running.wait()
    finally:  # an interrupted command leaves no process behind
        running.kill()
        running.wait()
    if status != 0:
        last = log.read_text(encoding="utf-8").strip().rpartition("\n")[2]
        raise UserError(f"{log}: {command[0]} failed: {last}")


def _wait(training: subprocess.Popen[bytes], log: Path) -> int:
    """The exit status of a training, whose updates are shown as its log tells them."""
    with Progress(None, "training", "updates", _UPDATES) as progress:
        while True:
            try:
                return training.wait(timeout=1)
            except subprocess.TimeoutExpired:
                found = _DONE.findall(log.read_text(encoding="utf-8", errors="replace"))
                progress.update(int(found[-1]) - progress.n if found else 0)
