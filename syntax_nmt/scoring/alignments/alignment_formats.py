"""The formats of alignment files, detected from their lines.

- Pharaoh: a sentence a line, `i-j`; possible links `ipj`, `i?j` or `i-j-P`; a score may follow a
  link (`0-1:0.93`, `0-1/0.93`, `0-1-0.93`);
- the `A-` lines of fairseq-generate: `A-7`, a tab, and links from 0;
- NAACL (Mihalcea and Pedersen, 2003): a link a line, `sentence i j`, then `S` or `P` and a
  confidence where they are known; all counted from 1, word 0 is the empty word, so that `7 0 0`
  says that there is a sentence 7;
- GIZA++ (`A3.final`): three lines a sentence, the last one `NULL ({ }) the ({ 1 }) house ({ 2 })`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from syntax_nmt.errors import UserError

PHARAOH, FAIRSEQ, NAACL, GIZA = "Pharaoh", "fairseq's A- lines", "NAACL", "GIZA++"

_NUMBER = r"[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?"
_LINK = re.compile(
    rf"(\d+)([-p?])(\d+)(-[PS])?(?:[:/]{_NUMBER}|[-p][0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?)?", re.ASCII
)
_FAIRSEQ = re.compile(r"A-(\d+)\t(.*)", re.ASCII)
_NAACL = re.compile(rf"\s*(\d+)\s+(\d+)\s+(\d+)(?:\s+([SP]))?(?:\s+{_NUMBER})?\s*", re.ASCII)
_GIZA_HEAD = re.compile(r"# Sentence pair \((\d+)\)")
_GIZA_WORD = re.compile(r"\S+ \(\{([\d ]*)\}\)", re.ASCII)
_SPARSEST = 1000  # sentences for each link; a higher number is a damaged one


class WrittenLink(NamedTuple):
    """A link of a file; `sure` is False for a possible one."""

    source: int
    target: int
    sure: bool
    text: str


class WrittenLinks(NamedTuple):
    """The links of a sentence.

    Attributes:
        line: their line, for messages.
        links: as written.
    """

    line: int
    links: list[WrittenLink]


def format_of(lines: Sequence[str]) -> str:
    """Detects the format of a file; Pharaoh if it is no other."""
    filled = [line for line in lines if line.strip()]
    if any(_FAIRSEQ.match(line) for line in filled):
        return FAIRSEQ
    if filled and _GIZA_HEAD.match(filled[0]):
        return GIZA
    if filled and all(_NAACL.fullmatch(line) for line in filled):
        return NAACL
    return PHARAOH


def written_links(lines: Sequence[str], name: str) -> Iterator[WrittenLinks]:
    """The links of each sentence, in the order of the sentences.

    Args:
        name: of the file, for messages.

    Raises:
        UserError: something in it is no link, or a sentence is missing.
    """
    form = format_of(lines)
    if form == PHARAOH:
        for number, line in enumerate(lines, start=1):
            yield WrittenLinks(number, _links(line, f"{name}:{number}"))
        return
    of_format = {FAIRSEQ: _of_fairseq, NAACL: _of_naacl, GIZA: _of_giza}
    found = of_format[form](lines, name)
    for sentence in range(0 if form == FAIRSEQ else 1, max(found, default=0) + 1):
        # NAACL has no line for a sentence without links.
        if sentence not in found and form != NAACL:
            raise UserError(
                f"{name}: sentence {sentence} is missing between those of {form}: give the whole "
                f"file"
            )
        yield found.get(sentence, WrittenLinks(0, []))


def counts_from_1(lines: Sequence[str]) -> bool | None:
    """The number of the first word, if the format defines it; otherwise None."""
    return {NAACL: True, GIZA: True, FAIRSEQ: False}.get(format_of(lines))


def _links(text: str, where: str) -> list[WrittenLink]:
    found = []
    for part in text.split():
        match = _LINK.fullmatch(part)
        if match is None:
            raise UserError(
                f"{where}: {part[:40]!r} is no link such as 3-4, 3p4, 3?4 or 3-4-P: correct it, or "
                f"give a file of Pharaoh's, NAACL's or GIZA++'s format, or fairseq's A- lines"
            )
        sure = match[2] == "-" and match[4] != "-P"
        found.append(WrittenLink(int(match[1]), int(match[3]), sure, part))
    return found


def _of_fairseq(lines: Sequence[str], name: str) -> dict[int, WrittenLinks]:
    found: dict[int, WrittenLinks] = {}
    for number, line in enumerate(lines, start=1):
        match = _FAIRSEQ.match(line)
        if match and int(match[1]) not in found:  # the first is the best translation's
            if "," in match[2]:
                raise UserError(
                    f"{name}:{number}: weights instead of links: run fairseq-generate with "
                    f"--print-alignment hard"
                )
            found[int(match[1])] = WrittenLinks(number, _links(match[2], f"{name}:{number}"))
    return found


def _of_naacl(lines: Sequence[str], name: str) -> dict[int, WrittenLinks]:
    found: dict[int, WrittenLinks] = {}
    for number, line in enumerate(lines, start=1):
        match = _NAACL.fullmatch(line)
        if match is None:
            continue  # an empty line
        if match[1].strip("0") == "":
            raise UserError(f"{name}:{number}: sentence 0: NAACL's format counts from 1: renumber")
        if int(match[1]) > _SPARSEST * len(lines):
            raise UserError(
                f"{name}:{number}: sentence {match[1]} in a file of {len(lines)} lines: correct "
                f"the number"
            )
        of_sentence = found.setdefault(int(match[1]), WrittenLinks(number, []))
        source, target = int(match[2]), int(match[3])
        if source and target:
            link = WrittenLink(source, target, match[4] != "P", f"{source} {target}")
            of_sentence.links.append(link)
    return found


def _of_giza(lines: Sequence[str], name: str) -> dict[int, WrittenLinks]:
    found: dict[int, WrittenLinks] = {}
    for start in range(0, len(lines), 3):
        match = _GIZA_HEAD.match(lines[start])
        if match is None or len(lines) < start + 3:
            raise UserError(
                f"{name}:{start + 1}: three lines a sentence are expected, the first '# Sentence "
                f"pair (…)', as GIZA++ writes them: give its whole A3.final file"
            )
        words = _GIZA_WORD.findall(lines[start + 2])[1:]  # without NULL
        links = [
            WrittenLink(source, int(target), True, f"{source} {target}")
            for source, targets in enumerate(words, start=1)
            for target in targets.split()
        ]
        found[int(match[1])] = WrittenLinks(start + 3, links)
    return found
