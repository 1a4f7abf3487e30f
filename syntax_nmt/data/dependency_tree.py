"""A dependency tree over syntactic words, and its reduction to the words of a corpus line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from syntax_nmt.data.character_alignment import is_punctuation, may_continue, words_of_tokens

CONTINUATION = "goeswith"
"""The relation of Universal Dependencies for later parts of a split word."""


class MultiwordRange(NamedTuple):
    """A surface token that stands for several syntactic words (`zum` = `zu` + `dem`).

    `start` is the 0-based index of the first syntactic word, `end` one past the last.
    """

    start: int
    end: int
    form: str


@dataclass(frozen=True)
class DependencyTree:
    """A dependency tree of one sentence.

    Attributes:
        words: FORM of each syntactic word.
        heads: 0-based index of each word's head; the root's head is its own index.
        relations: DEPREL of each word (`_` if the file has none).
        upos: universal part of speech of each word (`_` where the file has none).
        lemmas: LEMMA of each word; empty = not known, as of the next two.
        xpos: language-specific part of speech of each word.
        feats: morphology of each word, all in one text.
        multiword: surface tokens that stand for several words, in order.
        line: 1-based number of the sentence's first line in its file, for messages.
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    upos: tuple[str, ...]
    multiword: tuple[MultiwordRange, ...] = ()
    line: int = 0
    lemmas: tuple[str, ...] = ()
    xpos: tuple[str, ...] = ()
    feats: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.words)

    @property
    def num_surface_tokens(self) -> int:
        """The number of surface tokens: a multiword range counts as one."""
        return len(self.words) - sum(end - start - 1 for start, end, _ in self.multiword)

    def collapse(self, num_words: int) -> DependencyTree:
        """The tree over the words of a corpus line.

        If there is one corpus word per syntactic word, the tree does not change. If there is one
        per surface token, each multiword range becomes one word (:meth:`transferred`).

        Args:
            num_words: one of these numbers.
        """
        if num_words == len(self.words):
            return self
        spans = self.surface_spans()
        home = [token for token, (start, end, _) in enumerate(spans) for _ in range(start, end)]
        return self.transferred(home, [span.form for span in spans])

    def transferred(self, home: Sequence[int], tokens: Sequence[str]) -> DependencyTree:
        """The tree over tokens of another tokenisation.

        A token of several words stands for the one nearest to the root (the first of equals);
        punctuation counts only if a word depends on it (`$` of `$ 5`), or if the token has nothing
        else. That word's head lies in another token, and nearness to the root keeps the result a
        tree with one root. A token without a word continues one that began before it, depends on
        that one's token (`goeswith`), and has its word's values, unless it is a mark that the word
        does not have.

        Args:
            home: the token of each word, never falling
                (:func:`~syntax_nmt.data.character_alignment.align_by_characters`).
            tokens: the new words.
        """
        ranks = self._ranks()
        groups = words_of_tokens(home, len(tokens))
        heads = []
        kept: list[int | None] = []  # the word that each token stands for
        owners: list[int | None] = []  # the word whose values it has
        goes_on = home[0]  # a token before the first word can only depend on a later one
        for token, group in enumerate(groups):
            word = min(group, key=ranks.__getitem__) if group else None
            if word is not None:
                goes_on = token
            heads.append(goes_on if word is None else home[self.heads[word]])
            kept.append(word)
            continued = groups[goes_on][-1]
            if word is None and may_continue(tokens[token], self.words[continued]):
                word = continued
            owners.append(word)

        def of(words: Sequence[int | None], values: Sequence[str], other: str) -> tuple[str, ...]:
            return tuple(other if word is None else values[word] for word in words if values)

        return DependencyTree(
            tuple(tokens),
            tuple(heads),
            of(kept, self.relations, CONTINUATION),
            of(owners, self.upos, "X"),
            line=self.line,
            lemmas=of(owners, self.lemmas, "_"),
            xpos=of(owners, self.xpos, "_"),
            feats=of(owners, self.feats, "_"),
        )

    def _ranks(self) -> list[int]:
        """The order in which words stand for their token: by depth, mere punctuation last."""
        carries_letters = [False] * len(self)
        for word, form in enumerate(self.words):
            above = word
            while not (is_punctuation(form) or carries_letters[above]):
                carries_letters[above] = True
                above = self.heads[above]
        depths = word_depths(self.heads)
        return [
            depth if carries else depth + len(self)
            for depth, carries in zip(depths, carries_letters)
        ]

    def leaves_several(self, words: Sequence[int]) -> bool:
        """Whether several of some words have their heads elsewhere: the words form no subtree."""
        return sum(self.heads[word] == word or self.heads[word] not in words for word in words) > 1

    def surface_spans(self) -> list[MultiwordRange]:
        """Every surface token in order, single words included, as a range of syntactic words."""
        spans: list[MultiwordRange] = []
        ranges = {item.start: item for item in self.multiword}
        position = 0
        while position < len(self.words):
            item = ranges.get(position)
            item = item or MultiwordRange(position, position + 1, self.words[position])
            spans.append(item)
            position = item.end
        return spans


@lru_cache(maxsize=1 << 16)  # tags and relations are few
def one_token(value: str) -> str:
    """A value of a column where spaces are separators: `_` for each run of them, and for none."""
    return "_".join(value.split()) or "_"


def word_depths(heads: Sequence[int]) -> list[int]:
    """The number of arcs between each word and the root, for heads without a cycle.

    Args:
        heads: 0-based head of each word; the root's is its own index.
    """
    depths = [-1] * len(heads)
    for word in range(len(heads)):
        path = []
        node = word
        while depths[node] < 0 and heads[node] != node:
            path.append(node)
            node = heads[node]
        depth = max(depths[node], 0)
        depths[node] = depth
        for step in reversed(path):
            depth += 1
            depths[step] = depth
    return depths


def find_cycle(heads: Sequence[int]) -> list[int]:
    """The words of one cycle in order, or an empty list if there is none.

    Args:
        heads: 0-based head of each word; a negative head is the artificial root's, and a word that
            is its own head is a cycle.
    """
    checked = [0] * len(heads)  # the walk, counted from 1, that first reached the word
    for walk, word in enumerate(range(len(heads)), start=1):
        path = []
        node = word
        while node >= 0 and not checked[node]:
            checked[node] = walk
            path.append(node)
            node = heads[node]
        if node >= 0 and checked[node] == walk:
            return path[path.index(node) :]
    return []
