"""The YAML of a paper for `fairseq-hydra-train`, out of its `train.sh`.

    python tests/endurance/training_yaml.py examples/PAPER …

writes `train.yaml` beside each script.
"""

import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml
from fairseq import options
from fairseq.criterions import CRITERION_DATACLASS_REGISTRY
from fairseq.dataclass.configs import FairseqConfig
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.optim import OPTIMIZER_DATACLASS_REGISTRY, OPTIMIZER_REGISTRY
from fairseq.optim.lr_scheduler import LR_SCHEDULER_DATACLASS_REGISTRY
from fairseq.tasks import TASK_DATACLASS_REGISTRY

import syntax_nmt
import syntax_nmt.plugin
from syntax_nmt.models.family_options import command_line_options

HEAD = """\
# The settings of train.sh for fairseq-hydra-train (see README.md), written by
# `python tests/endurance/training_yaml.py`. common.user_dir is what `syntax-nmt user-dir` prints.
hydra:
  job:
    chdir: false  # relative paths stay what they are
  run:
    dir: ${checkpoint.save_dir}  # for the log and the settings
"""
DATACLASSES = {
    "task": TASK_DATACLASS_REGISTRY,
    "criterion": CRITERION_DATACLASS_REGISTRY,
    "optimizer": OPTIMIZER_DATACLASS_REGISTRY,
    "lr_scheduler": LR_SCHEDULER_DATACLASS_REGISTRY,
}
NAMED = {"model": "arch", **{group: group for group in DATACLASSES}}
GROUPS = (
    *("common", "task", "model", "criterion", "optimizer", "lr_scheduler"),
    *("dataset", "optimization", "checkpoint"),
)
OF_THE_RUN = ("user_dir", "data", "save_dir")


def arguments_of(folder: Path, *more: str) -> list[str]:
    """What the folder's `train.sh` gives to `fairseq-train`, with more options of the user."""
    with tempfile.TemporaryDirectory() as programs:
        for name in ("fairseq-train", "syntax-nmt"):
            program = Path(programs, name)
            program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
            program.chmod(0o755)
        done = subprocess.run(
            ["bash", folder / "train.sh", "DATA", "SAVE", *more],
            env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=True,
        )
    arguments = done.stdout.splitlines()
    arguments[arguments.index("--user-dir") + 1] = str(syntax_nmt.FOLDER)
    return arguments


def parsed(arguments: list[str], only_given: bool = False) -> Namespace:
    """The options, all or only those that the arguments name."""
    parser = options.get_training_parser()
    return options.parse_args_and_arch(parser, arguments, suppress_defaults=only_given)


def yaml_of(folder: Path) -> str:
    """The text of the folder's `train.yaml`."""
    arguments = arguments_of(folder)
    full, given = parsed(arguments), vars(parsed(arguments, only_given=True))
    groups = {group: _settings(group, full, given) for group in GROUPS}
    text = yaml.dump(groups, Dumper=_Dumper, sort_keys=False, width=1000)
    return HEAD + text.replace("'???'", "???")


def _settings(group: str, full: Namespace, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a group of fairseq's configuration that the script gives."""
    found = {"_name": getattr(full, NAMED[group])} if group in NAMED else {}
    if group == "optimizer" and full.optimizer not in OPTIMIZER_DATACLASS_REGISTRY:
        found |= {"lr": "${optimization.lr}", **_all_options(full)}
    else:
        found |= {name: given[name] for name in _known(group, full) if name in given}
    return found | {name: "???" for name in found if name in OF_THE_RUN}


def _known(group: str, full: Namespace) -> Iterable[str]:
    """The options of a group, without those that it takes over from another."""
    if group == "model":
        return command_line_options(ARCH_MODEL_REGISTRY[full.arch])
    if group in NAMED:
        declared = DATACLASSES[group][getattr(full, NAMED[group])]
    else:
        declared = FairseqConfig.__dataclass_fields__[group].type
    return [each.name for each in fields(declared) if not str(each.default).startswith("${")]


def _all_options(full: Namespace) -> dict[str, Any]:
    """Those of an optimizer without a dataclass: fairseq knows no defaults of it in a YAML."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    OPTIMIZER_REGISTRY[full.optimizer].add_args(parser)
    return {action.dest: getattr(full, action.dest) for action in parser._actions}


class _Dumper(yaml.SafeDumper):
    """Writes lists on one line, everything else in blocks."""


_Dumper.add_representer(
    list, lambda dumper, each: dumper.represent_sequence("tag:yaml.org,2002:seq", each, True)
)

if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name, "train.yaml").write_text(yaml_of(Path(name)), encoding="utf-8")
