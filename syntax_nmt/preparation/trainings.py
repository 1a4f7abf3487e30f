"""A method's training with a seed by fairseq's programs, and the translation of the test set."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from syntax_nmt import FOLDER
from syntax_nmt.data.text_files import write_atomically
from syntax_nmt.methods.method import TrainingRecipe
from syntax_nmt.preparation.fairseq_programs import lines_of
from syntax_nmt.preparation.training_commands import (
    TEST,
    generate_command,
    train_command,
    training_threads,
)
from syntax_nmt.preparation.training_data import TrainingData
from syntax_nmt.reporting.output import tell

LOG, OUTPUT = "train.log", "test.out"  # in the folder of the checkpoints
_FIGURE = re.compile(r"\| (\w+) ([\d.]+)")


@dataclass(frozen=True)
class Training:
    """A method with a seed; None = fairseq's own."""

    data: TrainingData
    method: TrainingRecipe
    seed: int | None
    more: Sequence[str]

    @property
    def name(self) -> str:
        """For messages."""
        seed = "" if self.seed is None else f", seed {self.seed}"
        return f"{self.method.save_dir}{seed}"

    @property
    def folder(self) -> Path:
        """The folder of its checkpoints."""
        return checkpoints(self.data, self.method, self.seed)

    @property
    def output(self) -> Path:
        """The first test set in translation, as fairseq-generate prints it."""
        return self.folder / OUTPUT

    @property
    def train(self) -> list[str]:
        """The program and its arguments."""
        seed = [] if self.seed is None else ["--seed", str(self.seed)]
        command = train_command(self.data, self.method, FOLDER, self.folder)
        return [*command, *seed, *self.more]

    @property
    def translate(self) -> list[str]:
        """Likewise, of the first test set.

        Raises:
            UserError: it lacks annotation that the method reads.
        """
        cpu = ["--cpu"] if "--cpu" in self.train else []
        return [*generate_command(self.data, self.method, FOLDER, self.folder), *cpu]

    @property
    def commands(self) -> list[list[str]]:
        """Both; the first alone where there is no test set. Raises as :attr:`translate`."""
        return [self.train, self.translate] if TEST in self.data.splits else [self.train]


def checkpoints(data: TrainingData, method: TrainingRecipe, seed: int | None) -> Path:
    """The folder of a training's checkpoints."""
    folder = data.folder / method.save_dir
    return folder if seed is None else folder / f"seed{seed}"


def train(training: Training) -> None:
    """Trains or resumes; prints a line for each validation."""
    training.folder.mkdir(parents=True, exist_ok=True)
    log = training.folder / LOG
    tell(f"{training.name}: training, log: {log}")
    with log.open("a", encoding="utf-8") as stream:
        for line in lines_of(training.train, training_threads(training.data), errors="among"):
            stream.write(line)
            stream.flush()
            news = news_of(line)
            if news is not None:
                tell(f"{training.name}: {news}")


def news_of(line: str) -> str | None:
    """What fairseq logs about a validation, in short; None = the line is about something else."""
    found = dict(_FIGURE.findall(line)) if "| valid |" in line else {}
    if not {"epoch", "num_updates", "nll_loss"} <= found.keys():
        return None
    epoch, updates, nll = int(found["epoch"]), found["num_updates"], found["nll_loss"]
    bleu = f", BLEU {found['bleu']}" if "bleu" in found else ""
    return f"epoch {epoch}, {updates} updates: {nll} bits a token{bleu}"


def translate_test(training: Training) -> None:
    """Translates the first test set, unless that was done with this checkpoint and this text."""
    output, command = training.output, training.translate
    made_of = [
        Path(command[command.index("--path") + 1]),
        *training.data.data_bin.glob(f"{TEST}.*"),  # text and annotation
    ]
    if output.is_file() and output.stat().st_mtime >= max(x.stat().st_mtime for x in made_of):
        return
    tell(f"{training.name}: translating the test set: {output}")
    with write_atomically(output) as stream:
        stream.writelines(lines_of(command, training_threads(training.data)))
