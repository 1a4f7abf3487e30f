"""`syntax-nmt user-dir`: where the plugin is installed."""

from __future__ import annotations

import argparse
from pathlib import Path

EXAMPLE = 'fairseq-train data-bin --user-dir "$(syntax-nmt user-dir)" --task syntax_translation …'
# As fairseq will import it: a link to it would be another package of the same name.
FOLDER = Path(__file__).resolve().parent


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds nothing: the command has no options."""


def run(args: argparse.Namespace) -> None:
    """Prints the folder that fairseq's `--user-dir` expects.

    Args:
        args: no options are read.
    """
    print(FOLDER)
