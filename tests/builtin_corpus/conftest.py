"""A small corpus that the tests of this folder read."""

import pytest
from demo_files import options, run_demo


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """A folder with a corpus of `SIZES`, written by the command-line program."""
    folder = tmp_path_factory.mktemp("demo") / "corpus"
    done = run_demo(folder, *options())
    assert done.returncode == 0, done.stderr
    return folder
