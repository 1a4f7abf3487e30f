"""Shared by all tests: flags, real data if it is there, devices, small disks, small models."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from parser_files import PIECES, Parser, binarise
from small_models import build, save_checkpoint, write_dictionaries

import syntax_nmt.plugin  # noqa: F401  registers everything

pytest_plugins = ["prepared_corpus"]


TESTS = Path(__file__).resolve().parent
SHARED = TESTS.parents[1] / "shared"
# Files of these take longest: they begin first, so that no process waits for the last of another.
FIRST = (
    *("test_contributing.py", "endurance", "installation", "experiment_tables", "end_to_end"),
    *("preparation", "export", "models", "properties"),
)


def pytest_addoption(parser):
    parser.addoption("--dear", action="store_true", help="run the dear tests, and no others")
    parser.addoption("--slow", action="store_true", help="run all, those that take minutes, too")


def pytest_collection_modifyitems(config, items):
    slow, only_dear = config.getoption("--slow"), config.getoption("--dear")
    if only_dear:
        config.hook.pytest_deselected(items=[item for item in items if not _is_dear(item)])
        items[:] = filter(_is_dear, items)
    items.sort(key=_place)
    for item in items:
        if item.get_closest_marker("slow") and not slow:
            item.add_marker(pytest.mark.skip(reason="slow: run with --slow"))
        if _is_dear(item) and not (slow or only_dear):
            item.add_marker(pytest.mark.skip(reason="dear: run with --dear"))
        if item.get_closest_marker("gpu") and not torch.cuda.is_available():
            item.add_marker(pytest.mark.skip(reason="needs a GPU"))


def _place(item) -> int:
    """Where a test's file or folder stands among the first; behind them if it does not."""
    part = item.path.relative_to(TESTS).parts[0]
    return FIRST.index(part) if part in FIRST else len(FIRST)


def _is_dear(item) -> bool:
    """Whether a test stays out of the gate; those that need a GPU run wherever there is one."""
    return bool(item.get_closest_marker("dear")) and not item.get_closest_marker("gpu")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real corpora and models beside the checkout; tests skip where it is not."""
    if not SHARED.is_dir():
        pytest.skip(f"no real data: {SHARED} is not there")
    return SHARED


@pytest.fixture(scope="module", params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request) -> str:
    """The processor and, where there is one, a GPU."""
    return request.param


@pytest.fixture
def small_disk(request, tmp_path) -> Callable[[str], Path]:
    """Mounts a file system of a size; tests skip where one may not be mounted."""

    def mount(size: str) -> Path:
        disk = tmp_path / "disk"
        disk.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
        if subprocess.run(command, capture_output=True).returncode:
            pytest.skip("a file system cannot be mounted here (not root)")
        request.addfinalizer(lambda: subprocess.run(["umount", str(disk)], check=True))
        return disk

    return mount


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(1)


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """A data folder that holds dictionaries alone; nothing may write there."""
    return write_dictionaries(tmp_path_factory.mktemp("dictionaries"))


@pytest.fixture(scope="session")
def pieces_folder(tmp_path_factory) -> Path:
    """The same, with words of several pieces."""
    return write_dictionaries(tmp_path_factory.mktemp("pieces"), pieces=True)


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
