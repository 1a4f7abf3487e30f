"""Shared by all tests: the flag for slow ones, real data if it is there, and small models."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from parser_files import PIECES, Parser, binarise
from small_models import build, save_checkpoint

import syntax_nmt.plugin  # noqa: F401  registers everything

pytest_plugins = ["prepared_corpus"]


SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the tests that take minutes, too")


def pytest_collection_modifyitems(config, items):
    skipped = {}
    if not config.getoption("--slow"):
        skipped["slow"] = pytest.mark.skip(reason="slow: run with --slow")
    if not torch.cuda.is_available():
        skipped["gpu"] = pytest.mark.skip(reason="needs a GPU")
    for item in items:
        for marker, skip in skipped.items():
            if item.get_closest_marker(marker):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real corpora and models beside the checkout; tests skip where it is not."""
    if not SHARED.is_dir():
        pytest.skip(f"no real data: {SHARED} is not there")
    return SHARED


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(1)


@pytest.fixture(scope="session")
def parser(tmp_path_factory) -> Parser:
    folder = tmp_path_factory.mktemp("parser")
    data = binarise(folder, PIECES, PIECES)
    # Its annotation files are not there: parsing must not ask for them.
    model, _, cfg = build(data, "dependency_transformer", "--load-dependencies")
    checkpoint = save_checkpoint(folder / "heads.pt", model, cfg)
    model, _, cfg = build(data, "syntax_transformer")
    return Parser(
        data, folder / "test.src", checkpoint, save_checkpoint(folder / "no.pt", model, cfg)
    )


@pytest.fixture
def refused(request):
    """Runs the command of a file, which must end with one line; gives that line."""
    command = request.getfixturevalue(request.module.COMMAND)

    def run(*arguments, **options):
        with pytest.raises(SystemExit) as stopped:
            command(*arguments, **options)
        message = str(stopped.value.code)
        assert message.startswith("syntax-nmt: error: ")
        assert "\n" not in message
        return message

    return run
