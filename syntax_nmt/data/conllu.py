"""CoNLL-U: dependency trees read from and written to the field's standard text format.

Beyond the standard, a sentence that could not be parsed is a block with the comment
`# parse = none`; the block keeps the file parallel to its corpus.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from syntax_nmt.data.character_alignment import is_punctuation
from syntax_nmt.data.dependency_tree import DependencyTree, MultiwordRange, find_cycle
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError

NUM_COLUMNS = 10

_NO_PARSE = re.compile(r"#\s*parse\s*=\s*none\s*")
# Nine digits are more than any sentence has, and Python refuses to read thousands.
_RANGE = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_EMPTY_NODE = re.compile(r"([0-9]{1,9})\.[1-9][0-9]*")
_HEAD = re.compile(r"[0-9]{1,9}")
BROKEN_LINE = "correct the line, or write the file again if it is truncated"


def read_conllu(path: str | Path, one_root: bool = True) -> Iterator[DependencyTree | None]:
    """The trees of a CoNLL-U file one at a time; None for a block with `# parse = none`.

    Args:
        path: the file, plain or `.gz`; CoNLL-X, with 8 columns or 10, is also read.
        one_root: refuse trees with several roots, which treebanks in CoNLL-X have.

    Raises:
        UserError: a block is not a tree; the message names the file and line.
    """
    for first_line, block in conllu_blocks(read_lines(path)):
        yield parse_block(block, str(path), first_line, one_root)


def conllu_blocks(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Splits lines into blocks at blank lines: (1-based number of the first line, the lines) of
    each block.

    Args:
        lines: the lines of a file without line ends.
    """
    block: list[str] = []
    number = 0
    for number, line in enumerate(lines, start=1):
        if line and not line.isspace():
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []
    if block:
        yield number - len(block) + 1, block


def block_starts(lines: Iterable[bytes]) -> Iterator[int]:
    """The position, from 0, of the first line of each block of :func:`conllu_blocks`, as soon as it
    is read.

    Args:
        lines: the lines of a file in bytes, line ends included.
    """
    inside = False
    for number, line in enumerate(lines):
        # Decoding takes most of the time, and few lines begin with anything but a number or a #.
        blank = line.isspace() or (not 0x20 < line[0] < 0x7F and _is_blank(line, number == 0))
        if not blank and not inside:
            yield number
        inside = not blank


def _is_blank(line: bytes, first: bool) -> bool:
    text = line.decode("utf-8-sig" if first else "utf-8", errors="replace").rstrip("\r\n")
    return not text or text.isspace()


def parse_block(
    block: Sequence[str], name: str, first_line: int, one_root: bool = True
) -> DependencyTree | None:
    """The checked tree of one block; None for `# parse = none`.

    Args:
        block: its lines, comments included.
        name: the file, for messages.
        first_line: 1-based number of its first line.
        one_root: refuse several roots.

    Raises:
        UserError: wrong columns, ids or heads, no root or two, a cycle; names file and line.
    """
    if any(map(_NO_PARSE.fullmatch, block)):
        return None
    parser = _BlockParser(name, first_line, one_root)
    for number, line in enumerate(block, start=first_line):
        if line[0] != "#":
            parser.add_line(number, line)
    return parser.tree()


def attach_roots(block: Sequence[str]) -> list[str]:
    """A block with its other roots attached to the first that has letters or digits.

    Args:
        block: its lines, comments included.
    """
    rows = [line.split("\t") for line in block]
    roots = [
        row for row in rows if len(row) >= NUM_COLUMNS - 2 and row[0].isdecimal() and row[6] == "0"
    ]
    roots.sort(key=lambda row: root_order(row[1]))  # keeps their order otherwise
    for row in roots[1:]:
        row[6:8] = [roots[0][0], attached_relation(row[1], row[7])]
    return ["\t".join(row) for row in rows]


def root_order(word: str) -> bool:
    """The key by which several roots are sorted, of which the first stays one: False, which comes
    first, for words with letters or digits."""
    return is_punctuation(word)


def is_root(relation: str) -> bool:
    """Whether a relation is that of a root: spaCy writes it in capitals."""
    return relation.lower() == "root"


def attached_relation(word: str, relation: str) -> str:
    """The relation of a root that now depends on another root.

    Args:
        relation: that it had as a root.
    """
    if not is_root(relation):
        return relation
    return "punct" if is_punctuation(word) else "parataxis"


class _BlockParser:
    """Collects the lines of one block and checks them as they come."""

    def __init__(self, name: str, first_line: int, one_root: bool = True) -> None:
        self.name = name
        self.first_line = first_line
        self.one_root = one_root
        self.rows: list[list[str]] = []
        self.numbers: list[int] = []
        self.ranges: list[MultiwordRange] = []

    def error(self, number: int, message: str) -> UserError:
        return UserError(f"{self.name}:{number}: {message}")

    def add_line(self, number: int, line: str) -> None:
        columns = line.split("\t")
        if len(columns) == NUM_COLUMNS - 2:  # CoNLL-X without its last two
            columns += ["_", "_"]
        if len(columns) != NUM_COLUMNS:
            raise self.error(
                number,
                f"{len(columns)} tab-separated columns instead of {NUM_COLUMNS}: write CoNLL-U "
                f"(Stanford CoreNLP: -outputFormat conllu), or the file again if it is truncated",
            )
        if columns[0] == str(len(self.rows) + 1):
            self.rows.append(columns)
            self.numbers.append(number)
        else:
            self._add_special(number, columns)

    def _add_special(self, number: int, columns: list[str]) -> None:
        """A multiword range is stored, an empty node (of enhanced graphs) is ignored."""
        expected = len(self.rows) + 1
        identifier = columns[0]
        span = _RANGE.fullmatch(identifier)
        if span is not None:
            first, last = int(span[1]), int(span[2])
            covered = self.ranges[-1].end if self.ranges else 0
            if first != expected or last < first or first <= covered:
                raise self.error(
                    number,
                    f"multiword range {identifier} where one that begins at word {expected} "
                    f"belongs, after the words of the one before: renumber the sentence",
                )
            self.ranges.append(MultiwordRange(first - 1, last, columns[1]))
            return
        empty = _EMPTY_NODE.fullmatch(identifier)
        if empty is not None and int(empty[1]) == len(self.rows):
            return
        raise self.error(
            number,
            f"id {identifier[:20]!r} where {expected} is next: number the words 1, 2, 3, … "
            f"and put a blank line between sentences",
        )

    def tree(self) -> DependencyTree:
        if not self.rows:
            raise self.error(
                self.first_line,
                "a block without words: give a sentence without words "
                "(an empty line of the corpus) the comment '# parse = none'",
            )
        if self.ranges and self.ranges[-1].end > len(self.rows):
            item = self.ranges[-1]
            raise self.error(
                self.numbers[-1],
                f"multiword range {item.start + 1}-{item.end} in a sentence of "
                f"{len(self.rows)} words: {BROKEN_LINE}",
            )
        return DependencyTree(
            words=tuple(row[1] for row in self.rows),
            heads=self._heads(),
            relations=tuple(row[7] for row in self.rows),
            upos=tuple(row[3] for row in self.rows),
            multiword=tuple(self.ranges),
            line=self.first_line,
            lemmas=tuple(row[2] for row in self.rows),
            xpos=tuple(row[4] for row in self.rows),
            feats=tuple(row[5] for row in self.rows),
        )

    def _heads(self) -> tuple[int, ...]:
        """0-based heads, the root's being itself."""
        heads = [self._head(number, row) for number, row in zip(self.numbers, self.rows)]
        roots = [word for word, head in enumerate(heads) if head < 0]
        if not roots:
            raise self.error(
                self.first_line,
                f"no word of the {len(self.rows)} has HEAD 0: correct the parse, "
                f"or write the file again if it is truncated",
            )
        if self.one_root and len(roots) > 1:
            raise self.error(
                self.numbers[roots[1]],
                f"a second root (words {roots[0] + 1} and {roots[1] + 1} both have HEAD 0): "
                f"use a parser that gives one root, mark the sentence '# parse = none', or give "
                f"--attach-roots (to prepare, binarize, control, linearise), and one stays",
            )
        cycle = find_cycle(heads)
        if cycle:
            path = " → ".join(str(word + 1) for word in [*cycle, cycle[0]])
            raise self.error(
                self.numbers[cycle[0]],
                f"the heads run in a circle ({path}): correct the parse, or mark the sentence "
                f"'# parse = none'",
            )
        for root in roots:
            heads[root] = root
        return tuple(heads)

    def _head(self, number: int, row: Sequence[str]) -> int:
        text = row[6]
        if _HEAD.fullmatch(text) is None:
            raise self.error(
                number,
                f"HEAD of word {row[0]} is {text[:20]!r}, not a number: parse the sentence, "
                f"or mark it '# parse = none'",
            )
        head = int(text)
        if head > len(self.rows):
            raise self.error(
                number,
                f"HEAD of word {row[0]} is {head} in a sentence of {len(self.rows)} words: "
                f"{BROKEN_LINE}",
            )
        return head - 1


def format_tree(words: Sequence[str], tree: DependencyTree) -> str:
    """The CoNLL-U block of a tree, its closing blank line included.

    Args:
        words: FORM of each of its words; none may hold a tab or a line end.
    """
    columns = (tree.relations, tree.upos, tree.lemmas, tree.xpos, tree.feats)
    return format_conllu(words, tree.heads, *columns)


def format_conllu(
    words: Sequence[str],
    heads: Sequence[int],
    relations: Sequence[str] | None = None,
    upos: Sequence[str] = (),
    lemmas: Sequence[str] = (),
    xpos: Sequence[str] = (),
    feats: Sequence[str] = (),
) -> str:
    """One CoNLL-U block, its closing blank line included; columns that are not given are `_`.

    Args:
        words: the words; none may hold a tab or a line end.
        heads: 0-based head of each word; the root's is its own index.
        relations: DEPREL of each word; `root` and `dep` by default.
    """
    if relations is None:
        relations = ["root" if head == word else "dep" for word, head in enumerate(heads)]
    empty = ("_",) * len(words)
    numbers = [0 if head == word else head + 1 for word, head in enumerate(heads)]
    columns = (
        *(range(1, len(words) + 1), words, lemmas or empty, upos or empty, xpos or empty),
        *(feats or empty, numbers, relations, empty, empty),
    )
    return "".join("\t".join(map(str, row)) + "\n" for row in zip(*columns)) + "\n"


def format_no_parse(words: Sequence[str]) -> str:
    """The block of a sentence that could not be parsed, its closing blank line included.

    Args:
        words: the words; none for an empty line of the corpus, whose block has comments only.
    """
    lines = ["# parse = none"]
    lines += [f"{index}\t{word}" + "\t_" * 8 for index, word in enumerate(words, start=1)]
    return "\n".join(lines) + "\n\n"
