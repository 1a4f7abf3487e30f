"""The annotation of a text of any size: in parts, resumable, on any number of workers."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from syntax_nmt.data.text_files import check_writable, read_lines, refuse_pipe
from syntax_nmt.preparation.annotators.annotator import Annotator
from syntax_nmt.preparation.annotators.parts import (
    PartFolder,
    TextPart,
    merge_parts,
    options_sum,
    parts_of,
)
from syntax_nmt.preparation.annotators.shard import Shard
from syntax_nmt.progress import Progress

PART_SIZE = 2000
# Sentences per task of a worker: the steps of the progress bar; they fill some batches.
_SLICE = 200
_REASONS = ("empty", "too long", "failed")


@dataclass(frozen=True)
class Resources:
    """The workers and parts of an annotation.

    Attributes:
        workers: processes of this machine; 1 = this one.
        dask_scheduler: address of a Dask scheduler whose workers do the work.
        part_size: lines saved at a time.
        shard: this job's share of the work; by default all.
    """

    workers: int = 1
    dask_scheduler: str | None = None
    part_size: int = PART_SIZE
    shard: Shard = field(default_factory=Shard)


class _Slice(NamedTuple):
    """The positions of sentences annotated together in their part; the last completes it."""

    part: _OpenPart
    places: list[int]
    last: bool


@dataclass
class _OpenPart:
    """A part in progress."""

    part: TextPart
    sentences: list[list[str]]
    counts: Counter[str]
    entries: dict[int, str | None] = field(default_factory=dict)

    def text(self, annotator: Annotator) -> str:
        """All entries, in the order of the lines."""
        return "".join(
            self.entries.get(place) or annotator.no_annotation(words)
            for place, words in enumerate(self.sentences)
        )


def annotate_file(
    text: Path,
    output: Path,
    annotator: Annotator,
    resources: Resources | None = None,
    keep_parts: bool = False,
    note: Callable[[str], None] | None = None,
) -> Counter[str]:
    """Annotates a text, one entry per line; if interrupted and called again, it resumes.

    Finished parts are in a folder next to the output, `OUTPUT.parts`, until all are finished. One
    job of several (a shard) leaves its parts there for a later merge.

    Args:
        text: words separated by spaces, one sentence per line; may be `.gz`.
        annotator: annotates sentences.
        keep_parts: do not remove parts after the merge.
        note: called with a line if the text is in another language; None = it is not looked at.

    Returns:
        Counts of lines: `lines`, `annotated`, `empty`, `too long`, `failed`, and `reused` of an
        earlier run.

    Raises:
        UserError: the text cannot be read, the output not be written (found before models are
            loaded), models do not load, or a worker died. Finished parts are kept.
    """
    resources = resources or Resources()
    refuse_pipe(text)
    lines = sum(1 for _ in read_lines(text))
    check_writable(output, text)
    parts = PartFolder(output)
    if lines <= resources.part_size and resources.dask_scheduler is None:
        resources = replace(resources, workers=1)  # a single part keeps no pool busy
    if resources.workers == 1 and resources.dask_scheduler is None:
        annotator.load()  # errors are reported before the progress bar starts
    foreign = annotator.foreign(text) if note is not None else None
    if note is not None and foreign is not None:
        note(foreign)
    counts: Counter[str] = Counter(lines=0, annotated=0)
    whole = resources.shard.count == 1
    progress = Progress(None, output.name, "sentences", lines)
    with parts.held(shared=not whole), progress:
        for done in _annotated_parts(text, parts, annotator, resources, progress.update):
            counts.update(done)
        if whole:
            merge_parts(text, output, parts)
            if not keep_parts:
                parts.remove()
    return counts


def describe(counts: Counter[str]) -> str:
    """A sentence about annotated lines and others.

    Args:
        counts: of :func:`annotate_file`.
    """
    lines, annotated, reused = counts["lines"], counts["annotated"], counts["reused"]
    share = f" ({annotated / lines:.2%})" if lines else ""
    reasons = ", ".join(f"{counts[kind]:,} {kind}" for kind in _REASONS)
    again = f"; {reused:,} from an earlier run" if reused else ""
    return f"{lines:,} lines, {annotated:,} annotated{share}; not annotated: {reasons}{again}"


def _annotated_parts(
    text: Path,
    parts: PartFolder,
    annotator: Annotator,
    resources: Resources,
    progress: Callable[[int], Any],
) -> Iterator[Counter[str]]:
    """Counts of this job's parts as they finish, including those of an earlier run."""
    options = options_sum(annotator.fingerprint(), resources.part_size)
    parts.refuse_other_options(options)
    reused: Counter[str] = Counter()
    underway: deque[_Slice] = deque()

    def unfinished() -> Iterator[list[list[str]]]:
        for part in parts_of(text, resources.part_size):
            if not resources.shard.holds(part.number):
                continue
            done = parts.finished(part, options)
            if done is not None:
                reused.update(done, reused=done["lines"])
                progress(done["lines"])
                continue
            for piece in _slices(part, annotator.max_words):
                underway.append(piece)
                yield [piece.part.sentences[place] for place in piece.places]

    with annotator.on(resources.workers, resources.dask_scheduler) as annotated:
        for entries in annotated(unfinished()):
            part, places, last = underway.popleft()
            part.entries.update(zip(places, entries))
            progress(len(places))
            if not last:
                continue
            found = list(part.entries.values())
            part.counts.update(annotated=len(found) - found.count(None), failed=found.count(None))
            parts.write(part.part, options, part.text(annotator), part.counts)
            progress(len(part.sentences) - len(found))
            yield part.counts + reused
            reused.clear()
    yield reused


def _slices(part: TextPart, max_words: int) -> Iterator[_Slice]:
    """A part's sentences in groups, ordered by length, so that batches are even."""
    sentences = [line.split() for line in part.lines]
    counts, wanted = _sort_out(sentences, max_words)
    opened = _OpenPart(part, sentences, counts)
    for start in range(0, max(1, len(wanted)), _SLICE):
        places = wanted[start : start + _SLICE]
        yield _Slice(opened, places, last=start + _SLICE >= len(wanted))


def _sort_out(sentences: Sequence[Sequence[str]], max_words: int) -> tuple[Counter[str], list[int]]:
    """Counts of lines not to annotate, and the positions of the others, by length."""
    lengths = [len(words) for words in sentences]
    counts = Counter(lines=len(lengths), empty=lengths.count(0))
    counts["too long"] = sum(length > max_words for length in lengths)
    wanted = (i for i, length in enumerate(lengths) if 0 < length <= max_words)
    return counts, sorted(wanted, key=lengths.__getitem__)
