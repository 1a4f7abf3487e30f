"""What `syntax-nmt prepare` made, in a few lines, and what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import torch

from syntax_nmt.data.annotation import HEADS, KINDS, PHRASES
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.text_columns import NO_FIGURE, table
from syntax_nmt.preparation.plan import Plan
from syntax_nmt.preparation.preparation import Preparation
from syntax_nmt.preparation.training_settings import TrainingSettings, training_settings

_LINE = 100


def summary(done: Preparation) -> str:
    """A table of the splits."""
    rows: list[tuple[str, ...]] = [
        ("split", "lines", "words", "empty", "pieces/word", "unknown", "annotated")
    ]
    for split in done.plan.splits:
        for lang in done.plan.languages:
            rows.append(_row(done, f"{split.name}.{lang}"))
    return table(rows, left=1)


def next_commands(done: Preparation, user_dir: Path) -> str:
    """Command lines that train on what was made, and translate.

    Args:
        user_dir: the plugin's folder.
    """
    blocks = [_first_system(done, str(user_dir))]
    if _has(done, "train", PHRASES):
        blocks.append(_phrase_system(done, str(user_dir)))
    return "\n".join(blocks)


def _first_system(done: Preparation, user_dir: str) -> str:
    """Supervised heads where the source has dependencies, otherwise the plain Transformer."""
    plan = done.plan
    shared = _shared(plan, user_dir)
    parsed = _has(done, "train", HEADS)
    arch = "dependency_transformer" if parsed else "syntax_transformer"
    criterion = "dependency_cross_entropy" if parsed else "label_smoothed_cross_entropy"
    system = ["--load-dependencies"] if parsed else []
    checkpoints = plan.folder / "checkpoints"
    train = _train(plan, shared, arch, system, criterion, checkpoints)
    if _takes_typed_text(plan):
        translate = _interactive(plan, shared, checkpoints)
    else:
        translate = _generate(plan, shared, checkpoints, plan.splits[-1].name)
    return f"train {_expectation(plan)} with\n{train}\nthen translate with\n{translate}"


def _phrase_system(done: Preparation, user_dir: str) -> str:
    """Phrases out of constituents, which translation needs as well."""
    plan = done.plan
    shared = _shared(plan, user_dir)
    system = ["--phrase-segmentation", "parsed", "--load-phrases"]
    checkpoints = plan.folder / "phrase_checkpoints"
    criterion = "label_smoothed_cross_entropy"
    # Twice the usual warm-up, as in the paper.
    train = _train(plan, shared, "phrase_transformer", system, criterion, checkpoints, 2)
    if done.parsed(PHRASES) and _takes_typed_text(plan):
        parser = ["--parser-config", str(plan.parser_config)]
        translate = _interactive(plan, shared, checkpoints, *parser)
    else:  # no parser is known, as the trees were given
        annotated = [split.name for split in plan.splits if _has(done, split.name, PHRASES)][-1]
        translate = _generate(plan, shared, checkpoints, annotated, "--load-phrases")
    return (
        f"or with the phrases of the source's constituents\n{train}\n"
        f"then translate with\n{translate}"
    )


def _expectation(plan: Plan) -> str:
    """Where the training line runs and how long it takes."""
    settings = _settings(plan)
    if settings.gpu:
        return "on the GPU"
    if not settings.minutes:
        return "(there is no GPU here, and a CPU needs days for so much text)"
    minutes = max(1, round(settings.minutes))
    return f"(about {minutes:,} minute{'s' if minutes > 1 else ''} on one core)"


def _settings(plan: Plan) -> TrainingSettings:
    return training_settings(plan.splits[0].lines, gpu=torch.cuda.is_available())


def _has(done: Preparation, split: str, kind: AnnotationKind) -> bool:
    """Whether annotation of a split went into the data-bin."""
    return f"words/{done.plan.annotation_text(split, kind).name}" in done.reports


def _shared(plan: Plan, user_dir: str) -> list[str]:
    """What all programs are given."""
    return [
        *["--user-dir", user_dir, "--task", "syntax_translation"],
        *["--source-lang", plan.source, "--target-lang", plan.target],
    ]


def _train(
    plan: Plan,
    shared: Sequence[str],
    arch: str,
    system: Sequence[str],
    criterion: str,
    checkpoints: Path,
    warmups: int = 1,
) -> str:
    settings = _settings(plan)
    return wrapped(
        [
            *["fairseq-train", str(plan.data_bin), *shared],
            *["--arch", arch + settings.size, *system],
            *(["--share-all-embeddings"] if plan.joined else []),
            *["--criterion", criterion, "--label-smoothing", "0.1"],
            *settings.options(warmups, _validated(plan)),
            *["--save-dir", str(checkpoints)],
        ]
    )


def _interactive(plan: Plan, shared: Sequence[str], checkpoints: Path, *more: str) -> str:
    return wrapped(
        [
            *["fairseq-interactive", str(plan.data_bin), *shared],
            *["--path", _trained(plan, checkpoints), *more],
            *_text_options(plan),
        ]
    )


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


def _generate(plan: Plan, shared: Sequence[str], checkpoints: Path, split: str, *more: str) -> str:
    subset = ["--gen-subset", split, *more]
    command = ["fairseq-generate", str(plan.data_bin), *shared, *subset]
    return wrapped([*command, "--path", _trained(plan, checkpoints), *_text_options(plan)])


def _takes_typed_text(plan: Plan) -> bool:
    """Whether fairseq-interactive can segment what is typed: it knows one way for both sides."""
    return len(plan.cut_languages) != 1


def _trained(plan: Plan, checkpoints: Path) -> str:
    """Which checkpoint is best, validation tells; without it there is the last."""
    name = "checkpoint_best.pt" if _validated(plan) else "checkpoint_last.pt"
    return str(checkpoints / name)


def _validated(plan: Plan) -> bool:
    return any(split.name == "valid" for split in plan.splits)


def _text_options(plan: Plan) -> list[str]:
    """How typed text is segmented, and text is made of translations."""
    segmentation = plan.segmentation
    options = ["--tokenizer", "syntax_words"]
    options += segmentation[plan.source].tokenizer_options("source")
    options += segmentation[plan.target].tokenizer_options("target")
    if plan.target in plan.vocabularies:  # translations are words
        return options
    lang = plan.target if plan.vocabularies else plan.source
    return [*options, "--bpe", "sentencepiece", "--sentencepiece-model", str(plan.model(lang))]


def _row(done: Preparation, name: str) -> tuple[str, ...]:
    words = done.reports[f"words/{name}"]
    pieces = done.reports[f"pieces/{name}"]
    unknown = done.reports["data-bin"]["unknown"].get(name, 0.0)
    return (
        name,
        f"{words['lines']:,}",
        f"{words['words']:,}",
        f"{words['empty']:,}",
        f"{pieces['pieces'] / max(1, pieces['words']):.3f}",
        f"{unknown:g}%",
        _annotated_shares(done, name),
    )


def _annotated_shares(done: Preparation, name: str) -> str:
    """Of each kind of annotation where it is from, and how many lines it lacks."""
    shares = []
    for kind in KINDS:
        report = done.reports.get(f"words/{name}.{kind.ending}")
        if report is None:
            continue
        if "from" in report:
            others = [key for key in ("skipped", "by Stanza") if key in report]
            said = [f"{kind.ending} given", *(f"{report[key]:,} {key}" for key in others)]
            shares.append(", ".join(said))
        else:
            share = report["annotated"] / max(1, report["lines"])
            shares.append(f"{kind.ending} by Stanza ({share:.2%})")
    return "; ".join(shares) or NO_FIGURE
