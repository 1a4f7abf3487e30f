"""What `--help` says: a sentence about every option of every command."""

import argparse
import importlib

import pytest
from nonempty import some

from syntax_nmt.cli import COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_says_what_it_is(command):
    parser = argparse.ArgumentParser()
    importlib.import_module(COMMANDS[command][0]).add_arguments(parser)
    for action in some(parser._actions):
        assert action.help, action.dest
        assert action.help == argparse.SUPPRESS or action.help[0].isalnum(), action.help
