"""A method's training with a seed by fairseq's programs, and the translation of the test set."""

import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from syntax_nmt import FOLDER
from syntax_nmt.data.manifest import Fingerprint
from syntax_nmt.data.text_files import write_atomically, write_unless_same
from syntax_nmt.errors import UserError
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

# In the folder of the checkpoints.
LOG, OUTPUT, _OPTIONS, _DATA = "train.log", "test.out", "train.options", "train.data"
_BEGINS = "begin training epoch"  # fairseq logs it when it has locked the folder
_FIGURE = re.compile(r"\| (\w+) ([\d.]+)")


@dataclass(frozen=True)
class Training:
    """A method with a seed and further options of fairseq.

    Attributes:
        seed: None = fairseq's own.
        more: options of fairseq-train.
        variant: name of these options, by which they have a folder of their own; None = no name.
    """

    data: TrainingData
    method: TrainingRecipe
    seed: int | None
    more: Sequence[str]
    variant: str | None = None

    @property
    def system(self) -> str:
        """The method and its variant."""
        return system_name(self.method, self.variant)

    @property
    def name(self) -> str:
        """For messages."""
        seed = "" if self.seed is None else f", seed {self.seed}"
        return f"{self.system}{seed}"

    @property
    def folder(self) -> Path:
        """The folder of its checkpoints."""
        return checkpoints(self.data, self.system, self.seed)

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


def system_name(method: TrainingRecipe, variant: str | None) -> str:
    """The name of a method's folder, `heads`, or of a variant's, `heads-small`."""
    return method.save_dir if variant is None else f"{method.save_dir}-{variant}"


def checkpoints(data: TrainingData, system: str, seed: int | None) -> Path:
    """The folder of a training's checkpoints.

    Args:
        system: as of :func:`system_name`.
    """
    folder = data.folder / system
    return folder if seed is None else folder / f"seed{seed}"


def train(training: Training) -> None:
    """Trains or resumes; prints a line for each validation.

    Raises:
        UserError: as of :func:`refuse_other_data`, or the program failed.
    """
    training.folder.mkdir(parents=True, exist_ok=True)
    refuse_other_data(training)
    resumes, data_read = _is_begun(training), _data_read(training)
    if resumes:
        _compare_options(training)
    log = training.folder / LOG
    tell(f"{training.name}: {'resumes' if resumes else 'training'}, log: {log}")
    with log.open("a", encoding="utf-8") as stream:
        for line in lines_of(training.train, training_threads(training.data), errors="among"):
            stream.write(line)
            stream.flush()
            if not resumes and _BEGINS in line:  # nobody else trains in this folder
                options = f"{shlex.join(training.more)}\n"
                write_unless_same(training.folder / _OPTIONS, options)
                write_unless_same(training.folder / _DATA, "\n".join([*data_read, ""]))
                resumes = True
            news = news_of(line)
            if news is not None:
                tell(f"{training.name}: {news}")


def _is_begun(training: Training) -> bool:
    """Whether a training resumes, or is finished."""
    return (training.folder / "checkpoint_last.pt").is_file()


def refuse_other_data(training: Training) -> None:
    """Refuses to resume, or to take for finished, what was trained on data that have changed.

    Folders that older versions trained have no record of that.

    Raises:
        UserError: names a file that is another one now.
    """
    record = training.folder / _DATA
    if not (_is_begun(training) and record.is_file()):
        return
    found = set(_data_read(training))
    for line in record.read_text("utf-8").splitlines():
        if line not in found:
            name = line.partition("/")[2].split(" ")[0]
            raise UserError(
                f"{training.name}: {training.folder} was trained on other data ({name} is another "
                "now): give --name to train beside that, or delete the folder"
            )


def _data_read(training: Training) -> list[str]:
    """Each file that the training reads, with its size and checksum.

    Test text, and annotation of other methods, may change.
    """
    data, method = training.data, training.method
    pair, kinds = "-".join(data.languages), {*method.needs, *method.reads}
    names = [f"dict.{lang}.txt" for lang in data.languages]
    names += [kind.labels_file for kind in kinds if kind.labels_file is not None]
    for split in (split for split in data.splits if not split.startswith(TEST)):
        for of in ("", *(f".{kind.name}" for kind in kinds)):
            stems = [f"{split}.{pair}.{lang}{of}" for lang in data.languages]
            names += [f"{stem}.{ending}" for stem in stems for ending in ("bin", "idx")]
    there = [
        (f"{place}/{name}", data_bin / name)
        for place, data_bin in enumerate(data.data_bins)
        for name in sorted(names)
        if (data_bin / name).is_file()
    ]
    return [f"{name} {_fingerprint(path, path.stat().st_mtime_ns)}" for name, path in there]


@cache
def _fingerprint(path: Path, time: int) -> str:
    """Size and checksum of a file, which trainings one after another read."""
    found = Fingerprint.of(path)
    return f"{found.bytes} {found.crc32}"


def _compare_options(training: Training) -> None:
    """Warns if a training resumes with other options than it began with."""
    record, options = training.folder / _OPTIONS, shlex.join(training.more)
    begun = record.read_text("utf-8").strip() if record.is_file() else options
    if begun != options:
        print(
            f"warning: {training.name}: resumes what was trained {_with(begun)} {_with(options)}: "
            "to train it anew beside that, give --name",
            file=sys.stderr,
        )


def _with(options: str) -> str:
    return f"with -- {options}" if options else "without options"


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
