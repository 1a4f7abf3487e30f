"""`syntax-nmt train`: trains methods on prepared data by fairseq's programs, and compares them."""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from syntax_nmt import FOLDER
from syntax_nmt.arguments import natural_int
from syntax_nmt.commands.shared.fairseq_programs import lines_of
from syntax_nmt.data.text_files import find_text, write_atomically
from syntax_nmt.errors import UserError
from syntax_nmt.methods.method import TrainingRecipe
from syntax_nmt.preparation.training_commands import (
    generate_command,
    named_method,
    train_command,
    training_threads,
    wrapped,
)
from syntax_nmt.preparation.training_data import TrainingData
from syntax_nmt.reporting.output import tell

EXAMPLE = "syntax-nmt train prepared baseline heads --seeds 1 2 3 --compare raw/test.de"
RESUMES = "prepared"
TAKES_MORE = True  # what follows -- is fairseq's
DESCRIPTION = """\
Trains each method by fairseq-train with the settings that suit the data, as `syntax-nmt options
--training PREPARED METHOD` prints them, and translates the test set with its best checkpoint. A
training that was interrupted resumes, and what is finished is not done again. Options after -- go
to fairseq-train.
"""
LOG, OUTPUT = "train.log", "test.out"
_VALIDATED = re.compile(
    r"\| valid \| epoch 0*(?P<epoch>\d+) .* nll_loss (?P<nll>[\d.]+) .* "
    r"num_updates (?P<updates>\d+)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.description = DESCRIPTION
    parser.add_argument("prepared", type=Path, help="folder that `syntax-nmt prepare` wrote")
    parser.add_argument(
        "methods", nargs="+", metavar="METHOD", help="as `prepare` lists them, such as baseline"
    )
    parser.add_argument(
        "--seeds",
        nargs="+",
        type=natural_int,
        metavar="SEED",
        help="train each method once with each, in folders of their own",
    )
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="REFERENCE",
        help="raw text of the test set's target: compare the methods with the first by it",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print fairseq's command lines, and run nothing"
    )


@dataclass(frozen=True)
class _Training:
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
        """Of the checkpoints."""
        return checkpoints(self.data, self.method, self.seed)

    @property
    def train(self) -> list[str]:
        """The program and its arguments."""
        seed = [] if self.seed is None else ["--seed", str(self.seed)]
        command = train_command(self.data, self.method, FOLDER, self.folder)
        return [*command, *seed, *self.more]

    @property
    def translate(self) -> list[str]:
        """Likewise, of the test set."""
        cpu = ["--cpu"] if "--cpu" in self.train else []
        return [*generate_command(self.data, self.method, FOLDER, self.folder), *cpu]


def checkpoints(data: TrainingData, method: TrainingRecipe, seed: int | None) -> Path:
    """The folder of a training's checkpoints."""
    folder = data.folder / method.save_dir
    return folder if seed is None else folder / f"seed{seed}"


def run(args: argparse.Namespace) -> None:
    """Trains, translates and compares.

    Raises:
        UserError: an unknown method, one that needs other data, or a program that failed.
    """
    data = TrainingData.of(args.prepared)
    methods = [named_method(data, name) for name in dict.fromkeys(args.methods)]
    if args.compare is not None and find_text(args.compare) is None:
        raise UserError(f"--compare {args.compare}: no such file: give the target's raw test text")
    if args.compare is not None and "test" not in data.splits:
        raise UserError(f"--compare: {data.data_bin} has no test set: prepare with --testpref")
    trainings = [
        _Training(data, method, seed, args.more)
        for seed in args.seeds or [None]
        for method in methods
    ]
    if args.dry_run:
        for training in trainings:
            tell(f"{wrapped(training.train)}\n{wrapped(training.translate)}")
        return
    for training in trainings:
        _train(training)
        if "test" in data.splits:
            _translate(training)
    if args.compare is not None:
        _compare(methods, trainings, args.compare)


def _train(training: _Training) -> None:
    """Trains or resumes; prints a line for each validation."""
    training.folder.mkdir(parents=True, exist_ok=True)
    log = training.folder / LOG
    tell(f"{training.name}: training, log: {log}")
    with log.open("a", encoding="utf-8") as stream:
        for line in lines_of(training.train, training_threads(training.data), errors_too=True):
            stream.write(line)
            stream.flush()
            found = _VALIDATED.search(line)
            if found:
                epoch, nll, updates = found.group("epoch", "nll", "updates")
                tell(f"{training.name}: epoch {epoch}, {updates} updates: {nll} bits a token")


def _translate(training: _Training) -> None:
    """Translates the test set, unless that was done with this checkpoint."""
    output = training.folder / OUTPUT
    path = Path(training.translate[training.translate.index("--path") + 1])
    if output.is_file() and output.stat().st_mtime >= path.stat().st_mtime:
        return
    tell(f"{training.name}: translating the test set: {output}")
    with write_atomically(output) as stream:
        stream.writelines(_translated(training))


def _translated(training: _Training) -> Iterator[str]:
    yield from lines_of(training.translate, training_threads(training.data))


def _compare(
    methods: Sequence[TrainingRecipe], trainings: Sequence[_Training], reference: Path
) -> None:
    """Scores of one method, or differences of the others from the first."""
    command = ["compare" if len(methods) > 1 else "score"]
    for method in methods:
        outputs = [t.folder / OUTPUT for t in trainings if t.method is method]
        command += ["--system", method.save_dir, *map(str, outputs)]
    command += ["--reference", str(reference)]
    sys.stdout.flush()
    if subprocess.run([sys.executable, "-m", "syntax_nmt.cli", *command]).returncode:
        raise UserError("the comparison failed: see above")
