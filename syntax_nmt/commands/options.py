"""`syntax-nmt options`: the options that `fairseq-train --help` does not list.

fairseq prints its help before it asks the architecture, the task or the criterion for theirs.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY
from fairseq.registry import REGISTRIES
from fairseq.tasks import TASK_REGISTRY

import syntax_nmt.plugin  # noqa: F401  registers the components
from syntax_nmt import FOLDER
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.training_commands import TrainingData, next_commands

EXAMPLE = (
    "syntax-nmt options phrase_transformer dependency_cross_entropy\n"
    "  syntax-nmt options --training prepared"
)
_PACKAGE = "syntax_nmt."

DESCRIPTION = """\
Lists the options of architectures, criterions, the task, the tokenizer and the optimizer, which
fairseq-train --help leaves out, and what an architecture presets. Without NAME: the names.
With --training: whole training lines for your data.
"""

Components = Mapping[str, Mapping[str, Any]]
"""By the option that names them and by name: classes that fairseq has registered."""


def components() -> Components:
    """Those of this package, out of fairseq's registries."""
    kinds = {"arch": ARCH_MODEL_REGISTRY, "task": TASK_REGISTRY}
    kinds |= {kind: found["registry"] for kind, found in REGISTRIES.items()}
    ours = {
        kind: {name: found[name] for name in sorted(found) if _is_ours(found[name])}
        for kind, found in kinds.items()
    }
    return {kind: found for kind, found in ours.items() if found}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    parser.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        help="such as an architecture",
    )
    parser.add_argument(
        "--training",
        type=Path,
        metavar="FOLDER",
        help="print a training line for this folder of `syntax-nmt prepare`, or data-bin folder, "
        "for each method that it has the annotation of, as `prepare` does",
    )


def run(args: argparse.Namespace) -> None:
    """Prints the options of what is named, or all names.

    Raises:
        UserError: there is nothing of a name.
    """
    if args.training is not None:
        if args.names:
            raise UserError("--training and NAME exclude each other: leave one out")
        print(next_commands(TrainingData.of(args.training), FOLDER))
        return
    known = components()
    for name in args.names:
        if not any(name in found for found in known.values()):
            raise UserError(f"{name}: unknown name: `syntax-nmt options` lists all")
    for kind, found in known.items():
        if not args.names:
            print(f"--{kind}:", *found, sep="\n  ")
        for name in args.names:
            if name in found:
                print(f"--{kind} {name}", _options_of(kind, name, found[name]), sep="\n\n")


def _options_of(kind: str, name: str, component: Any) -> str:
    parser = argparse.ArgumentParser(usage=argparse.SUPPRESS, add_help=False, allow_abbrev=False)
    if hasattr(component, "add_args"):
        component.add_args(parser)
    else:  # of a tokenizer fairseq keeps the options under this name
        gen_parser_from_dataclass(parser, getattr(component, "__dataclass")())
    if kind == "arch":
        preset = argparse.Namespace()
        ARCH_CONFIG_REGISTRY[name](preset)
        for action in parser._actions:
            if action.dest in preset:
                action.help = f"{action.help} [{name}: {getattr(preset, action.dest)}]"
    return parser.format_help()


def _is_ours(component: Any) -> bool:
    return component.__module__.startswith(_PACKAGE)
