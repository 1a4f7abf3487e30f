"""Abstract syntax, the meaning of a sentence independent of language, and constituents.

The two languages are two ways to write the same abstract tree, so gold structures and alignments
come with it. Every word of either language names the `Concept` that it expresses; words that
express the same concept are aligned.

The head of a phrase is the word reached by following the children marked `HEAD`; every other child
depends on that word. Dependencies are therefore projective and single-rooted by construction, and
never at odds with the constituency tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Union

from syntax_nmt.builtin_corpus.lexicon import FEMININE, MASCULINE, Adposition, Modifier, Noun, Verb

Concept = tuple[int, str]
"""The number of a noun phrase or clause, and the part of it that is meant."""

Agreement = tuple[str, bool]
"""Gender, and whether it is plural."""


@dataclass(eq=False)
class NounPhrase:
    """A noun with all that depends on it, or a pronoun.

    Args:
        number: tells it from the other noun phrases and clauses of the sentence.
        kind: person, thing or place.
        gender: of the noun in the target, or of the pronoun.
        plural: as the noun itself is, its conjunct aside.
        noun: none in a pronoun.
        compound: the first stem of a compound noun.
        determiner: `definite`, `demonstrative`, `indefinite`, or empty.
        numeral: both languages' word, which goes with plurals.
        adjectives: outermost first.
        adjuncts: prepositional phrases, in the order of the source.
        relative: a clause with a gap, which this phrase fills.
        conjunct: a second, coordinated noun phrase.
    """

    number: int
    kind: str
    gender: str
    plural: bool
    noun: Noun | None = None
    compound: Noun | None = None
    determiner: str = ""
    numeral: tuple[str, str] | None = None
    adjectives: list[Modifier] = field(default_factory=list)
    adjuncts: list[AdpositionalPhrase] = field(default_factory=list)
    relative: Clause | None = None
    conjunct: NounPhrase | None = None

    @property
    def agreement(self) -> Agreement:
        """What a verb agrees with: plural if coordinated, feminine only if all of it is."""
        if self.conjunct is None:
            return self.gender, self.plural
        genders = {self.gender, self.conjunct.gender}
        return (FEMININE if genders == {FEMININE} else MASCULINE), True

    def concept(self, part: str) -> Concept:
        """The concept of a part of this phrase: `head`, `adjective 0` and so on."""
        return self.number, part


@dataclass
class AdpositionalPhrase:
    """A preposition of the source with the noun phrase it governs."""

    adposition: Adposition
    governed: NounPhrase


@dataclass(eq=False)
class Clause:
    """A verb with its arguments and adjuncts.

    Args:
        number: tells it from the other noun phrases and clauses of the sentence.
        tense: `Pres`, `Past` or `Fut`.
        subject: in a relative clause this may be the phrase that the clause modifies.
        object: likewise.
        recipient: the dative argument of ditransitive verbs.
        complement: the clause that verbs of saying take.
        negated: whether it is denied.
        topic: an adjunct before the subject.
        gap: `subject` or `object` in a relative clause, for the argument not written in it.
    """

    number: int
    verb: Verb
    tense: str
    subject: NounPhrase
    object: NounPhrase | None = None
    recipient: NounPhrase | None = None
    complement: Clause | None = None
    adverb: Modifier | None = None
    negated: bool = False
    topic: AdpositionalPhrase | None = None
    adjuncts: list[AdpositionalPhrase] = field(default_factory=list)
    gap: str = ""

    def concept(self, part: str) -> Concept:
        """The concept of a part of this clause: `verb`, `negation` and so on."""
        return self.number, part


@dataclass
class GeneratedSentence:
    """A main clause, alone or with a second clause that is coordinated or subordinated to it.

    Args:
        second: the other clause.
        link: `coordinated`, `subordinated before`, `subordinated after`, or empty.
        subordinator: both languages' word, in subordination.
    """

    main: Clause
    second: Clause | None = None
    link: str = ""
    subordinator: tuple[str, str] = ("", "")


HEAD = "head"


@dataclass(eq=False)
class Word:
    """A word of the source.

    Args:
        upos: Universal Dependencies' part of speech.
        xpos: the Penn Treebank's, the label above the word in the constituency tree.
        feats: morphological features as CoNLL-U has them.
        concepts: what it expresses.
    """

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str = "_"
    concepts: tuple[Concept, ...] = ()


@dataclass(eq=False)
class Phrase:
    """A labelled constituent.

    Args:
        label: as in the Penn Treebank.
        parts: the children in order, each with its relation to the head; exactly one is `HEAD`.
    """

    label: str
    parts: list[tuple[str, Constituent]]

    def words(self) -> Iterator[Word]:
        """The words in order."""
        for _, part in self.parts:
            if isinstance(part, Word):
                yield part
            else:
                yield from part.words()

    def head(self) -> Word:
        """The word that heads the phrase."""
        (part,) = (part for relation, part in self.parts if relation == HEAD)
        return part if isinstance(part, Word) else part.head()

    def bracketed(self) -> str:
        """The tree in the Penn Treebank's notation, on one line."""
        inside = " ".join(
            f"({part.xpos} {part.form})" if isinstance(part, Word) else part.bracketed()
            for _, part in self.parts
        )
        return f"({self.label} {inside})"

    def dependencies(self) -> list[tuple[int, str]]:
        """The head of each word, counted from 1 with 0 for the root, and the relation to it."""
        position = {word: number for number, word in enumerate(self.words(), start=1)}
        found = {self.head(): (0, "root")}
        self._collect(position, found)
        return [found[word] for word in self.words()]

    def _collect(self, position: dict[Word, int], found: dict[Word, tuple[int, str]]) -> None:
        """Adds the dependencies inside this phrase to those found."""
        head = self.head()
        for relation, part in self.parts:
            if relation != HEAD:
                dependent = part if isinstance(part, Word) else part.head()
                found[dependent] = (position[head], relation)
            if isinstance(part, Phrase):
                part._collect(position, found)


Constituent = Union[Word, Phrase]
