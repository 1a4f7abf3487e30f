"""`syntax-nmt train`: trains methods on prepared data by fairseq's programs, and compares them."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syntax_nmt.arguments import natural_int
from syntax_nmt.commands.shared.test_sets import letters, note_other_lines
from syntax_nmt.data.data_bin_names import check_name
from syntax_nmt.data.linearised_folder import linearised_mode
from syntax_nmt.data.text_files import find_text, read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.output import tell
from syntax_nmt.text.unspaced import is_chinese, is_unspaced, lacks_spaces

if TYPE_CHECKING:  # the command starts without torch and fairseq
    from syntax_nmt.methods.method import TrainingRecipe
    from syntax_nmt.preparation.training_data import TrainingData
    from syntax_nmt.preparation.trainings import Training

EXAMPLE = "syntax-nmt train prepared baseline heads --seeds 1 2 3 --compare raw/test.de"
RESUMES = "prepared"
TAKES_MORE = True  # what follows -- is fairseq's
DESCRIPTION = """\
Trains each method by fairseq-train with the settings that suit the data, as `syntax-nmt options
--training PREPARED METHOD` prints them, and translates the test set, the first of several, with its
best checkpoint. A training that was interrupted resumes, and what is finished is not done again.
Options after -- go to fairseq-train.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.description = DESCRIPTION
    parser.add_argument("prepared", type=Path, help="folder that `syntax-nmt prepare` wrote")
    parser.add_argument(
        "methods", nargs="*", metavar="METHOD", help="as `prepare` lists them, such as baseline"
    )
    parser.add_argument(
        "--seeds",
        nargs="+",
        type=natural_int,
        metavar="SEED",
        help="train each method once with each, in folders of their own",
    )
    parser.add_argument(
        "--name",
        help="name of a variant with other options (after --): it has folders of its own, "
        "METHOD-NAME",
    )
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="REFERENCE",
        help="raw text of the target of the test set, the first of several: compare the methods "
        "with the first by it",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print fairseq's command lines, and run nothing"
    )


def run(args: argparse.Namespace) -> None:
    """Trains, translates and compares.

    Raises:
        UserError: no method or an unknown one, one that needs other data or whose annotation the
            test set lacks, a training on data that have changed, options or a reference that do
            not fit, or a program that failed.
    """
    from syntax_nmt.preparation.training_commands import TEST, named_method, trainable, wrapped
    from syntax_nmt.preparation.training_data import TrainingData
    from syntax_nmt.preparation.trainings import Training, refuse_other_data, train, translate_test

    _check_runs(args.seeds or [], args.more)
    if args.name is not None:
        check_name(args.name, "--name")
    data = TrainingData.of(args.prepared)
    if not args.methods:
        known = ", ".join(method.save_dir for method in trainable(data))
        raise UserError(f"no method: name one or more of {known}")
    methods = [named_method(data, name) for name in dict.fromkeys(args.methods)]
    reference = None if args.compare is None else _reference(data, args.compare)
    trainings = [
        Training(data, method, seed, args.more, args.name)
        for seed in args.seeds or [None]
        for method in methods
    ]
    # What the test set lacks is reported before anything is trained.
    commands = [command for training in trainings for command in training.commands]
    if args.dry_run:
        tell("\n".join(map(wrapped, commands)))
        return
    for training in trainings:
        refuse_other_data(training)
    for training in trainings:
        train(training)
        if TEST in data.splits:
            translate_test(training)
    if reference is not None:
        _compare(data, methods, trainings, reference)


def _reference(data: TrainingData, given: Path) -> Path:
    """The reference of a comparison.

    Raises:
        UserError: there is none, or no test set, or it has another number of lines.
    """
    from syntax_nmt.preparation.training_commands import TEST

    path = find_text(given)
    if path is None:
        raise UserError(f"--compare {given}: no such file: give the target's raw test text")
    if TEST not in data.splits:
        raise UserError(f"--compare: {data.data_bin} has no test set: prepare with --testpref")
    lines, pairs = sum(1 for _ in read_lines(path)), data.number_of_pairs(TEST)
    if lines != pairs:
        raise UserError(
            f"--compare {path}: has {lines:,} lines, and the test set of {data.data_bin} has "
            f"{pairs:,}: give the target's raw test text, of several the first"
        )
    words = data.words(TEST, data.languages[1])
    if words is not None:  # it may be another translation of the same source
        known = ({letters(line)} for line in read_lines(path))
        note_other_lines(words, read_lines(words), known, str(path))
    return path


def _check_runs(seeds: Sequence[int], more: Sequence[str]) -> None:
    """Refuses what makes one training of several, or moves its checkpoints out of sight."""
    twice = [seed for place, seed in enumerate(seeds) if seed in seeds[:place]]
    if twice:
        raise UserError(f"--seeds: {twice[0]} twice: give each seed once")
    options = {word.partition("=")[0] for word in more}
    if seeds and "--seed" in options:
        raise UserError("--seed behind -- would replace all --seeds: leave one of them out")
    if "--save-dir" in options:
        raise UserError(
            "--save-dir behind --: checkpoints are in the prepared folder, where this command and "
            "translate look for them: give --name for a folder of their own"
        )


def _compare(
    data: TrainingData,
    methods: Sequence[TrainingRecipe],
    trainings: Sequence[Training],
    reference: Path,
) -> None:
    """Scores of one method, or differences of the others from the first."""
    from syntax_nmt.preparation.training_commands import TEST

    command = ["compare" if len(methods) > 1 else "score"]
    for method in methods:
        outputs = [t.output for t in trainings if t.method is method]
        system = next(t.system for t in trainings if t.method is method)
        command += ["--system", system, *map(str, outputs)]
        if linearised_mode(data.folder) is not None:
            command += ["--prepared", system, str(data.folder)]
    source = data.words(TEST, data.languages[0])  # S- lines are made by the rules of the target
    if source is not None:
        command += ["--source", str(source)]
    target = data.languages[1]
    if is_unspaced(target) and lacks_spaces(read_lines(reference)):
        command += ["--tokenize", "zh" if is_chinese(target) else "char"]
        command += ["--ter-normalized", "--ter-asian-support"]
    command += ["--reference", str(reference)]
    sys.stdout.flush()
    status = subprocess.run([sys.executable, "-m", "syntax_nmt.cli", *command]).returncode
    if status:  # it has said why
        sys.exit(status)
