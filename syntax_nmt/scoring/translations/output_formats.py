"""Output formats other than plain text: the output of fairseq-generate and fairseq-interactive,
and n-best lists of Moses and Marian.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError, note

_LINE = re.compile(r"([STHD])-(\d+)(?:\t|$)")


_FACTORS = re.compile(r"F-(\d+)\t(\w+)\t(.*)")


_HYPOTHESIS = re.compile(r"[HD]-\d+\t\S*\d\S*(?:\t|$)")


_ENTRY = re.compile(r"(\d+) \|\|\| (.*?)(?: ?\|\|\|.*)?", re.ASCII)


@dataclass(frozen=True)
class GenerateOutput:
    """The contents of a file for each sentence, in order.

    Attributes:
        hypotheses: the best one of each sentence, from the `D-` lines, or the `H-` lines if there
            are no others.
        references: from the `T-` lines; None unless every sentence has one.
        sources: from the `S-` lines; None unless every sentence has one.
        tokens: the best hypotheses as the model wrote them, from the `H-` lines; None likewise.
    """

    hypotheses: Sequence[str]
    references: Sequence[str] | None = None
    sources: Sequence[str] | None = None
    tokens: Sequence[str] | None = None


def read_output(path: str) -> GenerateOutput:
    """The translations in a file of any of these formats, or of plain text.

    Raises:
        UserError: it cannot be read or is damaged.
    """
    lines = list(read_lines(path))
    if is_generate_output(lines):
        return parse_generate_output(lines, path)
    if is_nbest_list(lines):
        note(f"{path}: an n-best list, its first translations are taken")
        lines = best_translations(lines, path)
    return GenerateOutput(lines)


def is_generate_output(lines: Sequence[str]) -> bool:
    """Whether there is a line that only fairseq writes: a hypothesis with its number and score."""
    return any(_HYPOTHESIS.match(line) for line in lines)


def parse_generate_output(lines: Sequence[str], name: str) -> GenerateOutput:
    """Collects the sentences of a file.

    Args:
        name: of the file, for messages.

    Raises:
        UserError: a line is truncated, a sentence is missing, or there are two runs in the file.
    """
    found: dict[str, dict[int, str]] = {kind: {} for kind in "STHD"}
    for number, line in enumerate(lines, start=1):
        match = _LINE.match(line)
        if match is None:
            continue
        kind, sentence = match[1], int(match[2])
        text = _text(kind, line, f"{name}:{number}")
        if kind == "S" and sentence in found["S"]:
            raise UserError(
                f"{name}:{number}: S-{sentence} for the second time: give the output of one run, "
                f"or of shards that share no sentence"
            )
        found[kind].setdefault(sentence, text)
    kind = "D" if found["D"] else "H"
    if not found[kind]:
        raise UserError(f"{name}: no H- or D- lines: was fairseq-generate run with --quiet?")
    _check_complete(found, kind, name)
    hypotheses = _in_order(found[kind])
    others = (found[other] for other in "TSH")
    complete = (_in_order(x) if len(x) == len(hypotheses) else None for x in others)
    return GenerateOutput(hypotheses, *complete)


def parse_factors(lines: Sequence[str], name: str, sentences: int) -> list[dict[str, list[str]]]:
    """The factors of each sentence's words, from the F- lines: by name, a value a word.

    Args:
        name: of the file, for messages.
        sentences: how many there must be.

    Raises:
        UserError: there are none, some are missing or too many, or one has another number of values
            than words.
    """
    found: dict[int, dict[str, list[str]]] = {}
    for number, line in enumerate(lines, start=1):
        match = _FACTORS.fullmatch(line)
        if match is None:
            continue
        of_sentence = found.setdefault(int(match[1]), {})
        values, words = match[3].split(), len(of_sentence.get("form", ()))
        if match[2] != "form" and len(values) != words:
            raise UserError(
                f"{name}:{number}: {len(values)} values of {match[2]} for {words} words: the line "
                "is damaged, run fairseq-generate again"
            )
        of_sentence[match[2]] = values
    if not found:
        raise UserError(
            f"{name}: no F- lines: give --print-factors to fairseq-generate, for a model with "
            "target factors, and the file of its standard output, not that of --results-path"
        )
    numbers = range(sentences)
    for sentence in (*numbers, *found):
        if sentence not in found or sentence not in numbers:
            what = "is missing" if sentence in numbers else "is there"
            raise UserError(
                f"{name}: F-{sentence} {what}, in the output of {sentences} sentences: give the "
                "whole output for this very test set"
            )
    return [found[sentence] for sentence in numbers]


def _text(kind: str, line: str, where: str) -> str:
    """The text after the number, and the score if there is one."""
    fields = line.split("\t", 2 if kind in "HD" else 1)[1:]
    if kind in "ST":
        return fields[0] if fields else ""
    try:
        float(fields[0])
    except (IndexError, ValueError):
        raise UserError(
            f"{where}: a score is expected after {line[:20]!r}: the line is damaged, run "
            f"fairseq-generate again"
        ) from None
    return fields[1] if len(fields) > 1 else ""


def _check_complete(found: Mapping[str, Mapping[int, str]], kind: str, name: str) -> None:
    """Refuses gaps: every number up to the largest that any line has must have a hypothesis."""
    expected = 1 + max(sentence for texts in found.values() for sentence in texts)
    if len(found[kind]) == expected:
        return
    missing = next(sentence for sentence in range(expected) if sentence not in found[kind])
    raise UserError(
        f"{name}: {kind}-{missing} is missing, {len(found[kind])} of {expected} sentences are "
        f"there: was fairseq-generate interrupted, did it skip long sentences, or are there other "
        f"shards?"
    )


def _in_order(texts: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(texts[sentence] for sentence in range(len(texts)))


def is_nbest_list(lines: Sequence[str]) -> bool:
    """Whether every line is an entry of a list."""
    return bool(lines) and all(map(_ENTRY.fullmatch, lines))


def best_translations(lines: Sequence[str], name: str) -> list[str]:
    """The first translation of each sentence, which is the best one.

    Args:
        name: of the file, for messages.

    Raises:
        UserError: a sentence is missing.
    """
    found: dict[int, str] = {}
    for line in lines:
        match = _ENTRY.fullmatch(line)
        if match is not None:
            found.setdefault(int(match[1]), match[2])
    for sentence in range(max(found) + 1):
        if sentence not in found:
            raise UserError(f"{name}: sentence {sentence} of the n-best list is missing")
    return [found[sentence] for sentence in range(len(found))]
