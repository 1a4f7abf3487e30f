"""Constituents and chunks of one sentence, over the words of another."""

from __future__ import annotations

from collections.abc import Sequence

from syntax_nmt.data.chunks import OUTSIDE, Chunk
from syntax_nmt.data.constituents import Constituent, ConstituentTree


def resized_tree(tree: ConstituentTree, words: Sequence[str]) -> ConstituentTree:
    """A constituency tree over other words: parts of speech and labels stay in their places.

    Constituents that are cut end with the sentence. Words beyond the end of the tree hang on its
    root.
    """
    size = len(words)
    nodes = [node._replace(end=min(node.end, size)) for node in tree.nodes if node.start < size]
    if len(tree) < size:
        if nodes[0].leaf:
            nodes = [Constituent("", 0, 1, 0, False), nodes[0]._replace(depth=1)]
        nodes[0] = nodes[0]._replace(end=size)
        nodes += [Constituent("", word, word + 1, 1, True) for word in range(len(tree), size)]
    return ConstituentTree(tuple(words), tuple(nodes), tree.line)


def resized_chunks(chunks: Sequence[Chunk], size: int) -> tuple[Chunk, ...]:
    """Chunks over another number of words: one that is cut ends with the sentence.

    Words beyond the last chunk are outside.
    """
    kept = [chunk._replace(end=min(chunk.end, size)) for chunk in chunks if chunk.start < size]
    beyond = (Chunk(OUTSIDE, word, word + 1) for word in range(chunks[-1].end, size))
    return (*kept, *beyond)
