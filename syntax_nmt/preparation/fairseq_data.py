"""Runs fairseq-preprocess in a separate process: pieces to a data-bin folder."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from fairseq.data import Dictionary

from syntax_nmt.errors import UserError
from syntax_nmt.preparation.plan import Plan

_SUMMARY = re.compile(
    r"\[(?P<lang>\S+)\] (?P<file>.+): (?P<sentences>\d+) sents, (?P<tokens>\d+) tokens, "
    r"(?P<unknown>[\d.]+)% replaced"
)


def preprocess(plan: Plan) -> dict[str, float]:
    """Writes the data-bin folder, which gets its name only when it is complete.

    A failure leaves no incomplete files. fairseq's output goes to a log.

    What was in the folder before is removed, annotation of another text included.

    Returns:
        The percentage of pieces without an entry in the dictionary, by `SPLIT.LANG`.

    Raises:
        UserError: fairseq failed; names the log and its last line.
    """
    destination = plan.data_bin.resolve()  # a link is kept
    partial = destination.with_name(destination.name + ".partial")
    log = plan.folder / "logs" / "fairseq-preprocess.log"
    shutil.rmtree(partial, ignore_errors=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(log, "w", encoding="utf-8") as out:
            status = subprocess.call(
                command(plan, partial),
                stdout=out,
                stderr=subprocess.STDOUT,
                close_fds=False,  # it keeps the lock of the folder if this process is killed
            )
        said = log.read_text(encoding="utf-8", errors="replace")
        if status != 0:
            last = said.strip().splitlines()[-1:] or ["nothing"]
            raise UserError(f"fairseq-preprocess failed (status {status}): {last[0]}; see {log}")
        shutil.rmtree(destination, ignore_errors=True)
        partial.replace(destination)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return {Path(found["file"]).name: float(found["unknown"]) for found in _SUMMARY.finditer(said)}


def command(plan: Plan, destination: Path) -> list[str]:
    """The command line.

    Args:
        destination: folder to write to.
    """
    line = [sys.executable, "-m", "fairseq_cli.preprocess"]
    # In one word with their options, values may begin with a hyphen.
    line += [f"--source-lang={plan.source}", f"--target-lang={plan.target}"]
    line += [f"--destdir={destination}", f"--workers={plan.workers}"]
    for side, lang in (("src", plan.source), ("tgt", plan.target)):
        if plan.corpus is not None:
            dictionary = plan.corpus.vocabulary / "data-bin" / f"dict.{lang}.txt"
            line.append(f"--{side}dict={dictionary}")
        elif lang in plan.vocabularies:  # fairseq counts its own symbols, too
            words = plan.vocabularies[lang] + Dictionary().nspecial
            line += [f"--nwords{side}={words}"]
    for option, prefixes in plan.piece_prefixes.items():
        line += [f"--{option}={prefixes}"]
    joined = plan.joined and plan.corpus is None  # otherwise both dictionaries are the same
    return [*line, "--joined-dictionary"] if joined else line


def dictionaries(plan: Plan) -> list[bytes]:
    """The content of the dictionaries in the data-bin folder."""
    files = (plan.data_bin / f"dict.{lang}.txt" for lang in plan.languages)
    return [file.read_bytes() for file in files if file.is_file()]


def outdated_models(folder: Path, before: Sequence[bytes], now: Sequence[bytes]) -> Iterator[str]:
    """Warns of models below a folder that were trained with other dictionaries.

    Args:
        before: the dictionaries of an earlier run; none = there was no such run.
        now: those of this run.
    """
    trained = [*folder.glob("*/checkpoint*.pt"), *folder.glob("*/*/checkpoint*.pt")]
    if trained and before and before != now:
        yield (
            f"{folder}: has another vocabulary than models that were trained here, such as "
            f"{min(trained)}, which it cannot be used with any more: to keep them in use, make it "
            "as before, and give another --destdir for this"
        )


def written_files(plan: Plan) -> list[Path]:
    """The files that :func:`preprocess` leaves."""
    files = [plan.data_bin / f"dict.{lang}.txt" for lang in plan.languages]
    for split in plan.splits:
        for lang in plan.languages:
            stem = f"{split.name}.{plan.source}-{plan.target}.{lang}"
            files += [plan.data_bin / f"{stem}.{ending}" for ending in ("bin", "idx")]
    return files
