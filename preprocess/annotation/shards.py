"""A text parsed piece by piece, each piece kept on disk, so that a killed run goes on."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from syntax_nmt.data.conllu import format_conllu, format_no_parse
from syntax_nmt.data.text_files import NEWLINE_ONLY, read_lines, write_atomically
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.dependencies import Parse, loaded_parser, one_thread
from syntax_nmt.parsing.models import ParserModels

FORMAT = 1
# So many sentences of one shard, and all of them failing, is no accident of one sentence.
_SUSPICIOUS = 8


@dataclass(frozen=True)
class ParseOptions:
    """What decides the parses of a text.

    Attributes:
        models: tagger and parser.
        device: `cpu`, `cuda` or `cuda:N`.
        max_words: longer sentences are not parsed; memory grows with the square of the length.
        batch_size: words in a batch.
    """

    models: ParserModels
    device: str = "cpu"
    max_words: int = 250
    batch_size: int = 1000

    def fingerprint(self) -> str:
        """A text that changes when the parses might."""
        import stanza

        kind = self.device.split(":")[0]
        options = [FORMAT, stanza.__version__, kind, self.max_words, self.batch_size]
        return json.dumps([*options, *self.models.fingerprint()])


@dataclass(frozen=True)
class Shard:
    """Some lines of a text, to be parsed into a file.

    Attributes:
        file: where the result goes; the first line of it is a JSON object of counts and `key`.
        lines: the text.
        key: checksum of the text and of the options.
        options: how to parse.
    """

    file: Path
    lines: list[str]
    key: str
    options: ParseOptions


def cut_shards(
    text: Path, work_folder: Path, options: ParseOptions, shard_size: int
) -> Iterator[Shard]:
    """The shards of a text, in order.

    Args:
        text: words separated by spaces, a sentence a line.
        work_folder: where results go.
        options: how to parse.
        shard_size: lines in a shard.
    """
    fingerprint = options.fingerprint()
    lines = read_lines(text, NEWLINE_ONLY)
    number = 0
    while chunk := list(islice(lines, shard_size)):
        key = hashlib.sha256("\n".join([fingerprint, *chunk]).encode("utf-8")).hexdigest()
        yield Shard(work_folder / f"{number:06d}.conllu", chunk, key, options)
        number += 1


def parse_shard(shard: Shard) -> Counter[str]:
    """Parses a shard unless its file is already there; returns its counts.

    Counts are of lines: `lines`, `parsed`, `empty`, `too long`, `failed`; `reused` counts lines
    that were found done.

    Args:
        shard: what to parse, and where to.

    Raises:
        UserError: when the models do not load, or every sentence fails.
    """
    done = _finished_counts(shard)
    if done is not None:
        return done + Counter(reused=done["lines"])
    sentences = [line.split() for line in shard.lines]
    counts, wanted = _sort_out(sentences, shard.options.max_words)
    with one_thread():
        parser = loaded_parser(shard.options.models, shard.options.device, shard.options.batch_size)
        parses = parser.parse([sentences[index] for index in wanted])
    found = {index: parse for index, parse in zip(wanted, parses) if parse is not None}
    if not found and len(wanted) >= _SUSPICIOUS:
        raise UserError(f"Stanza fails on every sentence: {parser.last_error or 'no tree'}")
    counts.update(parsed=len(found), failed=len(wanted) - len(found))
    with write_atomically(shard.file) as out:
        out.write(json.dumps({"key": shard.key, "counts": counts}) + "\n")
        for index, words in enumerate(sentences):
            out.write(_block(words, found.get(index)))
    return counts


def merge_shards(files: Sequence[Path], lines: int, output: Path) -> None:
    """Writes the shards' trees into one file, and checks that every line has its block.

    Args:
        files: the shards' files, in order.
        lines: how many blocks there must be.
        output: the CoNLL-U file, replaced only when all is well.

    Raises:
        UserError: when the number of blocks differs.
    """
    blocks = 0
    with write_atomically(output) as out:
        for file in files:
            with open(file, encoding="utf-8", newline="\n") as shard:
                next(shard)
                for line in shard:
                    blocks += line == "\n"
                    out.write(line)
        if blocks != lines:
            raise UserError(
                f"{output}: {blocks} trees for {lines} lines; remove {files[0].parent} "
                "and start again"
            )


def remove_work(folder: Path) -> None:
    """Removes the shards' folder.

    Args:
        folder: the folder given to :func:`cut_shards`.
    """
    shutil.rmtree(folder, ignore_errors=True)


def _finished_counts(shard: Shard) -> Counter[str] | None:
    """The counts of the shard's file, or None if it is missing or made from something else."""
    try:
        with open(shard.file, encoding="utf-8", newline="\n") as file:
            head = json.loads(next(file))
    except (OSError, ValueError, StopIteration):
        return None
    return Counter(head["counts"]) if head.get("key") == shard.key else None


def _sort_out(sentences: Sequence[Sequence[str]], max_words: int) -> tuple[Counter[str], list[int]]:
    """Counts of what is not to be parsed, and the positions of the rest, by length."""
    lengths = [len(words) for words in sentences]
    counts = Counter(lines=len(lengths), empty=lengths.count(0))
    counts["too long"] = sum(length > max_words for length in lengths)
    wanted: Iterable[int] = (i for i, length in enumerate(lengths) if 0 < length <= max_words)
    return counts, sorted(wanted, key=lambda index: lengths[index])


def _block(words: list[str], parse: Parse | None) -> str:
    if parse is None:
        return format_no_parse(words)
    return format_conllu(words, parse.heads, relations=parse.relations, upos=parse.upos)
