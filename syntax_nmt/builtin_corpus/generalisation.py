"""Generalisation splits: what the training set lacks, and a test set that has it in each sentence.

A split leaves sentences out by their gold trees alone, so that trees decide whether a sentence is
of the left-out kind. Words, constructions and rules of the grammar are all in training; a length, a
depth, a distance or a combination is not. Such splits ask what ordinary test sets cannot: whether a
model found the rule (Lake and Baroni, 2018, by length; Kim and Linzen, 2020, and Li et al., 2023,
by depth, by the role of a phrase and by that of a word).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from syntax_nmt.builtin_corpus.lexicon import lexicon
from syntax_nmt.builtin_corpus.pair import SentencePair
from syntax_nmt.builtin_corpus.target import RELATIVISER

LONGEST = 16
DEEPEST = 3
NESTED = 1
FARTHEST = 6
_EVERY = 4
_MODIFIERS = ("nmod", "acl:relcl")
_SUBJECT, _CONJUNCT = "nsubj", "conj"


@dataclass(frozen=True)
class GeneralisationSplit:
    """A split of the corpus.

    Attributes:
        left_out: what each sentence of `left_out.*` has, and no other but contrastive pairs.
        has_it: whether a sentence has it.
    """

    left_out: str
    has_it: Callable[[SentencePair], bool]

    def of_kind(self, pairs: Iterator[SentencePair], *, left_out: bool) -> Iterator[SentencePair]:
        """The sentences of a stream that are of the left-out kind, or those that are not."""
        return (pair for pair in pairs if self.has_it(pair) == left_out)


def _is_long(pair: SentencePair) -> bool:
    return len(pair.source) > LONGEST


def _is_deep(pair: SentencePair) -> bool:
    return max(len(path) for path in _paths_to_root(pair)) - 1 > DEEPEST


def _is_nested(pair: SentencePair) -> bool:
    paths = _paths_to_root(pair)
    return max(sum(relation in _MODIFIERS for relation in path) for path in paths) > NESTED


def _has_modified_subject(pair: SentencePair) -> bool:
    arcs = pair.tree.dependencies()
    return any(relation in _MODIFIERS and arcs[head - 1][1] == _SUBJECT for head, relation in arcs)


def _has_far_subject(pair: SentencePair) -> bool:
    place = {id(word): number for number, word in enumerate(pair.target)}
    for word in pair.target:
        if word.relation == _SUBJECT and word.head is not None:
            # Of a relative clause, the verb agrees with the noun that the clause modifies.
            noun = word.head.head if word.form == RELATIVISER else word
            if noun is not None and abs(place[id(word.head)] - place[id(noun)]) - 1 > FARTHEST:
                return True
    return False


def _has_new_subject(pair: SentencePair) -> bool:
    arcs = pair.tree.dependencies()
    for word, (head, relation) in zip(pair.source, arcs):
        role = arcs[head - 1][1] if relation == _CONJUNCT else relation
        if role == _SUBJECT and word.upos == "NOUN" and word.lemma.endswith(never_subjects()):
            return True
    return False


@cache
def never_subjects() -> tuple[str, ...]:
    """The nouns that are no subjects in training: of each kind every fourth one by frequency."""
    nouns = [kind.items[_EVERY - 1 :: _EVERY] for kind in lexicon().nouns.values()]
    return tuple(noun.source for of_kind in nouns for noun in of_kind)


def _paths_to_root(pair: SentencePair) -> Sequence[Sequence[str]]:
    """For each source word the relations of the arcs up to the root, the root's included."""
    arcs = pair.tree.dependencies()
    paths = []
    for head, relation in arcs:
        path = [relation]
        while head:
            head, relation = arcs[head - 1]
            path.append(relation)
        paths.append(path)
    return paths


SPLITS = {
    "length": GeneralisationSplit(f"more than {LONGEST} source words", _is_long),
    "depth": GeneralisationSplit(
        f"a word more than {DEEPEST} arcs below the root of the source", _is_deep
    ),
    "nesting": GeneralisationSplit("a modifier (nmod or acl:relcl) inside another one", _is_nested),
    "relations": GeneralisationSplit(
        "a subject that is modified (nmod or acl:relcl), as objects are in training",
        _has_modified_subject,
    ),
    "agreement": GeneralisationSplit(
        f"more than {FARTHEST} words between a verb of the target and its subject",
        _has_far_subject,
    ),
    "lexical": GeneralisationSplit(
        "a subject that is one of every fourth noun, which training has in other roles alone",
        _has_new_subject,
    ),
}
"""The splits, by name."""
