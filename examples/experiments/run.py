"""Makes or resumes tables of experiments, with an installed snapshot of a recorded commit.

    python examples/experiments/run.py [--commit COMMIT] [--folder FOLDER] TABLE.yaml … [OPTION …]

Nothing of the working tree is run but this file: the commit (HEAD unless told otherwise) is taken
out of git and installed into FOLDER/snapshots, and the workflow there does the rest; its options
come with `--help`. So files may be edited while a table grows for days.
"""

import argparse
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
_NEEDED = ("torch", "fairseq", "snakemake")
_OWN = ("*.py", "Snakefile", "table.schema.yaml")
_RUN = ("syntax_nmt", "preprocess", *(f"examples/experiments/{name}" for name in _OWN))


def main() -> None:
    """Installs the snapshot unless it is there, and becomes its workflow."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--folder", type=Path, default=REPOSITORY / "outputs" / "experiments")
    own, rest = parser.parse_known_args()
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise SystemExit(
            f"experiments: error: {sys.executable} has no {' and no '.join(missing)}: activate the "
            "environment of the project, with pip install -c constraints.txt -e '.[experiments]'"
        )
    folder = own.folder.resolve()
    commit = _git("rev-parse", "--verify", f"{own.commit}^{{commit}}").decode().strip()
    if own.commit == "HEAD" and _git("status", "--porcelain", "--", *_RUN):
        print(f"note: changes that are not committed are not run, but {commit[:10]}", flush=True)
    snapshot = install(commit, folder / "snapshots")
    environment = {
        **os.environ,
        "PYTHONPATH": f"{snapshot / 'site'}{os.pathsep}{snapshot / 'source' / 'examples'}",
        "PYTHONSAFEPATH": "1",  # the current folder may be the working tree
    }
    options = ["--commit", commit, "--folder", str(folder), "--results", str(HERE / "results")]
    command = [sys.executable, "-m", "experiments.workflow", *options, *rest]
    os.execve(sys.executable, command, environment)


def install(commit: str, snapshots: Path) -> Path:
    """The folder with the commit's `source` and what pip made of it, `site`."""
    snapshot = snapshots / commit
    if snapshot.is_dir():
        return snapshot
    print(f"installing a snapshot of {commit[:10]}", flush=True)
    snapshots.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="unfinished-", dir=snapshots))
    try:
        _install(commit, work)
        work.rename(snapshot)
    except OSError:
        if not snapshot.is_dir():  # otherwise another start was faster
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return snapshot


def _install(commit: str, work: Path) -> None:
    unpack(_git("archive", commit), work / "source")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip += ["--no-deps", "--no-build-isolation", "--target", str(work / "site")]
    # The sources are copied: building leaves files in their folder.
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(work / "source", copy, dirs_exist_ok=True)
        if subprocess.run([*pip, copy]).returncode:
            raise SystemExit("experiments: error: the commit cannot be installed: see above")


def unpack(archive: bytes, folder: Path) -> None:
    """Unpacks what git archives; Python 3.11.3 and older have no filters for this."""
    safe: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        opened.extractall(folder, **safe)


def _git(*arguments: str) -> bytes:
    command = ["git", "-C", str(REPOSITORY), *arguments]
    try:
        return subprocess.run(command, check=True, capture_output=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        reason = getattr(error, "stderr", b"").decode().strip() or error
        raise SystemExit(f"experiments: error: {' '.join(command)}: {reason}") from None


if __name__ == "__main__":
    main()
