"""The target language: verb-final, with cases, postpositions and verbs that agree.

Genitives stand before their noun, and so do relative clauses whose object is missing; other
adjuncts, and relative clauses whose subject is missing, follow it. Adjuncts of the verb come
between subject and object, complement clauses before the verb, and subordinate clauses first.
"""

from dataclasses import dataclass

from syntax_nmt.builtin_corpus.inflection import (
    DETERMINERS,
    PRONOUNS,
    adjective_form,
    compound_stem,
    noun_form,
    verb_form,
)
from syntax_nmt.builtin_corpus.lexicon import (
    DATIVE_PREPOSITION,
    GENITIVE_PREPOSITION,
    PERSON,
    PLACE,
)
from syntax_nmt.builtin_corpus.syntax import (
    AdpositionalPhrase,
    Clause,
    Concept,
    NounPhrase,
    Sentence,
)

NEGATION, COORDINATOR, COMPLEMENTISER, RELATIVISER = "ni", "ja", "ets", "hau"


@dataclass
class TargetWord:
    """A word of the target.

    Args:
        chunk: the tag in IOB2.
        concepts: what it expresses.
        subject: in a verb, the head concept of the single noun that it agrees with.
        disagreeing: such a verb's form for the other number.
    """

    form: str
    chunk: str
    concepts: tuple[Concept, ...] = ()
    subject: Concept | None = None
    disagreeing: str = ""


def target_words(sentence: Sentence) -> list[TargetWord]:
    """The sentence in the target language.

    Args:
        sentence: what to say.
    """
    words = _clause(sentence.main)
    if sentence.second is not None:
        second = _clause(sentence.second)
        comma = TargetWord(",", "O", ((0, "comma"),))
        if sentence.link == "coordinated":
            words += [comma, TargetWord(COORDINATOR, "O", ((0, "link"),)), *second]
        else:
            mark = TargetWord(sentence.subordinator[1], "B-SBAR", ((0, "link"),))
            words = [*second, mark, comma, *words]
    return [*words, TargetWord(".", "O", ((0, "stop"),))]


def _clause(clause: Clause) -> list[TargetWord]:
    """A clause: what is not in its gap, the verb at the end."""
    words: list[TargetWord] = []
    if clause.topic is not None:
        words += _adpositional_phrase(clause.topic)
    if clause.gap != "subject":
        words += _noun_phrase(clause.subject, "Nom")
    for adjunct in clause.adjuncts:
        words += _adpositional_phrase(adjunct)
    if clause.recipient is not None:
        words += _adpositional_phrase(AdpositionalPhrase(DATIVE_PREPOSITION, clause.recipient))
    if clause.object is not None and clause.gap != "object":
        words += _noun_phrase(clause.object, "Acc")
    if clause.complement is not None:
        words += _clause(clause.complement)
        concept = clause.complement.concept("complementiser")
        words.append(TargetWord(COMPLEMENTISER, "B-SBAR", (concept,)))
    if clause.adverb is not None:
        adverb = clause.adverb.target + "im"
        words.append(TargetWord(adverb, "B-ADVP", (clause.concept("adverb"),)))
    return words + _verb_group(clause)


def _verb_group(clause: Clause) -> list[TargetWord]:
    """Negation and verb."""
    subject = clause.subject
    of_person = clause.object is not None and clause.object.kind == PERSON
    stem = clause.verb.target_of_person if of_person else clause.verb.target
    adnominal = clause.gap == "object"
    gender, plural = subject.agreement
    verb = TargetWord(
        verb_form(stem, clause.tense, (gender, plural), adnominal),
        "B-VP",
        (clause.concept("verb"),),
    )
    if subject.noun is not None and subject.conjunct is None:
        verb.subject = subject.concept("head")
        verb.disagreeing = verb_form(stem, clause.tense, (gender, not plural), adnominal)
    if not clause.negated:
        return [verb]
    verb.chunk = "I-VP"
    return [TargetWord(NEGATION, "B-VP", (clause.concept("negation"),)), verb]


def _noun_phrase(phrase: NounPhrase, case: str) -> list[TargetWord]:
    """A noun phrase in a case."""
    words: list[TargetWord] = []
    after: list[TargetWord] = []
    for adjunct in phrase.adjuncts:
        genitive = adjunct.adposition is GENITIVE_PREPOSITION
        (words if genitive else after).extend(_adpositional_phrase(adjunct))
    if phrase.relative is not None:
        relative = phrase.relative
        concept = relative.concept("relativiser")
        if relative.gap == "object":
            words += _clause(relative)
            # The verb's adnominal ending does what the relative pronoun of the source does.
            words[-1].concepts += (concept,)
        else:
            after += [TargetWord(RELATIVISER, "B-NP", (concept,)), *_clause(relative)]
    words += [*_simple_noun_phrase(phrase, case), *after]
    if phrase.conjunct is not None:
        words.append(TargetWord(COORDINATOR, "O", (phrase.concept("coordinator"),)))
        words += _noun_phrase(phrase.conjunct, case)
    return words


def _simple_noun_phrase(phrase: NounPhrase, case: str) -> list[TargetWord]:
    """A chunk: a noun with the words before it, or a pronoun."""
    agreement = phrase.gender, phrase.plural
    if phrase.noun is None:
        form = noun_form(PRONOUNS[agreement], False, case)
        return [TargetWord(form, "B-NP", (phrase.concept("head"),))]
    words: list[TargetWord] = []
    if phrase.determiner in DETERMINERS:
        form = DETERMINERS[phrase.determiner][agreement]
        words.append(TargetWord(form, "I-NP", (phrase.concept("determiner"),)))
    if phrase.numeral is not None:
        words.append(TargetWord(phrase.numeral[1], "I-NP", (phrase.concept("numeral"),)))
    for place, adjective in enumerate(phrase.adjectives):
        form = adjective_form(adjective.target, agreement)
        words.append(TargetWord(form, "I-NP", (phrase.concept(f"adjective {place}"),)))
    words += _noun(phrase, case)
    words[0].chunk = "B-NP"
    return words


def _noun(phrase: NounPhrase, case: str) -> list[TargetWord]:
    """The noun: with a place for its first stem a compound takes two words, otherwise one."""
    assert phrase.noun is not None
    stem, first = phrase.noun.target, phrase.compound
    concepts: tuple[Concept, ...] = (phrase.concept("head"),)
    words: list[TargetWord] = []
    if first is not None and first.kind == PLACE:
        form = adjective_form(first.target + "nik", (phrase.gender, phrase.plural))
        words.append(TargetWord(form, "I-NP", (phrase.concept("compound"),)))
    elif first is not None:
        stem = compound_stem(first.target, stem)
        concepts = (phrase.concept("compound"), *concepts)
    # Numerals go with the singular, so there the noun itself does not show what the verb does.
    plural = phrase.plural and phrase.numeral is None
    return [*words, TargetWord(noun_form(stem, plural, case), "I-NP", concepts)]


def _adpositional_phrase(phrase: AdpositionalPhrase) -> list[TargetWord]:
    """A noun phrase in the case its adposition asks for, and the postposition if there is one."""
    concept = phrase.governed.concept("adposition")
    case, postposition = phrase.adposition.renderings[phrase.governed.kind]
    words = _noun_phrase(phrase.governed, case)
    if postposition:
        return [*words, TargetWord(postposition, "B-PP", (concept,))]
    head = phrase.governed.concept("head")
    for word in words:
        if head in word.concepts:
            word.concepts += (concept,)  # the case ending stands for the preposition
    return words
