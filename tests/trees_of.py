"""Trees written short, random ones, and what holds of every tree."""

import html
import unicodedata

from syntax_nmt.data.dependency_tree import DependencyTree, find_cycle


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


def random_cuts(rng, text):
    """A text cut into parts, of which none is empty."""
    places = sorted(rng.sample(range(1, len(text)), rng.randrange(len(text))))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)])]


def is_tree(heads):
    """Whether one word is its own head and all others lead up to it."""
    roots = [word for word, head in enumerate(heads) if head == word]
    arcs = [-1 if head == word else head for word, head in enumerate(heads)]
    return len(roots) == 1 and max(heads) < len(heads) and not find_cycle(arcs)


def above(heads, word):
    """A word and all that it hangs on, up to the root."""
    return {word} if heads[word] == word else {word} | above(heads, heads[word])


def has_letters(word):
    """Whether a word has a letter or a digit."""
    return any(map(str.isalnum, unicodedata.normalize("NFKD", html.unescape(word))))


def heads_of_tokens(tree, words, tokens, forms):
    """The head of each token in which a word begins, by counting steps to the root; else None.

    Punctuation stands for its token only where a word depends on it, or there is nothing else.

    Args:
        words: the places in the text where words begin.
        tokens: the places where tokens begin.
        forms: the tokens.
    """
    heads = tree.heads

    def token_of(word):
        token = max(token for token, place in enumerate(tokens) if place <= words[word])
        before = forms[token][: words[word] - tokens[token]]
        if has_letters(before) and not has_letters(tree.words[word]):
            return token_of(max(i for i in range(word) if has_letters(tree.words[i])))
        return token

    def steps(word):
        return 0 if heads[word] == word else 1 + steps(heads[word])

    carrying = set()
    for word, form in enumerate(tree.words):
        carrying |= above(heads, word) if has_letters(form) else set()
    inside = {}
    for word in range(len(words)):
        inside.setdefault(token_of(word), []).append(word)
    found = []
    for token in range(len(tokens)):
        held = inside.get(token, [])
        top = min(sorted(carrying.intersection(held)) or held, key=steps, default=None)
        found.append(None if top is None else token_of(heads[top]))
    return found


def words_in(trees):
    """The words of each tree, none where there is none."""
    return [[] if tree is None else list(tree.words) for tree in trees]
