"""The target language: verb-final, with cases, postpositions and verbs that agree.

Genitives stand before their noun, and so do relative clauses whose object is missing; other
adjuncts, and relative clauses whose subject is missing, follow it. Adjuncts of the verb come
between subject and object, complement clauses before the verb, and subordinate clauses first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

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
    GeneratedSentence,
    NounPhrase,
)

NEGATION, COORDINATOR, COMPLEMENTISER, RELATIVISER = "ni", "ja", "ets", "hau"
# Parts of speech of Universal Dependencies, of words that are phrases by themselves.
_BY_RELATION = {
    "punct": "PUNCT", "cc": "CCONJ", "mark": "SCONJ", "advmod": "ADV", "det": "DET",
    "nummod": "NUM", "amod": "ADJ", "case": "ADP", "nsubj": "PRON",
}  # fmt: skip


@dataclass
class TargetWord:
    """A word of the target.

    Args:
        chunk: the tag in IOB2.
        concepts: what it expresses.
        subject: in a verb, the head concept of the single noun that it agrees with.
        disagreeing: such a verb's form for the other number.
        head: the word that it depends on; None = it is the root, or the head of its phrase so far.
        relation: to its head, a label of Universal Dependencies.
        upos: the part of speech.
    """

    form: str
    chunk: str
    concepts: tuple[Concept, ...] = ()
    subject: Concept | None = None
    disagreeing: str = ""
    head: TargetWord | None = field(default=None, repr=False, compare=False)
    relation: str = "root"
    upos: str = "NOUN"


def _head(words: Sequence[TargetWord]) -> TargetWord:
    """The word of a phrase that depends on no other of it."""
    (head,) = (word for word in words if word.head is None)
    return head


def _hung(words: Sequence[TargetWord], relation: str, head: TargetWord) -> Sequence[TargetWord]:
    """The words of a phrase, which now depends on a word."""
    dependent = _head(words)
    dependent.head, dependent.relation = head, relation
    return words


def _word(
    form: str, chunk: str, concept: Concept, relation: str, head: TargetWord
) -> Sequence[TargetWord]:
    """A phrase of one word, which depends on another word."""
    upos = "PART" if form == NEGATION else _BY_RELATION[relation]
    return _hung([TargetWord(form, chunk, (concept,), upos=upos)], relation, head)


def target_words(sentence: GeneratedSentence) -> list[TargetWord]:
    """The sentence in the target language.

    Args:
        sentence: what to say.
    """
    words = _clause(sentence.main)
    root = _head(words)
    if sentence.second is not None:
        second = _clause(sentence.second)
        verb = _head(second)
        comma = _word(",", "O", (0, "comma"), "punct", verb)
        if sentence.link == "coordinated":
            link = _word(COORDINATOR, "O", (0, "link"), "cc", verb)
            words += [*comma, *link, *_hung(second, "conj", root)]
        else:
            mark = _word(sentence.subordinator[1], "B-SBAR", (0, "link"), "mark", verb)
            words = [*_hung(second, "advcl", root), *mark, *comma, *words]
    return [*words, *_word(".", "O", (0, "stop"), "punct", root)]


def _clause(clause: Clause) -> list[TargetWord]:
    """A clause: what is not in its gap, the verb at the end."""
    words: list[TargetWord] = []
    group = _verb_group(clause)
    verb = _head(group)
    if clause.topic is not None:
        words += _hung(_adpositional_phrase(clause.topic), "obl", verb)
    if clause.gap != "subject":
        words += _hung(_noun_phrase(clause.subject, "Nom"), "nsubj", verb)
    for adjunct in clause.adjuncts:
        words += _hung(_adpositional_phrase(adjunct), "obl", verb)
    if clause.recipient is not None:
        recipient = AdpositionalPhrase(DATIVE_PREPOSITION, clause.recipient)
        words += _hung(_adpositional_phrase(recipient), "iobj", verb)
    if clause.object is not None and clause.gap != "object":
        words += _hung(_noun_phrase(clause.object, "Acc"), "obj", verb)
    if clause.complement is not None:
        complement = _clause(clause.complement)
        concept = clause.complement.concept("complementiser")
        mark = _word(COMPLEMENTISER, "B-SBAR", concept, "mark", _head(complement))
        words += [*_hung(complement, "ccomp", verb), *mark]
    if clause.adverb is not None:
        form = clause.adverb.target + "im"
        words += _word(form, "B-ADVP", clause.concept("adverb"), "advmod", verb)
    return words + group


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
        upos="VERB",
    )
    if subject.noun is not None and subject.conjunct is None:
        verb.subject = subject.concept("head")
        verb.disagreeing = verb_form(stem, clause.tense, (gender, not plural), adnominal)
    if not clause.negated:
        return [verb]
    verb.chunk = "I-VP"
    return [*_word(NEGATION, "B-VP", clause.concept("negation"), "advmod", verb), verb]


def _noun_phrase(phrase: NounPhrase, case: str) -> list[TargetWord]:
    """A noun phrase in a case."""
    words: list[TargetWord] = []
    after: list[TargetWord] = []
    chunk = _simple_noun_phrase(phrase, case)
    noun = _head(chunk)
    for adjunct in phrase.adjuncts:
        genitive = adjunct.adposition is GENITIVE_PREPOSITION
        (words if genitive else after).extend(_hung(_adpositional_phrase(adjunct), "nmod", noun))
    if phrase.relative is not None:
        relative = phrase.relative
        concept = relative.concept("relativiser")
        if relative.gap == "object":
            words += _hung(_clause(relative), "acl:relcl", noun)
            # The verb's adnominal ending does what the relative pronoun of the source does.
            words[-1].concepts += (concept,)
        else:
            clause = _clause(relative)
            after += _word(RELATIVISER, "B-NP", concept, "nsubj", _head(clause))
            after += _hung(clause, "acl:relcl", noun)
    words += [*chunk, *after]
    if phrase.conjunct is not None:
        conjunct = _noun_phrase(phrase.conjunct, case)
        words += _word(COORDINATOR, "O", phrase.concept("coordinator"), "cc", _head(conjunct))
        words += _hung(conjunct, "conj", noun)
    return words


def _simple_noun_phrase(phrase: NounPhrase, case: str) -> list[TargetWord]:
    """A chunk: a noun with the words before it, or a pronoun."""
    agreement = phrase.gender, phrase.plural
    if phrase.noun is None:
        form = noun_form(PRONOUNS[agreement], False, case)
        return [TargetWord(form, "B-NP", (phrase.concept("head"),), upos="PRON")]
    words: list[TargetWord] = []
    nouns = _noun(phrase, case)
    noun = _head(nouns)
    if phrase.determiner in DETERMINERS:
        form = DETERMINERS[phrase.determiner][agreement]
        words += _word(form, "I-NP", phrase.concept("determiner"), "det", noun)
    if phrase.numeral is not None:
        words += _word(phrase.numeral[1], "I-NP", phrase.concept("numeral"), "nummod", noun)
    for place, adjective in enumerate(phrase.adjectives):
        form = adjective_form(adjective.target, agreement)
        words += _word(form, "I-NP", phrase.concept(f"adjective {place}"), "amod", noun)
    words += nouns
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
        words.append(TargetWord(form, "I-NP", (phrase.concept("compound"),), upos="ADJ"))
    elif first is not None:
        stem = compound_stem(first.target, stem)
        concepts = (phrase.concept("compound"), *concepts)
    # Numerals go with the singular, so there the noun itself does not show what the verb does.
    plural = phrase.plural and phrase.numeral is None
    noun = TargetWord(noun_form(stem, plural, case), "I-NP", concepts)
    return [*(_hung(words, "amod", noun) if words else ()), noun]


def _adpositional_phrase(phrase: AdpositionalPhrase) -> list[TargetWord]:
    """A noun phrase in the case its adposition asks for, and the postposition if there is one."""
    concept = phrase.governed.concept("adposition")
    case, postposition = phrase.adposition.renderings[phrase.governed.kind]
    words = _noun_phrase(phrase.governed, case)
    if postposition:
        return [*words, *_word(postposition, "B-PP", concept, "case", _head(words))]
    head = phrase.governed.concept("head")
    for word in words:
        if head in word.concepts:
            word.concepts += (concept,)  # the case ending stands for the preposition
    return words
