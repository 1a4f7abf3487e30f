"""A corpus with its parses, as they come, its reference, and which sentences are scored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from syntax_nmt.data.annotation.formats import CONLLU
from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.dependencies.reference import over_same_words
from syntax_nmt.scoring.dependencies.uas import Trees
from syntax_nmt.scoring.parallel_text import read_parallel_trees
from syntax_nmt.scoring.reference_words import OtherWords
from syntax_nmt.scoring.tree_corpus import TreeCorpus

_RANGE = re.compile(r"(\d+)-(\d+)")


@dataclass(frozen=True)
class SentenceFilter:
    """Which sentences are scored: those that have all of this.

    Attributes:
        least: words of a sentence.
        most: words of a sentence; None = any number.
        known: no token may be unknown to the model.
    """

    least: int = 0
    most: int | None = None
    known: bool = False

    @classmethod
    def of(cls, words: str | None, known: bool = False) -> SentenceFilter:
        """The filter of `--words` and `--known-words`.

        Args:
            words: the least and the most of a sentence, such as 20-30; None = any number.

        Raises:
            UserError: `words` is no range.
        """
        if words is None:
            return cls(known=known)
        bounds = _RANGE.fullmatch(words)
        if bounds is None or int(bounds[1]) > int(bounds[2]):
            raise UserError(f"--words {words}: give the least and the most, such as 20-30")
        return cls(int(bounds[1]), int(bounds[2]), known)

    def __str__(self) -> str:
        """What sentences must have."""
        length = [] if self.most is None else [f"{self.least} to {self.most} words"]
        return " and ".join([*length, *(["only known words"] if self.known else [])])

    def apply(self, reference: Trees, unknown: Sequence[bool]) -> list[bool]:
        """Selects among the sentences with a reference parse.

        Args:
            unknown: whether a sentence has an unknown token; read only if needed.
        """
        return [
            gold is not None
            and self.least <= len(gold)
            and (self.most is None or len(gold) <= self.most)
            and not (self.known and unknown[index])
            for index, gold in enumerate(reference)
        ]


@dataclass(frozen=True)
class ParsedSentence:
    """A sentence and its parses.

    Attributes:
        words: its words.
        tree: None = no parse.
        strongest: the heads of largest weight in the same type, although they need not form a tree;
            None = not known.
    """

    words: tuple[str, ...]
    tree: DependencyTree | None
    strongest: DependencyTree | None = None

    def block(self) -> str:
        """The sentence's CoNLL-U block."""
        return CONLLU.write(self.tree, self.words)


@dataclass
class ParsedCorpus(TreeCorpus[ParsedSentence]):
    """Sentences, and the reference that their parses are compared with.

    Attributes:
        reference: trees over the same words; None = there is no reference.
        selection: which sentences are scored.
        unknown: whether a sentence has an unknown token.
        other_words: words that differ from the reference.
        carried_over: parses of the reference transferred from another tokenisation.
        labelled: whether the relations of the parses are predictions.
        subtypes: whether these have subtypes; otherwise those of the reference do not count.
        scored: the reference, with None in place of sentences that are not selected.
    """

    reference: Trees | None
    selection: SentenceFilter
    unknown: Sequence[bool] = ()
    other_words: OtherWords = field(default_factory=OtherWords)
    carried_over: int = 0
    labelled: bool = False
    subtypes: bool = True
    scored: Trees | None = field(init=False)

    def __post_init__(self) -> None:
        self.scored = self.reference
        if self.reference is not None:
            chosen = self.selection.apply(self.reference, self.unknown)
            if not any(chosen):
                raise UserError(
                    f"no sentence with a reference parse has {self.selection}: give another "
                    "--words, or leave --known-words out"
                )
            self.scored = [gold if takes else None for gold, takes in zip(self.reference, chosen)]


def corpus_of_file(
    path: str, conllu: str | None = None, selection: SentenceFilter = SentenceFilter()
) -> ParsedCorpus:
    """The parses of a file, over the words that it shares with the reference.

    Args:
        conllu: the reference; None = there is none.
        selection: which sentences are scored.

    Raises:
        UserError: a file is damaged, or the two are not parallel.
    """
    trees = list(read_conllu(path, one_root=False))
    reference: list[DependencyTree | None] | None = None
    other = OtherWords()
    if conllu is not None:
        reference = read_parallel_trees(conllu, path, len(trees))
        for index, (tree, gold) in enumerate(zip(trees, reference)):
            if tree is not None and gold is not None:
                where, name = f"{conllu}:{gold.line}", f"{path}:{tree.line}"
                pair = over_same_words(tree, gold, where, name)
                trees[index], reference[index] = pair
                other.add(pair[0].words, pair[1].words, name)

    def parse() -> Iterator[ParsedSentence]:
        for tree in trees:
            yield ParsedSentence(() if tree is None else tree.words, tree)

    labelled = bool(told_relations(trees))
    return ParsedCorpus(
        len(trees), parse, reference, selection, other_words=other, labelled=labelled
    )


def told_relations(trees: Trees) -> set[str]:
    """The relations of parses that say something; none of parses without any."""
    every = {name for tree in trees if tree is not None for name in tree.relations}
    return every - {"_", "dep", "root"}
