"""The source language: subject, verb, object; prepositions; relative clauses after the noun.

Verbs do not agree and nouns have no gender or case, so a translation must find each verb's subject
from word order.
"""

from syntax_nmt.builtin_corpus.inflection import AGREEMENTS
from syntax_nmt.builtin_corpus.lexicon import DATIVE_PREPOSITION, PERSON
from syntax_nmt.builtin_corpus.syntax import (
    HEAD,
    AdpositionalPhrase,
    Clause,
    Concept,
    Constituent,
    GeneratedSentence,
    NounPhrase,
    Phrase,
    Word,
)

DETERMINERS = {"definite": "lo", "indefinite": "un", "demonstrative": "dis"}
PRONOUNS = dict(zip(AGREEMENTS, ("el", "ela", "els", "elas")))
PAST_ENDING, PLURAL_ENDING, FUTURE_AUXILIARY = "ta", "s", "vol"
NEGATION, COORDINATOR, COMPLEMENTISER = "no", "e", "da"
PERSON_RELATIVISER, OTHER_RELATIVISER = "ki", "ke"

Parts = list[tuple[str, Constituent]]


def source_tree(sentence: GeneratedSentence) -> Phrase:
    """The sentence in the source language, as a constituency tree with marked heads.

    Args:
        sentence: what to say.
    """
    main = _clause(sentence.main)
    if sentence.second is None:
        return Phrase("S", [*main.parts, _stop()])
    second = _clause(sentence.second)
    if sentence.link == "coordinated":
        coordinator = _uninflected(COORDINATOR, "CCONJ", "CC", (0, "link"))
        # The comma and coordinator depend on the second clause, as Universal Dependencies has it.
        joined = Phrase("S", [("punct", _comma()), ("cc", coordinator), (HEAD, second)])
        return Phrase("S", [(HEAD, main), ("conj", joined), _stop()])
    mark = _uninflected(sentence.subordinator[0], "SCONJ", "IN", (0, "link"))
    subordinate = Phrase("SBAR", [("mark", mark), (HEAD, second)])
    if sentence.link == "subordinated after":
        return Phrase("S", [(HEAD, main), ("advcl", subordinate), _stop()])
    return Phrase("S", [("advcl", subordinate), ("punct", _comma()), *main.parts, _stop()])


def _uninflected(form: str, upos: str, xpos: str, concept: Concept, feats: str = "_") -> Word:
    """A word whose form is its lemma."""
    return Word(form, form, upos, xpos, feats, (concept,))


def _stop() -> tuple[str, Word]:
    """The full stop."""
    return "punct", _uninflected(".", "PUNCT", ".", (0, "stop"))


def _comma() -> Word:
    """A comma after a topic or subordinate clause, or between coordinated clauses."""
    return _uninflected(",", "PUNCT", ",", (0, "comma"))


def _clause(clause: Clause) -> Phrase:
    """A clause: what is not in its gap."""
    parts: Parts = []
    if clause.topic is not None:
        parts += [("obl", _adpositional_phrase(clause.topic)), ("punct", _comma())]
    if clause.gap != "subject":
        parts.append(("nsubj", _noun_phrase(clause.subject)))
    parts.append((HEAD, _verb_phrase(clause)))
    return Phrase("S", parts)


def _verb_phrase(clause: Clause) -> Phrase:
    """Negation, auxiliary, adverb and verb, then the arguments and adjuncts."""
    parts: Parts = []
    if clause.negated:
        concept = clause.concept("negation")
        parts.append(("advmod", _uninflected(NEGATION, "PART", "RB", concept, "Polarity=Neg")))
    if clause.tense == "Fut":
        concept = clause.concept("verb")
        parts.append(("aux", _uninflected(FUTURE_AUXILIARY, "AUX", "MD", concept, "Tense=Fut")))
    if clause.adverb is not None:
        adverb = _uninflected(clause.adverb.source, "ADV", "RB", clause.concept("adverb"))
        parts.append(("advmod", Phrase("ADVP", [(HEAD, adverb)])))
    parts.append((HEAD, _verb(clause)))
    if clause.object is not None and clause.gap != "object":
        parts.append(("obj", _noun_phrase(clause.object)))
    if clause.recipient is not None:
        dative = AdpositionalPhrase(DATIVE_PREPOSITION, clause.recipient)
        parts.append(("obl", _adpositional_phrase(dative)))
    parts += [("obl", _adpositional_phrase(adjunct)) for adjunct in clause.adjuncts]
    if clause.complement is not None:
        concept = clause.complement.concept("complementiser")
        mark = _uninflected(COMPLEMENTISER, "SCONJ", "IN", concept)
        complement = Phrase("SBAR", [("mark", mark), (HEAD, _clause(clause.complement))])
        parts.append(("ccomp", complement))
    return Phrase("VP", parts)


def _verb(clause: Clause) -> Word:
    """The verb, which shows tense but does not agree."""
    stem, concept = clause.verb.source, clause.concept("verb")
    if clause.tense == "Fut":
        return _uninflected(stem, "VERB", "VB", concept, "VerbForm=Inf")
    if clause.tense == "Past":
        return Word(stem + PAST_ENDING, stem, "VERB", "VBD", "Tense=Past|VerbForm=Fin", (concept,))
    return _uninflected(stem, "VERB", "VBP", concept, "Tense=Pres|VerbForm=Fin")


def _noun_phrase(phrase: NounPhrase) -> Phrase:
    """A noun phrase; each layer of modification is a phrase of its own around the simple one."""
    found = _simple_noun_phrase(phrase)
    if phrase.conjunct is not None:
        coordinator = _uninflected(COORDINATOR, "CCONJ", "CC", phrase.concept("coordinator"))
        second = _simple_noun_phrase(phrase.conjunct)
        joined = Phrase("NP", [("cc", coordinator), (HEAD, second)])
        return Phrase("NP", [(HEAD, found), ("conj", joined)])
    for adjunct in phrase.adjuncts:
        found = Phrase("NP", [(HEAD, found), ("nmod", _adpositional_phrase(adjunct))])
    if phrase.relative is not None:
        relative = _relative_clause(phrase.relative, phrase)
        found = Phrase("NP", [(HEAD, found), ("acl:relcl", relative)])
    return found


def _relative_clause(clause: Clause, modified: NounPhrase) -> Phrase:
    """A relative pronoun, and the clause with its gap."""
    form = PERSON_RELATIVISER if modified.kind == PERSON else OTHER_RELATIVISER
    pronoun = _uninflected(form, "PRON", "WP", clause.concept("relativiser"), "PronType=Rel")
    relation = "nsubj" if clause.gap == "subject" else "obj"
    fronted = Phrase("WHNP", [(HEAD, pronoun)])
    return Phrase("SBAR", [(relation, fronted), (HEAD, _clause(clause))])


def _simple_noun_phrase(phrase: NounPhrase) -> Phrase:
    """A noun with the words before it, or a pronoun."""
    if phrase.noun is None:
        form = PRONOUNS[phrase.gender, phrase.plural]
        feats = f"Gender={phrase.gender}|{_number(phrase)}|PronType=Prs"
        pronoun = _uninflected(form, "PRON", "PRP", phrase.concept("head"), feats)
        return Phrase("NP", [(HEAD, pronoun)])
    parts: Parts = []
    form = DETERMINERS.get(phrase.determiner, "")
    if phrase.plural and phrase.determiner == "indefinite":
        form = ""
    if form:
        parts.append(("det", _uninflected(form, "DET", "DT", phrase.concept("determiner"))))
    if phrase.numeral is not None:
        numeral = _uninflected(phrase.numeral[0], "NUM", "CD", phrase.concept("numeral"))
        parts.append(("nummod", numeral))
    for place, adjective in enumerate(phrase.adjectives):
        concept = phrase.concept(f"adjective {place}")
        parts.append(("amod", _uninflected(adjective.source, "ADJ", "JJ", concept)))
    return Phrase("NP", [*parts, (HEAD, _noun(phrase))])


def _noun(phrase: NounPhrase) -> Word:
    """The noun; a compound is one word with its head last."""
    assert phrase.noun is not None
    if phrase.noun.proper:
        name, concept = phrase.noun.source, phrase.concept("head")
        return _uninflected(name, "PROPN", "NNP", concept, "Number=Sing")
    concepts: tuple[Concept, ...] = (phrase.concept("head"),)
    lemma = phrase.noun.source
    if phrase.compound is not None:
        lemma = phrase.compound.source + lemma
        concepts = (phrase.concept("compound"), *concepts)
    form = lemma + PLURAL_ENDING if phrase.plural else lemma
    return Word(form, lemma, "NOUN", "NNS" if phrase.plural else "NN", _number(phrase), concepts)


def _number(phrase: NounPhrase) -> str:
    """The feature for a phrase's number."""
    return "Number=Plur" if phrase.plural else "Number=Sing"


def _adpositional_phrase(phrase: AdpositionalPhrase) -> Phrase:
    """A preposition and what it governs, which heads the phrase in dependencies."""
    concept = phrase.governed.concept("adposition")
    preposition = _uninflected(phrase.adposition.source, "ADP", "IN", concept)
    return Phrase("PP", [("case", preposition), (HEAD, _noun_phrase(phrase.governed))])
