"""Names that are misspelled on a command line of fairseq: architectures, criterions, tasks, and
options of a model in `--model-overrides`.

fairseq's parser answers to the former with all of their names, several hundred of them. It is built
after the folder of `--user-dir` is imported: the only hook that is early enough.
"""

import argparse
import ast
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.registry import REGISTRIES
from fairseq.tasks import TASK_REGISTRY

from syntax_nmt import FOLDER
from syntax_nmt.arguments import Namespace
from syntax_nmt.errors import UserError
from syntax_nmt.models.family_options import command_line_options, is_of_another

_CLOSE = 0.85  # of names: a letter or two differ
_OPTIONS = (("--arch", "-a"), ("--criterion",), ("--task",))


def refuse_misspelled_names(words: Sequence[str]) -> None:
    """Says which name was meant; others are left to fairseq.

    Args:
        words: of a command line. If its `--user-dir` is another folder than this package, which may
            register more names after importing this one, nothing is refused.

    Raises:
        UserError: a name that nothing registered, and that is close to one.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--user-dir")
    for names in _OPTIONS:
        parser.add_argument(*names)
    try:
        given, _ = parser.parse_known_args(words)
    except argparse.ArgumentError:  # an option without its value, of which fairseq tells
        return
    if given.user_dir is None or Path(given.user_dir).resolve() != FOLDER:
        return
    known: dict[str, Collection[str]] = {
        "arch": ARCH_MODEL_REGISTRY,
        "criterion": REGISTRIES["criterion"]["registry"],
        "task": TASK_REGISTRY,
    }
    for option, registered in known.items():
        name = getattr(given, option)
        what = "architecture" if option == "arch" else option
        close = get_close_matches(name or "", registered, n=1)
        if close and name not in registered:
            raise UserError(f"--{option} {name}: no such {what}: did you mean {close[0]}?")


def refuse_misspelled_overrides(text: str | None, cfg: Any) -> None:
    """Refuses a key of `--model-overrides` that is close to an option of the model, but none.

    fairseq drops such keys. Others may be options of another group, or of another model.

    Args:
        text: a dictionary as Python writes it.
        cfg: the options of a model of `--path`.

    Raises:
        UserError: names the key, and the option that was meant.
    """
    names = vars(cfg) if isinstance(cfg, Namespace) else cfg
    name = names.get("_name") or names.get("arch")
    model = ARCH_MODEL_REGISTRY.get(name)
    try:
        overrides = ast.literal_eval(text or "{}")
    except (ValueError, SyntaxError):  # fairseq reports it
        return
    if not isinstance(overrides, dict) or not hasattr(model, "feature_options"):
        return
    options = command_line_options(model)
    for key in map(str, overrides):
        close = get_close_matches(key, options, n=1, cutoff=_CLOSE)
        if close and key not in options and not is_of_another(key):
            raise UserError(
                f"--model-overrides: {key} is no option of {name}: did you mean {close[0]}?"
            )
