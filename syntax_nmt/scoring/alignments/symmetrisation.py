"""Alignments of both directions put together (Och and Ney, 2003; Koehn et al., 2003)."""

from __future__ import annotations

import heapq
from collections.abc import Callable

from syntax_nmt.scoring.alignments.alignment import Alignment, Link

INTERSECTION, UNION = "intersection", "union"
GROW_DIAG, GROW_DIAG_FINAL = "grow-diag", "grow-diag-final"
GROW_DIAG_FINAL_AND = "grow-diag-final-and"
METHODS = (INTERSECTION, UNION, GROW_DIAG, GROW_DIAG_FINAL, GROW_DIAG_FINAL_AND)

# Steps of (target, source), in the order in which Moses looks around a link.
_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrise(
    forward: Alignment, reverse: Alignment, method: str, strict: bool = False
) -> Alignment:
    """One alignment out of those of the two directions.

    - `intersection`, `union`: the links of both, of either.
    - `grow-diag`: the intersection, to which links of the union are added that neighbour one of it,
      diagonally as well, where one of their words at least is not aligned yet. This is Moses'
      algorithm: links are scanned by target, then by source word; what is added takes part in the
      scan under way where it comes later in this order; scans are repeated until one adds nothing.
    - `grow-diag-final`: then every other link, where one of its words at least is not aligned yet:
      first those of `forward`, then those of `reverse`, each in the same order, as Moses' `symal`
      does; `grow-diag-final-and`: where neither is.

    Args:
        forward: links from source to target.
        reverse: those of the other direction, also written as (source, target).
        method: one of :data:`METHODS`.
        strict: grow-diag adds a neighbour only where neither of its words is aligned yet, as
            another well-known form of the algorithm does.
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
    """Links that become more, as (target, source), so that their order is that of the scan.

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
        """Whether at least one word of a link is not aligned yet."""
        return link[0] not in self.targets or link[1] not in self.sources

    def both_open(self, link: Link) -> bool:
        """Whether no word of a link is aligned yet."""
        return link[0] not in self.targets and link[1] not in self.sources

    def grow(self, wanted: Callable[[Link], bool]) -> None:
        """Adds neighbours until there is none to add."""
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
