"""Symmetrisation of alignments of both directions (Och and Ney, 2003; Koehn et al., 2003)."""

import heapq
from collections.abc import Callable

from syntax_nmt.scoring.alignments.alignment import Alignment, Link

INTERSECTION, UNION = "intersection", "union"
GROW_DIAG, GROW_DIAG_FINAL = "grow-diag", "grow-diag-final"
GROW_DIAG_FINAL_AND = "grow-diag-final-and"
METHODS = (INTERSECTION, UNION, GROW_DIAG, GROW_DIAG_FINAL, GROW_DIAG_FINAL_AND)

# Neighbours as (target, source) steps, in Moses' order.
_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrise(
    forward: Alignment, reverse: Alignment, method: str, strict: bool = False
) -> Alignment:
    """One alignment from those of the two directions.

    - `intersection`, `union`: the links of both, of either.
    - `grow-diag`: starts with the intersection and adds links of the union that neighbour a link,
      also diagonally, if at least one of their words is unaligned. This is Moses' algorithm: links
      are scanned by target, then by source word; added links later in this order take part in the
      same scan; scans are repeated until one adds nothing.
    - `grow-diag-final`: then adds every other link if at least one of its words is unaligned: first
      those of `forward`, then those of `reverse`, each in the same order, like Moses' `symal`;
      `grow-diag-final-and`: if both words are unaligned.

    Args:
        forward: links from source to target.
        reverse: those of the other direction, also written as (source, target).
        method: one of :data:`METHODS`.
        strict: grow-diag adds a neighbour only if both of its words are unaligned, as in another
            well-known form of the algorithm.
    """
    if method == UNION:
        return forward | reverse
    if method == INTERSECTION:
        return forward & reverse
    growing = _Growing(forward & reverse, forward | reverse)
    growing.grow(growing.both_open if strict else growing.one_open)
    if method != GROW_DIAG:
        wanted = growing.one_open if method == GROW_DIAG_FINAL else growing.both_open
        for links in (forward, reverse):
            growing.finish(links, wanted)
    return frozenset((source, target) for target, source in growing.links)


class _Growing:
    """A growing set of links, as (target, source), so that their order is that of the scan.

    Args:
        intersection: the links to begin with, as (source, target).
        union: the links that may be added.
    """

    def __init__(self, intersection: Alignment, union: Alignment) -> None:
        self.union = {(target, source) for source, target in union}
        self.links: set[Link] = set()
        self.targets: set[int] = set()
        self.sources: set[int] = set()
        for source, target in intersection:
            self._add((target, source))

    def one_open(self, link: Link) -> bool:
        """Whether at least one word of a link is unaligned."""
        return link[0] not in self.targets or link[1] not in self.sources

    def both_open(self, link: Link) -> bool:
        """Whether both words of a link are unaligned."""
        return link[0] not in self.targets and link[1] not in self.sources

    def grow(self, wanted: Callable[[Link], bool]) -> None:
        """Adds neighbours until none is left."""
        before = -1
        while len(self.links) > before:
            before = len(self.links)
            self._scan(wanted)

    def finish(self, links: Alignment, wanted: Callable[[Link], bool]) -> None:
        """Adds links, given as (source, target), wherever they are."""
        for link in sorted((target, source) for source, target in links):
            if wanted(link):
                self._add(link)

    def _scan(self, wanted: Callable[[Link], bool]) -> None:
        waiting = sorted(self.links)
        while waiting:
            here = heapq.heappop(waiting)
            for step in _NEIGHBOURS:
                link = here[0] + step[0], here[1] + step[1]
                if link in self.union and wanted(link):
                    self._add(link)
                    if link > here:
                        heapq.heappush(waiting, link)

    def _add(self, link: Link) -> None:
        self.links.add(link)
        self.targets.add(link[0])
        self.sources.add(link[1])
