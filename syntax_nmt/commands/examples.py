"""`syntax-nmt examples`: copies the examples, for users without a checkout."""

import argparse
import shutil
import tempfile
from pathlib import Path

from syntax_nmt import FOLDER
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.output import tell

EXAMPLE = "syntax-nmt examples && bash examples/phrase/train.sh data-bin checkpoints"
NAME = "examples"

DESCRIPTION = """\
Copies the examples into a folder of that name: for each paper the settings to train with (train.sh,
and train.yaml for fairseq-hydra-train), a notebook, the benchmark, and the comparisons on Multi30k
and the built-in corpus, which run only in a git checkout.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        type=Path,
        default=Path(),
        help=f"make FOLDER/{NAME} (default: ./{NAME})",
    )


def run(args: argparse.Namespace) -> None:
    """Copies the examples.

    Raises:
        UserError: there is such a folder already, or it cannot be written; it is whole or absent.
    """
    destination = args.folder / NAME
    if destination.exists():
        raise UserError(f"{destination} is there already: give another FOLDER, or remove it")
    # Installed inside the package, or next to it in a checkout.
    inside = FOLDER / NAME
    source = inside if inside.is_dir() else FOLDER.parent / NAME
    try:
        args.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=args.folder, prefix=f".{NAME}-") as unfinished:
            _copy(source, Path(unfinished, NAME))
            Path(unfinished, NAME).replace(destination)
    except OSError as error:
        raise UserError(
            f"{destination}: cannot be written ({error.strerror}): check the folder, or give "
            f"another FOLDER"
        ) from error
    tell(f"{destination}: {', '.join(sorted(path.name for path in destination.iterdir()))}")


def _copy(source: Path, destination: Path) -> None:
    """Copies the files of a folder, but no pictures and compiled files, up to the first error."""
    for file in source.rglob("*"):
        if file.is_file() and file.suffix not in (".png", ".pyc"):
            copy = destination / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)
