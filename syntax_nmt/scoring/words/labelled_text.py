"""Texts in the words that BLEU counts, and the buckets of these words."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from syntax_nmt.data.annotation_transfer import of_this_text, transfer_dependencies
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.subwords import NO_SUBWORDS, scheme_of_text
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.alignments.alignment import links_outside, read_alignments
from syntax_nmt.scoring.parallel_text import check_parallel, read_parallel_trees
from syntax_nmt.scoring.translations.evaluation_set import Text
from syntax_nmt.scoring.words.buckets import Labels, label_of_count, labels_of_tree

Split = Callable[[str], list[str]]
_LINES_LOOKED_AT = 10_000  # of a training text, for its pieces


@dataclass(frozen=True)
class Words:
    """A text in words.

    Attributes:
        name: of its file, for messages.
        sentences: the words of each.
    """

    name: str
    sentences: Sequence[Sequence[str]]

    @classmethod
    def of(cls, text: Text, split: Split) -> "Words":
        """A text split into words."""
        return cls(text.name, [split(sentence) for sentence in text.sentences])


Trees = Sequence[DependencyTree | None]


def trees_over(path: str, words: Words) -> Trees:
    """The trees of a CoNLL-U file over the words of a text; None = no parse.

    Trees over another tokenisation of the text are transferred by characters, as `syntax-nmt
    binarize` does.

    Args:
        path: the file, plain or `.gz`.

    Raises:
        UserError: it is damaged, has another number of sentences, or is of another text; the
            message names file and line.
    """
    trees = read_parallel_trees(path, words.name, len(words.sentences))
    return [
        None if tree is None else _over(tree, tokens, path, f"{words.name}:{number}")
        for number, (tree, tokens) in enumerate(zip(trees, words.sentences), start=1)
    ]


def _over(
    tree: DependencyTree, tokens: Sequence[str], path: str, corpus: str
) -> DependencyTree | None:
    found = transfer_dependencies(tree, tokens) if tokens else None
    found = of_this_text(found, tree.words, tokens, f"{path}:{tree.line}", corpus)
    return None if found is None else found.annotation


def labels_of_trees(kind: str, trees: Trees, words: Words) -> list[list[Labels]]:
    """The buckets of all words of a text; none of words without a parse.

    Args:
        kind: of `buckets.TREE_KINDS`.
        trees: of :func:`trees_over`.
    """
    return [
        [()] * len(tokens) if tree is None else labels_of_tree(kind, tree)
        for tree, tokens in zip(trees, words.sentences)
    ]


class SourceLinks:
    """Trees of the source, and the links of its words with those of the reference.

    A word of the source is a surface token of the file (`zum`, not `zu` and `dem`).

    Args:
        conllu: trees of the source, one a sentence.
        links: source-target, in any format that `syntax-nmt align` reads.
        base: the number of a sentence's first word in `links`.
        reference: the words that are linked.

    Raises:
        UserError: a file is damaged or not parallel, or links a word that does not exist.
    """

    def __init__(self, conllu: str, links: str, base: int, reference: Words) -> None:
        sentences = len(reference.sentences)
        trees = read_parallel_trees(conllu, reference.name, sentences)
        found = read_alignments(links, base, "--links-base")
        check_parallel(links, len(found), reference.name, sentences, "sentences")
        self._trees = [
            None if tree is None else tree.collapse(tree.num_surface_tokens) for tree in trees
        ]
        self._links: list[list[list[int]]] = []
        for place, (tree, tokens, pairs) in enumerate(
            zip(self._trees, reference.sentences, found), start=1
        ):
            # Without a tree the number of source words is not known.
            length = max((source for source, _ in pairs), default=0) + 1
            length = length if tree is None else len(tree)
            for source, target in links_outside(pairs, length, len(tokens)):
                remedy = "align the words of these trees with the reference as --tokenize splits it"
                if source <= length and target <= len(tokens):
                    remedy += (
                        "; if the file links the end of each sentence, as Marian's do, remove "
                        "these links: the number is one past the last word"
                    )
                raise UserError(
                    f"{links}: sentence {place} links words {source}-{target}, counted from 0, of "
                    f"{length} source words ({conllu}) and {len(tokens)} of {reference.name}: "
                    f"{remedy}"
                )
            linked: list[list[int]] = [[] for _ in tokens]
            for source, target in sorted(pairs):
                linked[target].append(source)
            self._links.append(linked)

    def labels(self, kind: str) -> list[list[Labels]]:
        """The buckets of each word of the reference: those of all source words linked to it.

        Args:
            kind: of `buckets.TREE_KINDS`.
        """
        found: list[list[Labels]] = []
        for tree, linked in zip(self._trees, self._links):
            if tree is None:
                found.append([()] * len(linked))
                continue
            labels = labels_of_tree(kind, tree)
            found.append(
                [
                    tuple(dict.fromkeys(name for source in sources for name in labels[source]))
                    for sources in linked
                ]
            )
        return found


class TrainingCounts:
    """How often a training text has each word.

    Args:
        path: the text, one sentence a line, plain or `.gz`.
        split: into words, like the texts to score.
        reference: one of these.

    Raises:
        UserError: the file cannot be read, has no words, or is in pieces and the reference is not.
    """

    def __init__(self, path: str, split: Split, reference: Text) -> None:
        self._counts: Counter[str] = Counter()
        lines = read_lines(path)
        first = list(islice(lines, _LINES_LOOKED_AT))
        scheme = scheme_of_text(first)
        if scheme not in (NO_SUBWORDS, scheme_of_text(reference.sentences)):
            raise UserError(
                f"{path} is in pieces of {scheme}, in which nobody finds the words of "
                f"{reference.name}: give the training text in words"
            )
        for line in chain(first, lines):
            self._counts.update(split(line))
        if not self._counts:
            raise UserError(f"{path}: has no words: give the target side of the training text")

    def labels(self, kind: str, sentences: Iterable[Sequence[str]]) -> Iterator[list[Labels]]:
        """The bucket of every word of some sentences.

        Args:
            kind: of `buckets.FORM_KINDS`.
        """
        for words in sentences:
            yield [label_of_count(kind, self._counts[word]) for word in words]
