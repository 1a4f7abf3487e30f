"""The grammar: draws abstract sentences.

Every attachment can be told from the words, as a parser must be able to:

- a verb's prepositional phrase goes with the nearest verb before it, or if it opens the sentence
  with the verb of that clause; so none follows an object that ends in a clause;
- `kon` goes with the nearest noun before it that is a person, other prepositions of nouns with the
  nearest noun whatever;
- a relative clause goes with the nearest person (`ki`), or the nearest other noun (`ke`).
"""

from syntax_nmt.builtin_corpus.draw import Draw
from syntax_nmt.builtin_corpus.lexicon import (
    COMITATIVE_PREPOSITION,
    FEMININE,
    GENITIVE_PREPOSITION,
    MASCULINE,
    NOUN_PREPOSITIONS,
    NUMERALS,
    PERSON,
    PLACE,
    SUBORDINATORS,
    THING,
    VERB_PREPOSITIONS,
    Adposition,
    lexicon,
)
from syntax_nmt.builtin_corpus.syntax import (
    AdpositionalPhrase,
    Clause,
    GeneratedSentence,
    NounPhrase,
)

TENSES = (("Past", 5.0), ("Pres", 4.0), ("Fut", 1.5))
SUBJECT_KINDS = ((PERSON, 6.0), (THING, 3.0), (PLACE, 0.6))
OBJECT_KINDS = ((THING, 5.0), (PERSON, 4.0), (PLACE, 1.0))
DETERMINERS = (("definite", 5.0), ("indefinite", 3.0), ("demonstrative", 1.0), ("", 0.8))


class Grammar:
    """Draws one sentence after the other.

    Args:
        draw: the stream that decides.
    """

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._lexicon = lexicon()
        self._numbers = 0

    def sentence(self) -> GeneratedSentence:
        """The next sentence."""
        self._numbers = 0
        draw = self._draw
        link = draw.weighted(
            (
                ("", 8.0),
                ("coordinated", 1.0),
                ("subordinated before", 0.8),
                ("subordinated after", 0.8),
            )
        )
        if not link:
            return GeneratedSentence(self._clause(depth=0, topic=True))
        # A subordinate clause at the end must follow no other verb than the one it goes with.
        main = self._clause(depth=1, plain=link == "subordinated after")
        second = self._clause(depth=1 if link == "coordinated" else 2)
        subordinator = ("", "") if link == "coordinated" else draw.word(SUBORDINATORS)
        return GeneratedSentence(main, second, link, subordinator)

    def _next(self) -> int:
        """A number for the next noun phrase or clause."""
        self._numbers += 1
        return self._numbers

    def _clause(
        self, depth: int, gap: str = "", filler: NounPhrase | None = None, **shape: bool
    ) -> Clause:
        """A clause.

        Args:
            depth: how deep in the sentence it stands; deeper clauses are simpler.
            gap: `subject` or `object` in a relative clause.
            filler: what the relative clause modifies.
            shape: `topic` allows an adjunct before the subject, `plain` forbids that the clause
                ends in another.
        """
        draw, number = self._draw, self._next()
        frame = self._frame(depth, gap, shape.get("plain", False))
        subject = filler if gap == "subject" else self._subject(depth)
        assert subject is not None
        clause = Clause(
            number,
            draw.word(getattr(self._lexicon, frame)),
            draw.weighted(TENSES),
            subject,
            adverb=draw.word(self._lexicon.adverbs) if draw.chance(0.15) else None,
            negated=draw.chance(0.08),
            gap=gap,
        )
        if gap == "object":
            clause.object = filler
        elif frame in ("transitive", "ditransitive"):
            ends_clause = frame == "transitive" and not shape.get("plain", False)
            clause.object = self._noun_phrase(
                draw.weighted(OBJECT_KINDS), depth + 1, relative=ends_clause, coordinate=True
            )
        if frame == "ditransitive":
            clause.recipient = self._noun_phrase(PERSON, depth + 2, relative=False)
        if frame == "clausal":
            clause.complement = self._clause(depth + 1)
        else:
            self._add_adjuncts(clause, depth)
        if shape.get("topic") and draw.chance(0.15):
            clause.topic = self._adpositional(draw.word(VERB_PREPOSITIONS), depth + 2)
        return clause

    def _frame(self, depth: int, gap: str, plain: bool) -> str:
        """Which arguments the verb takes, named as the lexicon names its verbs."""
        if gap == "object":
            return "transitive"
        clausal = 0.0 if gap or plain or depth > 1 else 1.5
        return self._draw.weighted(
            (
                ("transitive", 5.0),
                ("intransitive", 3.0),
                ("ditransitive", 0.0 if gap else 0.8),
                ("clausal", clausal),
            )
        )

    def _add_adjuncts(self, clause: Clause, depth: int) -> None:
        """Prepositional phrases of the verb, unless the object ends in a clause."""
        if clause.gap != "object" and clause.object is not None and _ends_in_clause(clause.object):
            return
        if self._draw.chance(0.35 if depth == 0 else 0.2):
            adposition = self._draw.word(VERB_PREPOSITIONS)
            clause.adjuncts.append(self._adpositional(adposition, depth + 1))

    def _subject(self, depth: int) -> NounPhrase:
        """A subject: a pronoun or a noun phrase."""
        draw = self._draw
        if draw.chance(0.12):
            gender = FEMININE if draw.chance(0.5) else MASCULINE
            return NounPhrase(self._next(), PERSON, gender, draw.chance(0.4))
        return self._noun_phrase(draw.weighted(SUBJECT_KINDS), depth, coordinate=True)

    def _noun_phrase(
        self, kind: str, depth: int, relative: bool = True, coordinate: bool = False
    ) -> NounPhrase:
        """A noun phrase.

        Args:
            kind: what its head is.
            depth: how deep in the sentence it stands; deeper phrases are simpler.
            relative: whether it may hold relative clauses.
            coordinate: whether it may be coordinated.
        """
        draw = self._draw
        if kind == PERSON and draw.chance(0.12):
            name = draw.word(self._lexicon.names)
            return NounPhrase(self._next(), PERSON, name.gender, False, name)
        phrase = self._simple_noun_phrase(kind)
        if coordinate and draw.chance(0.08):
            while phrase.conjunct is None or phrase.conjunct.noun is phrase.noun:
                phrase.conjunct = self._simple_noun_phrase(kind)
            return phrase
        if depth <= 2 and draw.chance((0.27, 0.18, 0.1)[depth]):
            self._attach_adjuncts(phrase, depth, relative)
        modifiable = relative and depth <= 2 and _can_take_clause(phrase)
        if modifiable and draw.chance((0.16, 0.1, 0.05)[depth]):
            gap = "subject" if draw.chance(0.6) or kind == PLACE else "object"
            phrase.relative = self._clause(depth + 2, gap, phrase)
        return phrase

    def _simple_noun_phrase(self, kind: str) -> NounPhrase:
        """A noun with the words that stand before it."""
        draw = self._draw
        noun = draw.word(self._lexicon.nouns[kind])
        phrase = NounPhrase(self._next(), kind, noun.gender, draw.chance(0.4), noun)
        if draw.chance(0.08):
            first = draw.weighted(((THING, 3.0), (PLACE, 1.0)))
            phrase.compound = draw.word(self._lexicon.nouns[first])
        phrase.determiner = draw.weighted(DETERMINERS)
        if phrase.plural and draw.chance(0.12):
            phrase.numeral = draw.word(NUMERALS)
        while len(phrase.adjectives) < 2 and draw.chance(0.2):
            phrase.adjectives.append(draw.word(self._lexicon.adjectives))
        return phrase

    def _attach_adjuncts(self, phrase: NounPhrase, depth: int, relative: bool) -> None:
        """One prepositional phrase of the noun, or two where the second passes over the first."""
        draw = self._draw
        both = phrase.kind == PERSON and draw.chance(0.25)
        if phrase.kind == PERSON and not both and draw.chance(0.35):
            phrase.adjuncts.append(self._adpositional(COMITATIVE_PREPOSITION, depth + 1))
            return
        near = GENITIVE_PREPOSITION if both or draw.chance(0.6) else draw.word(NOUN_PREPOSITIONS)
        inner = self._adpositional(near, depth + 1, relative and not both, both)
        phrase.adjuncts.append(inner)
        if both:
            phrase.adjuncts.append(self._adpositional(COMITATIVE_PREPOSITION, depth + 2))

    def _adpositional(
        self, adposition: Adposition, depth: int, relative: bool = False, passed: bool = False
    ) -> AdpositionalPhrase:
        """A prepositional phrase.

        Args:
            adposition: its preposition, which decides what kinds of noun may follow.
            depth: how deep in the sentence it stands.
            relative: whether it may hold relative clauses.
            passed: whether what follows goes with a person further ahead, so that no person may
                stand here.
        """
        kinds = [kind for kind in adposition.renderings if not (passed and kind == PERSON)]
        kind = self._draw.one_of(kinds)
        if passed:
            return AdpositionalPhrase(adposition, self._simple_noun_phrase(kind))
        return AdpositionalPhrase(adposition, self._noun_phrase(kind, depth, relative))


def _can_take_clause(phrase: NounPhrase) -> bool:
    """Whether a relative clause after the phrase could be told to go with its head.

    No noun between may be of the head's animacy, or it would be the nearest.
    """
    if phrase.noun is None or phrase.noun.proper or phrase.conjunct is not None:
        return False
    person = phrase.kind == PERSON
    return all(
        (noun.kind == PERSON) != person and noun.relative is None
        for noun in _nouns_in_adjuncts(phrase)
    )


def _nouns_in_adjuncts(phrase: NounPhrase) -> list[NounPhrase]:
    """The noun phrases in the prepositional phrases of a noun."""
    nouns = []
    for adjunct in phrase.adjuncts:
        nouns += [adjunct.governed, *_nouns_in_adjuncts(adjunct.governed)]
    return nouns


def _ends_in_clause(phrase: NounPhrase) -> bool:
    """Whether a relative clause stands in the phrase; in the source it is then at the end."""
    return phrase.relative is not None or any(
        noun.relative is not None for noun in _nouns_in_adjuncts(phrase)
    )
