"""Trees written short, for tests of this folder."""

from syntax_nmt.data.dependency_tree import DependencyTree


def tree_of(heads, words=None, upos=None, multiword=()):
    """A tree from 0-based heads, the root's its own index; words a, b, c, … by default."""
    words = words or [chr(ord("a") + index) for index in range(len(heads))]
    upos = upos or ["_"] * len(heads)
    relations = ("dep",) * len(heads)
    return DependencyTree(tuple(words), tuple(heads), relations, tuple(upos), tuple(multiword), 1)


def random_heads(rng, size):
    """Heads of a random tree whose words stand in any order, 0-based; the root's is its own."""
    order = rng.sample(range(size), size)
    heads = [0] * size
    for place, word in enumerate(order):
        heads[word] = order[rng.randrange(place)] if place else word
    return heads


def words_in(trees):
    """The words of each tree, none where there is none."""
    return [[] if tree is None else list(tree.words) for tree in trees]
