"""Runs fairseq-preprocess in a separate process: pieces to a data-bin folder."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fairseq.data import Dictionary

from syntax_nmt.errors import UserError
from syntax_nmt.preparation.splits import prefix_options

_SUMMARY = re.compile(
    r"\[(?P<lang>\S+)\] (?P<file>.+): (?P<sentences>\d+) sents, (?P<tokens>\d+) tokens, "
    r"(?P<unknown>[\d.]+)% replaced"
)


@dataclass(frozen=True)
class FairseqData:
    """The settings of fairseq-preprocess.

    Attributes:
        source: source language.
        target: target language.
        pieces: folder of the segmented text, `SPLIT.LANG`.
        splits: names of the splits, `train` among them.
        joined: one dictionary for both languages.
        workers: processes.
        vocabularies: the maximal dictionary size by language; without limit for others.
    """

    source: str
    target: str
    pieces: Path
    splits: Sequence[str]
    joined: bool
    workers: int
    vocabularies: Mapping[str, int] = field(default_factory=dict)

    def command(self, destination: Path) -> list[str]:
        """The command line.

        Args:
            destination: folder to write to.
        """
        command = [sys.executable, "-m", "fairseq_cli.preprocess"]
        command += ["--source-lang", self.source, "--target-lang", self.target]
        command += ["--destdir", str(destination), "--workers", str(self.workers)]
        for side, lang in (("src", self.source), ("tgt", self.target)):
            if lang in self.vocabularies:  # fairseq counts its own symbols, too
                words = self.vocabularies[lang] + Dictionary().nspecial
                command += [f"--nwords{side}", str(words)]
        for option, prefixes in prefix_options(self.pieces, self.splits).items():
            command += [f"--{option}", prefixes]
        return [*command, "--joined-dictionary"] if self.joined else command


def preprocess(data: FairseqData, destination: Path, log: Path) -> dict[str, float]:
    """Writes a data-bin folder, which gets its name only when it is complete.

    A failure leaves no incomplete files.

    What was in the folder before is removed, annotation of another text included.

    Args:
        data: what to do.
        destination: the data-bin folder.
        log: gets fairseq's output.

    Returns:
        The percentage of pieces without an entry in the dictionary, by `SPLIT.LANG`.

    Raises:
        UserError: fairseq failed; names the log and its last line.
    """
    destination = destination.resolve()  # a link is kept
    partial = destination.with_name(destination.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(log, "w", encoding="utf-8") as out:
            status = subprocess.call(data.command(partial), stdout=out, stderr=subprocess.STDOUT)
        said = log.read_text(encoding="utf-8", errors="replace")
        if status != 0:
            last = said.strip().splitlines()[-1:] or ["nothing"]
            raise UserError(f"fairseq-preprocess failed (status {status}): {last[0]}; see {log}")
        shutil.rmtree(destination, ignore_errors=True)
        partial.replace(destination)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return {Path(found["file"]).name: float(found["unknown"]) for found in _SUMMARY.finditer(said)}


def written_files(data: FairseqData, destination: Path) -> list[Path]:
    """The files that :func:`preprocess` leaves.

    Args:
        data: what was asked for.
        destination: the data-bin folder.
    """
    languages = (data.source, data.target)
    files = [destination / f"dict.{lang}.txt" for lang in languages]
    for name in data.splits:
        for lang in languages:
            stem = f"{name}.{data.source}-{data.target}.{lang}"
            files += [destination / f"{stem}.{ending}" for ending in ("bin", "idx")]
    return files
