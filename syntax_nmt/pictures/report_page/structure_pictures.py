"""The structures of one sentence as pictures; systems with the same structure share one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from syntax_nmt.data.chunks import OUTSIDE
from syntax_nmt.data.constituents import ConstituentTree, format_tree
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.pictures.plots.alignment_matrix import draw_alignment
from syntax_nmt.pictures.plots.constituency_tree import draw_constituents
from syntax_nmt.pictures.plots.dependency_arcs import draw_dependencies
from syntax_nmt.pictures.report_page.picture import Picture, Pictures
from syntax_nmt.pictures.report_page.structures import REFERENCE, Structures, WithWords
from syntax_nmt.scoring.alignments.alignment import GoldAlignment, format_alignment
from syntax_nmt.text.joints import joined_hyphens, plain_hyphens

_ROOM = 780.0  # points of the widest page


@dataclass(frozen=True)
class DrawnKind:
    """How structures of one kind are compared, drawn and put in words.

    Attributes:
        title: of the group, and the name of their member in :class:`Structures`.
        same: what structures that share a picture have in common.
        draw: a structure beside the gold one.
        text: of a structure, for those who do not see it.
    """

    title: str
    same: Callable[[Any], Any]
    draw: Callable[[Any, Any], Figure]
    text: Callable[[Any], str]


@dataclass(frozen=True)
class ChunkedWords:
    """Chunks as the page writes them.

    Attributes:
        names: of the systems that have them.
        chunks: type and words of each; no type for words outside chunks.
    """

    names: str
    chunks: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class StructureGroup:
    """The structures of one kind.

    Attributes:
        title: of the kind.
        pictures: one for each different structure.
        chunks: likewise, where words and frames say it.
    """

    title: str
    pictures: Sequence[Picture] = ()
    chunks: Sequence[ChunkedWords] = ()


def structure_groups(
    structures: Structures, sentence: int, pictures: Pictures
) -> list[StructureGroup]:
    """The data to show for a sentence.

    Args:
        structures: of all sentences.
        pictures: what makes pictures.
    """
    groups = []
    for kind in DRAWN:
        items = _of_sentence(getattr(structures, kind.title), sentence)
        gold = items.get(REFERENCE)
        found = [
            pictures.add(kind.draw(item, gold), names, f"{names}: {kind.text(item)}")
            for names, item in _shared(items, kind.same)
        ]
        if found:
            groups.append(StructureGroup(kind.title, found))
    items = _of_sentence(structures.chunks, sentence)
    chunked = [ChunkedWords(names, _parts(item)) for names, item in _shared(items, _same_structure)]
    if chunked:
        groups.append(StructureGroup("chunks", chunks=chunked))
    return groups


def _of_sentence(by_name: Mapping[str, Sequence[Any]], sentence: int) -> dict[str, Any]:
    """The structures of a sentence, the reference's first."""
    names = sorted(by_name, key=lambda name: name != REFERENCE)
    found = {name: by_name[name][sentence] for name in names}
    return {name: item for name, item in found.items() if item is not None}


def _shared(items: Mapping[str, Any], key: Callable[[Any], Any]) -> list[tuple[str, Any]]:
    """Each different structure once, with the names of all that have it."""
    found: dict[Any, tuple[list[str], Any]] = {}
    for name, item in items.items():
        found.setdefault(key(item), ([], item))[0].append(name)
    return [(", ".join(names), item) for names, item in found.values()]


def _same_tree(tree: DependencyTree) -> Any:
    return tree.words, tree.heads, tree.relations


def _same_structure(item: WithWords[Any]) -> Any:
    return item.item, item.words, item.source


def _draw_tree(draw: Callable[..., Figure], tree: Any, gold: Any) -> Figure:
    comparable = gold is not None and gold is not tree and gold.words == tree.words
    return draw(tree, gold if comparable else None, room=_ROOM)


def _draw_alignment(
    item: WithWords[GoldAlignment], gold: WithWords[GoldAlignment] | None
) -> Figure:
    if item is gold:
        return draw_alignment(item.source, item.words, None, item.item)
    same = gold is not None and (gold.source, gold.words) == (item.source, item.words)
    return draw_alignment(
        item.source, item.words, item.item.possible, gold.item if gold and same else None
    )


def _heads(tree: DependencyTree) -> str:
    words = plain_hyphens(tree.words)
    arcs = [
        f"{word} is the root" if head == place else f"{word} depends on {words[head]}"
        for place, (word, head) in enumerate(zip(words, tree.heads))
    ]
    return ", ".join(arcs)


def _brackets(tree: ConstituentTree) -> str:
    return format_tree(replace(tree, words=plain_hyphens(tree.words)))


def _links(item: WithWords[GoldAlignment]) -> str:
    return format_alignment(item.item.possible)


def _parts(item: Any) -> tuple[tuple[str, str], ...]:
    parts = []
    for chunk in item.item:
        tag = "" if chunk.tag == OUTSIDE else chunk.tag
        parts.append((tag, joined_hyphens(item.words[chunk.start : chunk.end])))
    return tuple(parts)


DRAWN = (
    DrawnKind("dependencies", _same_tree, partial(_draw_tree, draw_dependencies), _heads),
    DrawnKind("constituents", format_tree, partial(_draw_tree, draw_constituents), _brackets),
    DrawnKind("alignments", _same_structure, _draw_alignment, _links),
)
