"""The structures that systems found in sentences, and those of the reference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.data.constituents import ConstituentTree
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.subwords import scheme_of_text
from syntax_nmt.errors import UserError, note
from syntax_nmt.scoring.alignments.alignment import GoldAlignment, links_outside, read_gold
from syntax_nmt.scoring.chunks.chunk_file import Chunks, read_chunk_file
from syntax_nmt.scoring.constituents.tree_file import read_tree_file
from syntax_nmt.scoring.parallel_text import SegmentedText, check_parallel
from syntax_nmt.scoring.translations.evaluation_set import TestSet, Text, read_text

REFERENCE = "reference"
"""The name of the structures of the reference."""

# How many files structures of a system may have: their own, and the texts of their words.
KINDS: dict[str, tuple[int, ...]] = {
    "dependencies": (1,),
    "constituents": (1,),
    "alignments": (1, 3),
    "chunks": (1, 2),
}
SystemFiles = Mapping[str, Sequence[str]]
"""The files of each system by its name."""

Words = tuple[str, ...]
Item = TypeVar("Item")


@dataclass(frozen=True)
class WithWords(Generic[Item]):
    """A structure over words that its file does not hold.

    Attributes:
        item: the structure.
        words: of the text, or of its target side.
        source: words of the source side of an alignment.
    """

    item: Item
    words: Words
    source: Words = ()


@dataclass
class Structures:
    """By name, for each sentence a structure or None.

    Attributes:
        dependencies: trees.
        constituents: trees.
        alignments: links; sure and possible ones, which only the reference tells apart.
        chunks: of a text.
    """

    dependencies: dict[str, list[DependencyTree | None]] = field(default_factory=dict)
    constituents: dict[str, list[ConstituentTree | None]] = field(default_factory=dict)
    alignments: dict[str, list[WithWords[GoldAlignment]]] = field(default_factory=dict)
    chunks: dict[str, list[WithWords[Chunks] | None]] = field(default_factory=dict)


def read_structures(
    files: Mapping[str, SystemFiles], test_set: TestSet, bases: tuple[int, int] = (0, 0)
) -> Structures:
    """Reads the files of all structures, each checked against the number of sentences.

    Args:
        files: by kind, one of :data:`KINDS`.
        test_set: the translations; of several runs the first one's words count.
        bases: the number of a sentence's first word in links of systems, and in gold links.

    Raises:
        UserError: a file that is damaged, or of other sentences.
    """
    texts = {system.name: system.runs[0] for system in test_set.systems}
    texts.setdefault(REFERENCE, test_set.references[0])
    found = Structures()
    for name, (path,) in files["dependencies"].items():
        found.dependencies[name] = list(read_conllu(path, one_root=False))
        _check_complete(path, found.dependencies[name], test_set)
    for name, (path,) in files["constituents"].items():
        found.constituents[name] = list(read_tree_file(path))
        _check_complete(path, found.constituents[name], test_set)
    for name, paths in files["alignments"].items():
        pair = [read_text(path) for path in paths[1:]]
        if not pair and test_set.source is None:
            raise UserError(
                f"--alignments {name}: the source is not known: give it as --source, or give the "
                f"two texts that are aligned behind {paths[0]}"
            )
        if test_set.source is not None and not pair:
            pair = [test_set.source, texts[name]]
        of_systems, of_gold = bases
        if name == REFERENCE:
            alignments = read_gold(paths[0], of_gold, "--gold-base")
        else:
            alignments = read_gold(paths[0], of_systems, "--hypothesis-base")
        found.alignments[name] = _with_words(paths[0], alignments, pair, test_set)
    for name, paths in files["chunks"].items():
        text = read_text(paths[1]) if len(paths) > 1 else texts[name]
        found.chunks[name] = _chunks(paths[0], text, test_set)
    return found


def words_of(text: Text) -> list[Words]:
    """The words of each sentence, put together again where the text is in subwords.

    Raises:
        UserError: a piece reaches over the end of a word.
    """
    scheme = scheme_of_text(text.sentences)
    return SegmentedText.of([line.split() for line in text.sentences], text.name, scheme).words


def _check_complete(path: str, items: Sequence[object], test_set: TestSet) -> None:
    reference = test_set.references[0].name
    check_parallel(path, len(items), reference, test_set.sentences, "sentences")


def _with_words(
    path: str, alignments: Sequence[GoldAlignment], pair: Sequence[Text], test_set: TestSet
) -> list[WithWords[GoldAlignment]]:
    for text in pair:
        text.check_parallel(test_set.references[0])
    _check_complete(path, alignments, test_set)
    rows = zip(alignments, *(words_of(text) for text in pair))
    found = [WithWords(links, target, source) for links, source, target in rows]
    outside = sum(
        1
        for each in found
        for _ in links_outside(each.item.possible, len(each.source), len(each.words))
    )
    if outside:
        note(
            f"{path}: {outside} links to words that {pair[0].name} or {pair[1].name} does "
            f"not have are left out: give the two texts that were aligned behind the file"
        )
    return found


def _chunks(path: str, text: Text, test_set: TestSet) -> list[WithWords[Chunks] | None]:
    text.check_parallel(test_set.references[0])
    words, file = words_of(text), read_chunk_file(path)
    _check_complete(path, file.chunks, test_set)
    file.check_words([len(of_text) for of_text in words], text.name)
    return [
        None if found is None else WithWords(found, of_text)
        for found, of_text in zip(file.chunks, words)
    ]
