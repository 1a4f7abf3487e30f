"""`syntax-nmt demo`: writes the built-in corpus."""

import argparse
import json
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from syntax_nmt.arguments import add_flags, add_numbers, positive_int
from syntax_nmt.builtin_corpus.corpus import CorpusSize, write_corpus
from syntax_nmt.builtin_corpus.generalisation import SPLITS
from syntax_nmt.builtin_corpus.trained import train
from syntax_nmt.data.text_files import checksum, errors_in_writing
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.output import tell

EXAMPLE = (
    "syntax-nmt demo demo-corpus --train 6000 --seed 1\n  syntax-nmt demo demo-depth --split depth"
)

MANIFEST = "demo.json"
"""Written last: a folder that has it contains a complete corpus."""

UNFINISHED = ".unfinished-"
"""Prefix of the names of folders with an incomplete corpus."""

DESCRIPTION = """\
Writes into DIR, for each split (train, valid, test), one sentence a line:
  SPLIT.src         source: verb-medial, prepositions
  SPLIT.tgt         target: verb-final, cases, postpositions, verbs that agree
  SPLIT.src.conllu  gold dependencies
  SPLIT.src.trees   gold constituency trees, bracketed
  SPLIT.tgt.chunks  chunks in IOB2, one tag a word
  SPLIT.tgt.conllu  gold dependencies of the target
  SPLIT.align       gold word alignment, source-target positions from 0
and pairs of translations that differ in the agreement of one verb:
  contrast.src  contrast.correct.tgt  contrast.incorrect.tgt
  contrast.distance the number of words between the subject's noun and the verb in the target
--split KIND leaves sentences out of train, valid and test, and adds left_out.*, a second test set
of as many sentences, which all have what the others lack:
""" + "\n".join(f"  {name:10} {split.left_out}" for name, split in SPLITS.items())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    parser.add_argument("dir", metavar="DIR", type=Path, help="folder to write to")
    add_numbers(
        parser,
        positive_int,
        train=(6000, "number of training sentences"),
        valid=(300, "number of validation sentences"),
        test=(300, "number of test sentences"),
        contrast=(450, "number of contrastive pairs"),
    )
    add_numbers(
        parser,
        int,
        seed=(1, "random seed; another seed gives other sentences of the same languages"),
    )
    parser.add_argument(
        "--split",
        choices=tuple(SPLITS),
        metavar="KIND",
        help=f"a generalisation split, one of {', '.join(SPLITS)} (default: none)",
    )
    add_flags(
        parser,
        trained="also train a tiny model, which takes about a minute, and print commands that use "
        "it",
        force="write to DIR even if it contains other files; files with the corpus' names are "
        "replaced",
    )


def run(args: argparse.Namespace) -> None:
    """Writes the corpus to a temporary folder and moves it when it is complete.

    Raises:
        UserError: DIR holds something else, or cannot be written.
    """
    size = CorpusSize(args.train, args.valid, args.test, args.contrast)
    _refuse_other_content(args.dir, args.force)
    args.dir.mkdir(parents=True, exist_ok=True)
    for left in args.dir.glob(f"{UNFINISHED}*"):  # of a run that was killed
        shutil.rmtree(left, ignore_errors=True)
    # Inside the folder, because only there moving is certainly a rename.
    with (
        errors_in_writing(args.dir),
        tempfile.TemporaryDirectory(dir=args.dir, prefix=UNFINISHED) as unfinished,
    ):
        split = None if args.split is None else SPLITS[args.split]
        names = write_corpus(Path(unfinished), size, args.seed, split)
        manifest: dict[str, int | str] = {"seed": args.seed, **asdict(size)}
        if args.split is not None:
            manifest["split"] = args.split
        _put_in_place(Path(unfinished), args.dir, names, manifest)
    if args.trained:
        checkpoint = train(args.dir, args.dir / MANIFEST)
        sentence = (args.dir / "test.src").read_text(encoding="utf-8").partition("\n")[0]
        tell(f"syntax-nmt serve --system tiny {checkpoint} {args.dir / 'prepared'}")
        tell(f"translates such as: {sentence}")


def _refuse_other_content(folder: Path, force: bool) -> None:
    """Raises an error if the folder holds anything but an earlier corpus."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; name a folder to write the corpus to")
    if force or not folder.exists():
        return
    if (folder / MANIFEST).exists():
        _refuse_changed_texts(folder)
        return
    if any(not entry.name.startswith(UNFINISHED) for entry in folder.iterdir()):
        raise UserError(
            f"{folder} is not empty and holds no built-in corpus (no {MANIFEST}); "
            "choose another folder, or add --force"
        )


def _refuse_changed_texts(folder: Path) -> None:
    """Raises an error if a file is no longer as this command wrote it (0.1.0 did not note how)."""
    try:
        others = [name for name, same in _written(folder).items() if not same]
    except (OSError, ValueError, AttributeError):
        raise UserError(
            f"{folder / MANIFEST}: cannot be read: choose another folder, or add --force"
        ) from None
    if others:
        raise UserError(
            f"{folder / others[0]} is not what this command wrote there: move it away, choose "
            "another folder, or add --force to overwrite it"
        )


def _written(folder: Path) -> dict[str, bool]:
    """The files of an earlier corpus that are there, and whether they are as they were written.

    Raises:
        OSError, ValueError, AttributeError: its manifest is not there or damaged.
    """
    sums = json.loads((folder / MANIFEST).read_text(encoding="utf-8")).get("files", {})
    return {
        name: checksum(folder / name) == digest
        for name, digest in sums.items()
        if (folder / name).parent == folder and (folder / name).is_file()
    }


def _put_in_place(
    unfinished: Path, folder: Path, names: list[str], manifest: Mapping[str, int | str]
) -> None:
    """Moves whole files to their names, the manifest last; an earlier corpus' others go away."""
    sums = {name: checksum(unfinished / name) for name in names}
    text = json.dumps({"format": 1, **manifest, "files": sums}, indent=2) + "\n"
    (unfinished / MANIFEST).write_bytes(text.encode())
    earlier: dict[str, bool] = {}
    with suppress(OSError, ValueError, AttributeError):  # none, or --force is given
        earlier = _written(folder)
    for name, same in earlier.items():
        if same and name not in names:
            (folder / name).unlink()
    (folder / MANIFEST).unlink(missing_ok=True)
    for name in [*names, MANIFEST]:
        (unfinished / name).replace(folder / name)
