"""Transfers annotation from its words to the tokens of a corpus, and reports that of other words.

Heads and leaves of constituency trees use the same alignment by characters
(:func:`~syntax_nmt.data.character_alignment.align_by_characters`). Annotation of the same tokens
does not change.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Generic, TypeVar

from syntax_nmt.data.character_alignment import (
    align_by_characters,
    is_punctuation,
    may_continue,
    same_spelling,
    spelling,
    words_of_tokens,
)
from syntax_nmt.data.constituents import Constituent, ConstituentTree
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.errors import UserError

_Kind = TypeVar("_Kind")


@dataclass(frozen=True)
class Transferred(Generic[_Kind]):
    """Annotation over the tokens of a corpus.

    Attributes:
        annotation: the annotation.
        realigned: whether the tokenisation differed from that of its words (a multiword token that
            is one token of the corpus does not count).
        non_constituent: tokens of several words that do not form a subtree or constituent, so that
            annotation is lost.
        untokenised: tokens that only continue a word that begins or ends with punctuation, as
            `mode ,` continues `mode,`: the annotation was made before the text was tokenised.
    """

    annotation: _Kind
    realigned: bool = False
    non_constituent: int = 0
    untokenised: int = 0


def transfer_dependencies(
    tree: DependencyTree, tokens: Sequence[str]
) -> Transferred[DependencyTree] | None:
    """A dependency tree over the tokens; None if it is of another sentence.

    The tree's words are its surface tokens (`zum`), or the syntactic words if these spell them
    (`do` and `n't`) or the corpus has them (`zu` and `dem`).

    Args:
        tokens: of the corpus line.
    """
    if tree.words == tuple(tokens):
        return Transferred(tree)
    spans = tree.surface_spans()
    if tree.multiword and len(spans) == len(tokens):
        forms = [span.form for span in spans]
        if all(map(same_spelling, forms, tokens)):
            return Transferred(tree.collapse(len(tokens)))
    aligned = _aligned(tree, tokens)
    if aligned is None:
        return None
    forms, sizes, homes = aligned
    home = [token for token, size in zip(homes, sizes) for _ in range(size)]
    if home == list(range(len(tokens))):
        return Transferred(tree)
    parts = words_of_tokens(homes, len(tokens))
    groups = words_of_tokens(home, len(tokens))
    non_constituent = sum(
        len(part) > 1 and tree.leaves_several(group) for part, group in zip(parts, groups)
    )
    untokenised = _untokenised(forms, parts)
    return Transferred(
        tree.transferred(home, tokens),
        realigned=True,
        non_constituent=non_constituent,
        untokenised=untokenised,
    )


def over_text(tree: DependencyTree) -> DependencyTree | None:
    """The tree over the words of its text, between spaces: multiword tokens are one, and words with
    spaces are several; None if it has no character.
    """
    tokens = [token for span in tree.surface_spans() for token in span.form.split()]
    found = transfer_dependencies(tree, tokens)
    return None if found is None else replace(found.annotation, words=tuple(tokens))


def _aligned(
    tree: DependencyTree, tokens: Sequence[str]
) -> tuple[list[str], list[int], list[int]] | None:
    """Surface tokens or words of a tree, the number of words of each, and the token of each."""
    forms: list[str] = []
    sizes: list[int] = []
    for start, end, form in tree.surface_spans():
        words = tree.words[start:end]
        spelled = same_spelling("".join(words), form)
        forms += words if spelled else [form]
        sizes += [1] * (end - start) if spelled else [end - start]
    homes = align_by_characters(forms, tokens)
    if homes is None:
        forms, sizes = [*tree.words], [1] * len(tree)
        homes = align_by_characters(tree.words, tokens) or _in_place(tree.words, tokens)
    return None if homes is None else (forms, sizes, homes)


def _untokenised(words: Sequence[str], groups: Sequence[range]) -> int:
    """See :class:`Transferred`.

    Args:
        groups: the words of each token.
    """
    count = 0
    continued = False
    for group in groups:
        if group:
            word = words[group[-1]]
            characters = spelling([word]).characters
            ends = characters[:1], characters[-1:]
            continued = not is_punctuation(word) and any(map(is_punctuation, ends))
        else:
            count += continued
    return count


def transfer_constituents(
    tree: ConstituentTree, tokens: Sequence[str]
) -> Transferred[ConstituentTree] | None:
    """A constituency tree over the tokens; None if it is of another sentence.

    A token of several words replaces the one nearest to the root (the first of equals), and
    punctuation only if it has nothing else. A word of several tokens becomes a constituent of its
    own part of speech over them. A mark that no word has stands beside the word that it follows
    (or precedes, at the beginning), without a part of speech.

    Args:
        tokens: of the corpus line.
    """
    home = align_by_characters(tree.words, tokens) or _in_place(tree.words, tokens)
    if home is None:
        return None
    if home == list(range(len(tokens))):
        return Transferred(tree)
    groups = words_of_tokens(home, len(tokens))
    non_constituent = sum(len(group) > 1 and _is_non_constituent(tree, group) for group in groups)
    depths = [node.depth for node in tree.nodes if node.leaf]
    ranks = list(zip(map(is_punctuation, tree.words), depths))
    kept = [min(group, key=ranks.__getitem__) if group else None for group in groups]
    owners = _filled(kept)
    last = _filled([group[-1] if group else None for group in groups])
    alone = [
        not (group or may_continue(token, tree.words[word]))
        for group, token, word in zip(groups, tokens, last)
    ]
    nodes: list[Constituent] = []
    for node in tree.nodes:
        start, end = bisect_left(owners, node.start), bisect_left(owners, node.end)
        if start == end:
            continue  # its words are in other tokens
        if node.leaf:
            nodes += _leaves(node, start, end, alone)
        else:
            nodes.append(node._replace(start=start, end=end))
    carried = ConstituentTree(tuple(tokens), tuple(nodes), tree.line)
    return Transferred(
        carried,
        realigned=True,
        non_constituent=non_constituent,
        untokenised=_untokenised(tree.words, groups),
    )


def _leaves(
    word: Constituent, start: int, end: int, alone: Sequence[bool]
) -> Iterator[Constituent]:
    """The leaves of the tokens from `start` to `end` in place of a word's, and what is over them.

    Args:
        alone: the tokens that are marks which no word has. Those before and after the word's own
            tokens stand beside it, unless it is the whole tree.
    """
    first, stop = start, end
    if word.depth:
        own = [token for token in range(start, end) if not alone[token]]
        first, stop = own[0], own[-1] + 1
    several = stop - first > 1
    for token in range(start, end):
        if token == first and several:
            yield word._replace(start=first, end=stop, leaf=False)
        yield Constituent(
            "" if alone[token] else word.label,
            token,
            token + 1,
            word.depth + (several and first <= token < stop),
            True,
        )


def _in_place(words: Sequence[str], tokens: Sequence[str]) -> list[int] | None:
    """Words for tokens one by one, if some are replaced: `<num>` for 5, another spelling.

    At least half of them must be equal, and no other may equal a neighbour: otherwise the tokens
    differ.
    """
    if len(words) != len(tokens):
        return None
    differing = [place for place, pair in enumerate(zip(words, tokens)) if not same_spelling(*pair)]
    if len(differing) * 2 > len(words):
        return None
    for place in differing:
        neighbours = [*tokens[max(0, place - 1) : place], *tokens[place + 1 : place + 2]]
        if any(same_spelling(words[place], neighbour) for neighbour in neighbours):
            return None
    return list(range(len(tokens)))


def _filled(kept: Sequence[int | None]) -> list[int]:
    """The tokens that tokens without a word continue: previous ones, or later ones."""
    before = next(item for item in kept if item is not None)
    filled = []
    for item in kept:
        before = before if item is None else item
        filled.append(before)
    return filled


def _is_non_constituent(tree: ConstituentTree, group: range) -> bool:
    """Whether a constituent begins or ends among the words of a token and goes beyond them."""
    return any(
        node.start < group.start < node.end < group.stop
        or group.start < node.start < group.stop < node.end
        for node in tree.nodes
    )


_SHOWN_WORDS = 8


class OtherTextError(UserError):
    """An annotation is well-formed, but its words are not those of the corpus.

    Args:
        where: file and line of the annotation.
        detail: the difference, with both sides.
        remedy: what to do.
    """

    def __init__(self, where: str, detail: str, remedy: str) -> None:
        super().__init__(f"{where}: {detail}: {remedy}")
        self.where = where
        self.detail = detail


def of_this_text(
    found: Transferred[_Kind] | None,
    annotated: Sequence[str],
    tokens: Sequence[str],
    where: str,
    corpus: str,
) -> Transferred[_Kind] | None:
    """The transferred annotation; None for a line without characters in both texts.

    Some parsers make a word of spaces of a line of spaces.

    Args:
        found: of :func:`transfer_dependencies` or :func:`transfer_constituents`.
        annotated: the words of the annotation.
        tokens: the words of the corpus line.
        where: file and line of the annotation.
        corpus: file and line of the corpus.

    Raises:
        OtherTextError: it is of another sentence; with both texts from their first difference.
    """
    if found is not None:
        return found
    if not spelling(annotated).characters and not spelling(tokens).characters:
        return None
    same = sum(1 for _ in takewhile(lambda pair: same_spelling(*pair), zip(annotated, tokens)))
    start = max(0, min(same, len(annotated) - 1, len(tokens) - 1) - 2)
    raise OtherTextError(
        where,
        f"{_difference(len(annotated), len(tokens), corpus)}: "
        f"{_excerpt(annotated, start)!r} against {_excerpt(tokens, start)!r}",
        "annotate this very text, one entry a sentence",
    )


def _difference(annotated: int, tokens: int, corpus: str) -> str:
    if annotated == tokens:
        return f"the parse has words of other characters than the text ({corpus})"
    return f"the parse has {annotated} words, the text ({corpus}) has {tokens}"


def check_same_text(
    corpus: Sequence[str], annotated: Sequence[str], where: str, corpus_name: str
) -> None:
    """Refuses an annotation of another text: fewer than half of the words agree.

    Args:
        corpus: the words of the corpus line.
        annotated: the words of the annotation.
        where: file and line of the annotation.
        corpus_name: file and line of the corpus.

    Raises:
        OtherTextError: other numbers of words, or other words.
    """
    if list(annotated) == list(corpus):
        return
    if len(annotated) != len(corpus):
        raise OtherTextError(
            where,
            f"{len(annotated)} words, but {corpus_name} has {len(corpus)}",
            "annotate the tokenised text that the subwords were made from",
        )
    agreeing = sum(map(same_spelling, corpus, annotated))
    if agreeing * 2 < len(corpus):
        raise OtherTextError(
            where,
            f"the words differ from {corpus_name} ({agreeing} of {len(corpus)} agree): "
            f"{_excerpt(annotated)!r} against {_excerpt(corpus)!r}",
            "annotate this very text, one entry a line",
        )


def _excerpt(words: Sequence[str], start: int = 0) -> str:
    shown = " ".join(words[start : start + _SHOWN_WORDS])
    before = "… " if start else ""
    return f"{before}{shown} …" if len(words) > start + _SHOWN_WORDS else before + shown
