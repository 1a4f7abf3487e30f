"""Word alignments: links between the words of a sentence and its translation, and their files.

The format of a file is detected from its lines:

- Pharaoh: a sentence a line, `i-j`; possible links `ipj`, `i?j` or `i-j-P`; a score may follow a
  link (`0-1:0.93`, `0-1/0.93`, `0-1-0.93`);
- the `A-` lines of fairseq-generate: `A-7`, a tab, and links from 0;
- NAACL (Mihalcea and Pedersen, 2003): a link a line, `sentence i j`, then `S` or `P` and a
  confidence where they are known; all counted from 1, word 0 is the empty word, so that `7 0 0`
  says that there is a sentence 7;
- GIZA++ (`A3.final`): three lines a sentence, the last one `NULL ({ }) the ({ 1 }) house ({ 2 })`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError, note

PHARAOH, FAIRSEQ, NAACL, GIZA = "Pharaoh", "fairseq's A- lines", "NAACL", "GIZA++"
_BASES = {NAACL: 1, GIZA: 1, FAIRSEQ: 0}  # the number of the first word, where the format says it

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


def written_links(lines: Sequence[str], name: str, form: str) -> Iterator[WrittenLinks]:
    """The links of each sentence, in the order of the sentences.

    Args:
        name: of the file, for messages.
        form: as of :func:`format_of`.

    Raises:
        UserError: something in it is no link, or a sentence is missing.
    """
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


Link = tuple[int, int]
"""A source word and a target word, counted from 0."""

Alignment = frozenset[Link]


@dataclass(frozen=True)
class GoldAlignment:
    """The gold links of a sentence (Och and Ney, 2003).

    Attributes:
        sure: links that an alignment should have.
        possible: links that it may have, the sure ones among them.
    """

    sure: Alignment
    possible: Alignment


def read_gold(path: str | Path, base: int = 0, option: str = "--gold-base") -> list[GoldAlignment]:
    """Alignments of sentences, with possible links, in any of the formats.

    A link that is given as both sure and possible is sure.

    A note warns of links that may count from 1 without the option.

    Args:
        path: the file, plain or `.gz`.
        base: the number of a sentence's first word, 0 or 1, if the format does not define it.
        option: the option for the base, for messages.

    Raises:
        UserError: the file cannot be read, or it has an invalid link.
    """
    lines = list(read_lines(path))
    form = format_of(lines)
    base = _BASES.get(form, base)
    read = [
        _gold(found.links, base, f"{path}:{found.line}", option)
        for found in written_links(lines, str(path), form)
    ]
    if form == PHARAOH and base == 0 and _never_from_zero(gold.possible for gold in read):
        note(f"{path}: no link has a word 0: if it counts from 1, add {option} 1")
    return read


def read_alignments(
    path: str | Path, base: int = 0, option: str = "--hypothesis-base"
) -> list[Alignment]:
    """Alignments of sentences; possible links count like sure ones.

    Args:
        path: the file, plain or `.gz`.
        base: as of :func:`read_gold`, and so is `option`.

    Raises:
        UserError: the file cannot be read, or it has an invalid link.
    """
    return [gold.possible for gold in read_gold(path, base, option)]


def format_alignment(alignment: Iterable[Link]) -> str:
    """A line of Pharaoh's form without its end: `i-j`, source-target, from 0, in order."""
    return " ".join(f"{source}-{target}" for source, target in sorted(alignment))


def flipped(alignment: Iterable[Link]) -> Alignment:
    """The same links with the sides exchanged."""
    return frozenset((target, source) for source, target in alignment)


def links_outside(alignment: Iterable[Link], source: int, target: int) -> Iterator[Link]:
    """The links to words that do not exist."""
    for link in alignment:
        if link[0] >= source or link[1] >= target:
            yield link


def _never_from_zero(alignments: Iterable[Alignment]) -> bool:
    links = [link for alignment in alignments for link in alignment]
    return bool(links) and all(min(link) > 0 for link in links)


def _gold(links: Iterable[WrittenLink], base: int, where: str, option: str) -> GoldAlignment:
    sure, possible = set(), set()
    for written in links:
        link = written.source - base, written.target - base
        if min(link) < 0:
            raise UserError(f"{where}: {written.text!r} counts from 0: leave {option} {base} out")
        possible.add(link)
        if written.sure:
            sure.add(link)
    return GoldAlignment(frozenset(sure), frozenset(possible))
