"""`syntax-nmt user-dir`: prints the folder of the plugin."""

import argparse

from syntax_nmt import FOLDER
from syntax_nmt.reporting.output import STDOUT, open_output

EXAMPLE = 'fairseq-train data-bin --user-dir "$(syntax-nmt user-dir)" --task syntax_translation …'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds nothing: the command has no options."""


def run(args: argparse.Namespace) -> None:
    """Prints the folder that fairseq's `--user-dir` expects.

    Args:
        args: no options are read.
    """
    with open_output(STDOUT) as out:
        print(FOLDER, file=out)
