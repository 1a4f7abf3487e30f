"""A small file system of its own, for tests of full disks."""

import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str):
    """A file system of some size; skips where one may not be mounted."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a file system cannot be mounted here (not root)")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)
