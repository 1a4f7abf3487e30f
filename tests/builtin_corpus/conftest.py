"""A small corpus that the tests of this folder read."""

import pytest
from commands import syntax_nmt
from demo_files import options


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """A folder with a corpus of `SIZES`, written by the command-line program."""
    folder = tmp_path_factory.mktemp("demo") / "corpus"
    syntax_nmt("demo", folder, *options())
    return folder
