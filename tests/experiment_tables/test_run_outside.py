"""`run.py` without the environment of the project: a line, and no traceback."""

import io
import subprocess
import sys
import tarfile

from commands import REPOSITORY

from experiments.run import unpack

RUN = REPOSITORY / "examples" / "experiments" / "run.py"


def test_an_environment_without_the_packages(tmp_path):
    done = subprocess.run(
        [sys.executable, "-I", "-S", RUN, "toy.yaml", "--folder", tmp_path],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"experiments: error: {sys.executable} has no torch and no fairseq and")
    assert "pip install -c constraints.txt -e '.[experiments]'" in line
    assert not list(tmp_path.iterdir())


def test_a_python_without_filters_of_archives(tmp_path, monkeypatch):
    """3.11.2, of Debian 12."""
    (tmp_path / "text").write_text("kept")
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.add(tmp_path / "text", "folder/text")
    unpack(content.getvalue(), tmp_path / "new")
    extract = tarfile.TarFile.extractall
    monkeypatch.delattr(tarfile, "data_filter")
    monkeypatch.setattr(tarfile.TarFile, "extractall", lambda self, path: extract(self, path))
    unpack(content.getvalue(), tmp_path / "old")
    for name in ("new", "old"):
        assert (tmp_path / name / "folder" / "text").read_text() == "kept"
