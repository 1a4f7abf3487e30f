"""Architectures, criterions and tasks that are misspelled on a command line of fairseq.

fairseq's parser answers with all of their names, several hundred of them. It is built after the
folder of `--user-dir` is imported: the only hook that is early enough.
"""

import argparse
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from pathlib import Path

from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.registry import REGISTRIES
from fairseq.tasks import TASK_REGISTRY

from syntax_nmt import FOLDER
from syntax_nmt.errors import UserError

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
