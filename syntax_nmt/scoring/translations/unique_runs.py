"""The shortest runs of words that occur once in each of two sentences.

By a suffix automaton (Blumer et al., 1985) of both, in time that grows with the number of words:
a state stands for the runs that end at the same places, and its link leads to the state of their
longest suffix that ends at more places.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple


class UniqueRun(NamedTuple):
    """A run that occurs once in each sentence: its number of words, its end in the second."""

    length: int
    end: int


class _SuffixAutomaton:
    """The states by number, the first being that of the empty run.

    Attributes:
        lengths: of the longest run of each state.
        links: the state of its longest suffix that ends at more places; −1 = none.
        ends: the state of each beginning of the text.
    """

    def __init__(self, words: Iterable[Hashable]) -> None:
        self.lengths = [0]
        self.links = [-1]
        self.ends: list[int] = []
        self._steps: list[dict[Hashable, int]] = [{}]
        last = 0
        for word in words:
            last = self._append(last, word)
            self.ends.append(last)

    def _append(self, last: int, word: Hashable) -> int:
        new = self._state(self.lengths[last] + 1, 0, {})
        node = last
        while node >= 0 and word not in self._steps[node]:
            self._steps[node][word] = new
            node = self.links[node]
        if node < 0:
            return new
        target = self._steps[node][word]
        if self.lengths[target] > self.lengths[node] + 1:  # also of runs that do not end here
            split = self._state(
                self.lengths[node] + 1, self.links[target], dict(self._steps[target])
            )
            self.links[target] = split
            while node >= 0 and self._steps[node].get(word) == target:
                self._steps[node][word] = split
                node = self.links[node]
            target = split
        self.links[new] = target
        return new

    def _state(self, length: int, link: int, steps: dict[Hashable, int]) -> int:
        self.lengths.append(length)
        self.links.append(link)
        self._steps.append(steps)
        return len(self.lengths) - 1


def shortest_unique_runs(first: Sequence[str], second: Sequence[str]) -> list[UniqueRun | None]:
    """For each word of the first sentence the shortest such run that ends with it; None = none."""
    found = _SuffixAutomaton([*first, None, *second])
    lengths, links = found.lengths, found.links
    in_first, in_second, places = ([0] * len(lengths) for _ in range(3))
    for state in found.ends[: len(first)]:
        in_first[state] = 1
    for place, state in enumerate(found.ends[len(first) + 1 :]):
        in_second[state], places[state] = 1, place
    by_length = sorted(range(1, len(lengths)), key=lengths.__getitem__)
    for state in reversed(by_length):
        in_first[links[state]] += in_first[state]
        in_second[links[state]] += in_second[state]
        places[links[state]] = max(places[links[state]], places[state])
    # The state with the shortest of the runs that are suffixes of a state's, and not repeated.
    shortest = list(range(len(lengths)))
    for state in by_length:
        link = links[state]
        if link > 0 and in_first[link] < 2 and in_second[link] < 2:
            shortest[state] = shortest[link]
    runs: list[UniqueRun | None] = []
    for end in found.ends[: len(first)]:
        state = shortest[end]
        once = in_first[state] == in_second[state] == 1
        runs.append(UniqueRun(lengths[links[state]] + 1, places[state]) if once else None)
    return runs
