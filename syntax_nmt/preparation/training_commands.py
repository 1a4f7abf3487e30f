"""Training commands for each method whose annotation a data folder has."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

import torch

from syntax_nmt.data.annotation.columns import Column, loading_options, making_options
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.linearised_folder import (
    PARSED_SOURCE,
    PARSED_TARGET,
    WITH_SYMBOLS,
    linearised_mode,
    option_of,
)
from syntax_nmt.errors import UserError
from syntax_nmt.methods.method import RNN, TRANSFORMER, TrainingRecipe
from syntax_nmt.models.presets import LINES
from syntax_nmt.preparation.training_data import TrainingData, argument
from syntax_nmt.preparation.training_settings import TrainingSettings, training_settings

TEST = "test"  # the split that translations are compared by; others are test1, test2, …
_LINE = 100
_BLEU_COST = 0.125  # of the time of a training


def trainable(data: TrainingData) -> list[TrainingRecipe]:
    """The ways to train whose annotation exists, the baselines first."""
    kinds = set(data.annotated["train"])
    mode = linearised_mode(data.folder)
    return [
        line if mode is None else _linearised(line, mode)
        for line in LINES
        if line.is_printed and kinds.issuperset(line.needs)
    ]


def _linearised(line: TrainingRecipe, mode: str) -> TrainingRecipe:
    """The line under a name of its own: the data have parses, even if no model of it reads any.

    Args:
        mode: of `prepare --linearised`.
    """
    kind = f"parsed_{mode}" if mode in (PARSED_SOURCE, PARSED_TARGET) else mode
    plain = "baseline" in line.save_dir
    return replace(
        line,
        title=f"{line.title.removesuffix(' without syntax')} on text with parses ({mode})",
        save_dir=line.save_dir.replace("baseline", kind) if plain else f"{line.save_dir}_{kind}",
    )


def named_method(data: TrainingData, name: str) -> TrainingRecipe:
    """A way to train by its name, which is that of its folder of checkpoints.

    Raises:
        UserError: there is none, or the data lack annotation that it needs; says which.
    """
    known = {line.save_dir: line for line in trainable(data)}
    if name in known:
        return known[name]
    mode = linearised_mode(data.folder)
    if mode is not None:
        raise UserError(
            f"{name}: {data.data_bin} has parses as text ({mode}): choose of {', '.join(known)}, "
            f"or run `syntax-nmt prepare` without {option_of(mode)} into another folder"
        )
    printed = {line.save_dir: line for line in LINES if line.is_printed}
    if name in printed:
        there = data.annotated["train"]
        lacking = [kind for kind in printed[name].needs if kind not in there]
        makings = _making(data, lacking)
        missing = " and no ".join(kind.description for kind in lacking)
        raise UserError(
            f"{name}: {data.data_bin} has no {missing}: "
            f"run `syntax-nmt prepare` again{f' with {makings}' if makings else ''}, or choose "
            f"of {', '.join(known)}"
        )
    presets = [line.arch for line in printed.values() if f"{name}_".startswith(f"{line.arch}_")]
    if presets:
        arch = max(presets, key=len)
        trained = " or ".join(line.save_dir for line in printed.values() if line.arch == arch)
        raise UserError(f"{name}: is an architecture: give its method, {trained}")
    close = get_close_matches(name, printed, n=1)
    advice = f"did you mean {close[0]}?" if close else f"choose of {', '.join(known)}"
    raise UserError(f"{name}: no such method: {advice}")


def _making(data: TrainingData, kinds: Sequence[AnnotationKind]) -> str:
    """The options of `prepare` that make annotation besides that of the training text."""
    # A list of columns takes the place of the one given before.
    columns = [kind for kind in data.annotated["train"] if isinstance(kind, Column)]
    sides = {kind.side for kind in kinds if isinstance(kind, Column)}
    kept = [kind for kind in columns if kind.side in sides]
    return " ".join(making_options([*kept, *(kind for kind in kinds if kind not in kept)]))


def method_list(data: TrainingData, reference: Path | None = None) -> str:
    """The names of the methods that a folder has the annotation for, and how to train them.

    Args:
        reference: raw text of the first test set's target.
    """
    compared = [] if reference is None else ["--compare", argument(reference)]
    methods = trainable(data)
    width = max(len(line.save_dir) for line in methods)
    shown = _first_to_try(methods) or methods[-1]
    folder = argument(data.folder)
    return "\n".join(
        [
            _expectation(data),
            *(f"  {line.save_dir:<{width}}  {line.title}" for line in methods),
            "by",
            wrapped(
                ["syntax-nmt", "train", folder, methods[0].save_dir, shown.save_dir, *compared]
            ),
            f"or by fairseq's commands: syntax-nmt options --training {shlex.quote(folder)} METHOD",
        ]
    )


def next_commands(data: TrainingData, user_dir: Path) -> str:
    """Command lines that train on a folder, and translate with what they trained.

    Args:
        user_dir: the plugin's folder.
    """
    methods = trainable(data)
    blocks = [_expectation(data)]
    for method in methods:
        blocks.append(f"{method.title}:\n{wrapped(train_command(data, method, user_dir))}")
        if method.reads:
            translate = wrapped(translate_command(data, method, user_dir))
            blocks.append(f"  and translate with it by\n{translate}")
    main = _first_to_try(methods) or methods[0]
    blocks.append(
        f"then translate with {main.title} (likewise others without such a line) by\n"
        f"{wrapped(translate_command(data, main, user_dir))}"
    )
    return "\n".join(blocks)


def _first_to_try(methods: Sequence[TrainingRecipe]) -> TrainingRecipe | None:
    """A Transformer that is trained on annotation and translates without; None = there is none."""
    shown = (line for line in methods if line.needs and not line.reads)
    return next((line for line in shown if line.family == TRANSFORMER), None)


def _expectation(data: TrainingData) -> str:
    """The device of training commands and the estimated time."""
    settings = _settings(data)
    if settings.gpu:
        return "train on the GPU"
    if not settings.minutes:
        return "train (there is no GPU here, and a CPU needs days for so much text)"
    minutes = max(1, round(settings.minutes))
    time = f"train (about {minutes:,} minute{'s' if minutes > 1 else ''} on one core)"
    if settings.size.suffix != "_tiny":
        return time
    return f"{time}; more threads make so small a model slower:\n  export OMP_NUM_THREADS=1"


def training_threads(data: TrainingData) -> dict[str, str]:
    """The environment of programs: more threads make a small model slower."""
    small = _settings(data).size.suffix == "_tiny"
    return {"OMP_NUM_THREADS": "1"} if small and "OMP_NUM_THREADS" not in os.environ else {}


def _settings(data: TrainingData) -> TrainingSettings:
    settings = training_settings(data.pairs, torch.cuda.is_available(), data.tokens)
    # An epoch of fairseq is one folder.
    return replace(settings, epochs=settings.epochs * len(data.data_bins))


def _shared(data: TrainingData, user_dir: Path) -> list[str]:
    """What all programs are given."""
    return [
        *["--user-dir", str(user_dir), "--task", "syntax_translation"],
        *["--source-lang", data.languages[0], "--target-lang", data.languages[1]],
    ]


def train_command(
    data: TrainingData, method: TrainingRecipe, user_dir: Path, save_dir: Path | None = None
) -> list[str]:
    """The program that trains, and its arguments.

    Args:
        save_dir: of the checkpoints; by default the method's in the data's folder.
    """
    settings = _settings(data)
    size = settings.size
    suffix, sizes = (
        (size.rnn_suffix, size.rnn_options) if method.family == RNN else (size.suffix, size.options)
    )
    return [
        *["fairseq-train", argument(data.all_data_bins), *_shared(data, user_dir)],
        *["--arch", method.arch + suffix, *method.training_options],
        *(["--share-all-embeddings"] if data.joined and method.shares_embeddings else []),
        *["--criterion", method.criterion, "--label-smoothing", "0.1", *sizes],
        *settings.options(method.warmups, data.validated),
        *_bleu(data, settings),
        # fairseq refuses a validation set that it does not read.
        *(["--combine-valid-subsets"] if "valid1" in data.splits else []),
        *["--save-dir", argument(save_dir or data.folder / method.save_dir)],
    ]


def _bleu(data: TrainingData, settings: TrainingSettings) -> list[str]:
    """BLEU of the validation text, where its greedy translations take little of the training.

    It is that of words, tokenised. A translated pair takes about three times as long as one that
    is trained on.
    """
    pairs = data.number_of_pairs("valid")
    target = data.segmentation.get(data.languages[1])
    cheap = 3 * pairs <= _BLEU_COST * data.pairs * settings.validate_interval
    if not pairs or not cheap or target is None or linearised_mode(data.folder) in WITH_SYMBOLS:
        return []
    pieces = target.sentencepiece_model is not None
    return [
        *["--eval-bleu", "--eval-bleu-args", '{"beam": 1, "max_len_a": 2, "max_len_b": 10}'],
        *(["--eval-bleu-remove-bpe", "sentencepiece"] if pieces else []),
    ]


def translate_command(
    data: TrainingData, method: TrainingRecipe, user_dir: Path, save_dir: Path | None = None
) -> list[str]:
    """Typed text where it can be segmented, and parsed if need be; otherwise the test set, or the
    last split that has what the method reads.
    """
    if translates_typed_text(data, method):
        return typed_command(data, method, user_dir, save_dir)
    # No parser is known if the annotation was given.
    usable = [split for split in data.splits if not _lacking(data, method, split)]
    split = TEST if TEST in usable else usable[-1]
    return generate_command(data, method, user_dir, save_dir, split)


def translates_typed_text(data: TrainingData, method: TrainingRecipe) -> bool:
    """Whether fairseq-interactive can segment typed text, and parse it if the method reads it."""
    return data.takes_typed_text and all(map(data.is_parsed, method.reads))


def typed_command(
    data: TrainingData, method: TrainingRecipe, user_dir: Path, save_dir: Path | None = None
) -> list[str]:
    """The program that translates typed text."""
    parser = ["--parser-config", argument(data.parser_config)] if method.reads else []
    shared = [argument(data.data_bin), *_shared(data, user_dir)]
    return ["fairseq-interactive", *shared, *parser, *_model(data, method, save_dir)]


def generate_command(
    data: TrainingData,
    method: TrainingRecipe,
    user_dir: Path,
    save_dir: Path | None = None,
    split: str = TEST,
) -> list[str]:
    """The program that translates a split of the data folder.

    Raises:
        UserError: it lacks annotation that the method reads; says which.
    """
    lacking = _lacking(data, method, split)
    if lacking:
        missing = " and no ".join(kind.description for kind in lacking)
        raise UserError(
            f"{method.save_dir}: {split} of {data.data_bin} has no {missing}: run `syntax-nmt "
            f"prepare` again with {_making(data, lacking)} or files beside its text, "
            "or leave the method out"
        )
    shared = [argument(data.data_bin), *_shared(data, user_dir), "--gen-subset", split]
    annotation = loading_options(method.reads)
    return ["fairseq-generate", *shared, *annotation, *_model(data, method, save_dir)]


def _lacking(data: TrainingData, method: TrainingRecipe, split: str) -> list[AnnotationKind]:
    """The annotation that a method reads and a split has none of."""
    return [kind for kind in method.reads if kind not in data.annotated[split]]


def _model(data: TrainingData, method: TrainingRecipe, save_dir: Path | None) -> list[str]:
    """The checkpoint, and how text is segmented."""
    # Validation selects the best checkpoint; without it use the last.
    name = "checkpoint_best.pt" if data.validated else "checkpoint_last.pt"
    folder = save_dir or data.folder / method.save_dir
    return ["--path", argument(folder / name), *data.text_options]


def wrapped(words: Sequence[str]) -> str:
    """A command for the shell, indented, in lines of at most 100 characters that end in a \\.

    An option stands on the line of its values.

    Args:
        words: the program and its arguments.
    """
    groups: list[str] = []
    for word in map(shlex.quote, words):
        if word.startswith("--") or not groups:
            groups.append(word)
        else:
            groups[-1] += f" {word}"
    lines = [f"  {groups[0]}"]
    for group in groups[1:]:
        if len(lines[-1]) + len(group) < _LINE - 2:
            lines[-1] += f" {group}"
        else:
            lines.append(f"    {group}")
    return " \\\n".join(lines)
