"""Attachment scores: the share of words whose head is that of the reference, and its relation."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.scoring.accuracy import Accuracy

Trees = Sequence[Optional[DependencyTree]]

_PUNCTUATION = "PUNCT"
_OTHER_UPOS = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN"),
    *("SCONJ", "SYM", "VERB", "X"),
)


@dataclass(frozen=True)
class AttachmentScore:
    """Counts over the sentences with a reference parse.

    Attributes:
        heads: of their words, optionally without punctuation; right is that of the reference. The
            root has none in both.
        roots: of the sentences; right is that of the reference.
        labelled: of the words as of `heads`; right are head and relation.
    """

    heads: Accuracy
    roots: Accuracy
    labelled: Accuracy


def attachment_score(
    hypothesis: Trees, reference: Trees, punctuation: bool = True, subtypes: bool = True
) -> AttachmentScore:
    """Scores the parses of a corpus, micro-averaged over words.

    Args:
        hypothesis: one tree a sentence, None = no parse.
        reference: likewise, over the same words.
        punctuation: whether words that are punctuation in the reference count.
        subtypes: whether those of relations count, what stands after a colon.

    Raises:
        ValueError: another number of sentences, or of words in one.
    """
    sentences = words = correct = roots = labelled = 0
    for tree, gold in zip(hypothesis, reference, strict=True):
        if gold is None:
            continue
        if tree is not None and len(tree) != len(gold):
            raise ValueError(f"{len(tree)} words for {len(gold)} of the reference")
        counted = [
            word for word in range(len(gold)) if punctuation or not is_punctuation(gold, word)
        ]
        sentences += 1
        words += len(counted)
        if tree is not None:  # otherwise all its words are wrong
            attached = [word for word in counted if tree.heads[word] == gold.heads[word]]
            correct += len(attached)
            labelled += sum(
                _relation(tree, word, subtypes) == _relation(gold, word, subtypes)
                for word in attached
            )
            roots += any(head == word == tree.heads[word] for word, head in enumerate(gold.heads))
    heads, root = Accuracy(correct, words), Accuracy(roots, sentences)
    return AttachmentScore(heads, root, Accuracy(labelled, words))


def _relation(tree: DependencyTree, word: int, subtypes: bool) -> str:
    relation = tree.relations[word]
    return relation if subtypes else relation.partition(":")[0]


def is_punctuation(tree: DependencyTree, word: int) -> bool:
    """Whether a word is punctuation: by its UPOS, or by its characters where the file has none.

    Other files, such as CoNLL-X, have treebank tags in that column.
    """
    if tree.upos[word] in (_PUNCTUATION, *_OTHER_UPOS):
        return tree.upos[word] == _PUNCTUATION
    return all(unicodedata.category(character)[0] == "P" for character in tree.words[word])
