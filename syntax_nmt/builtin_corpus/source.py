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
    NounPhrase,
    Phrase,
    Sentence,
    Word,
)

DETERMINERS = {"definite": "lo", "indefinite": "un", "demonstrative": "dis"}
PRONOUNS = dict(zip(AGREEMENTS, ("el", "ela", "els", "elas")))
PAST_ENDING, PLURAL_ENDING, FUTURE_AUXILIARY = "ta", "s", "vol"
NEGATION, COORDINATOR, COMPLEMENTISER = "no", "e", "da"
PERSON_RELATIVISER, OTHER_RELATIVISER = "ki", "ke"

Parts = list[tuple[str, Constituent]]


def source_tree(sentence: Sentence) -> Phrase:
    """The sentence in the source language, as a constituency tree with marked heads.

    Args:
        sentence: what to say.
    """
    main = _clause(sentence.main)
    if sentence.second is None:
        return Phrase("S", [*main.parts, _stop()])
    second = _clause(sentence.second)
    if sentence.link == "coordinated":
        coordinator = Word(COORDINATOR, COORDINATOR, "CCONJ", "CC", concepts=((0, "link"),))
        # The comma and coordinator depend on the second clause, as Universal Dependencies has it.
        joined = Phrase("S", [("punct", _comma()), ("cc", coordinator), (HEAD, second)])
        return Phrase("S", [(HEAD, main), ("conj", joined), _stop()])
    form = sentence.subordinator[0]
    mark = Word(form, form, "SCONJ", "IN", concepts=((0, "link"),))
    subordinate = Phrase("SBAR", [("mark", mark), (HEAD, second)])
    if sentence.link == "subordinated after":
        return Phrase("S", [(HEAD, main), ("advcl", subordinate), _stop()])
    return Phrase("S", [("advcl", subordinate), ("punct", _comma()), *main.parts, _stop()])


def _stop() -> tuple[str, Word]:
    """The full stop."""
    return "punct", Word(".", ".", "PUNCT", ".", concepts=((0, "stop"),))


def _comma() -> Word:
    """A comma after a topic or subordinate clause, or between coordinated clauses."""
    return Word(",", ",", "PUNCT", ",", concepts=((0, "comma"),))


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
        negation = Word(
            NEGATION, NEGATION, "PART", "RB", "Polarity=Neg", (clause.concept("negation"),)
        )
        parts.append(("advmod", negation))
    if clause.tense == "Fut":
        auxiliary = Word(
            FUTURE_AUXILIARY, FUTURE_AUXILIARY, "AUX", "MD", "Tense=Fut", (clause.concept("verb"),)
        )
        parts.append(("aux", auxiliary))
    if clause.adverb is not None:
        stem = clause.adverb.source
        adverb = Word(stem, stem, "ADV", "RB", concepts=(clause.concept("adverb"),))
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
        mark = Word(COMPLEMENTISER, COMPLEMENTISER, "SCONJ", "IN", concepts=(concept,))
        complement = Phrase("SBAR", [("mark", mark), (HEAD, _clause(clause.complement))])
        parts.append(("ccomp", complement))
    return Phrase("VP", parts)


def _verb(clause: Clause) -> Word:
    """The verb, which shows tense but does not agree."""
    stem, concept = clause.verb.source, clause.concept("verb")
    if clause.tense == "Fut":
        return Word(stem, stem, "VERB", "VB", "VerbForm=Inf", (concept,))
    if clause.tense == "Past":
        return Word(stem + PAST_ENDING, stem, "VERB", "VBD", "Tense=Past|VerbForm=Fin", (concept,))
    return Word(stem, stem, "VERB", "VBP", "Tense=Pres|VerbForm=Fin", (concept,))


def _noun_phrase(phrase: NounPhrase) -> Phrase:
    """A noun phrase; each layer of modification is a phrase of its own around the simple one."""
    found = _simple_noun_phrase(phrase)
    if phrase.conjunct is not None:
        concept = phrase.concept("coordinator")
        coordinator = Word(COORDINATOR, COORDINATOR, "CCONJ", "CC", concepts=(concept,))
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
    concept = clause.concept("relativiser")
    pronoun = Word(form, form, "PRON", "WP", "PronType=Rel", (concept,))
    relation = "nsubj" if clause.gap == "subject" else "obj"
    fronted = Phrase("WHNP", [(HEAD, pronoun)])
    return Phrase("SBAR", [(relation, fronted), (HEAD, _clause(clause))])


def _simple_noun_phrase(phrase: NounPhrase) -> Phrase:
    """A noun with the words before it, or a pronoun."""
    if phrase.noun is None:
        form = PRONOUNS[phrase.gender, phrase.plural]
        feats = f"Gender={phrase.gender}|{_number(phrase)}|PronType=Prs"
        pronoun = Word(form, form, "PRON", "PRP", feats, (phrase.concept("head"),))
        return Phrase("NP", [(HEAD, pronoun)])
    parts: Parts = []
    form = DETERMINERS.get(phrase.determiner, "")
    if phrase.plural and phrase.determiner == "indefinite":
        form = ""
    if form:
        concept = phrase.concept("determiner")
        parts.append(("det", Word(form, form, "DET", "DT", concepts=(concept,))))
    if phrase.numeral is not None:
        form, concept = phrase.numeral[0], phrase.concept("numeral")
        parts.append(("nummod", Word(form, form, "NUM", "CD", concepts=(concept,))))
    for place, adjective in enumerate(phrase.adjectives):
        stem, concept = adjective.source, phrase.concept(f"adjective {place}")
        parts.append(("amod", Word(stem, stem, "ADJ", "JJ", concepts=(concept,))))
    return Phrase("NP", [*parts, (HEAD, _noun(phrase))])


def _noun(phrase: NounPhrase) -> Word:
    """The noun; a compound is one word with its head last."""
    assert phrase.noun is not None
    if phrase.noun.proper:
        name = phrase.noun.source
        return Word(name, name, "PROPN", "NNP", "Number=Sing", (phrase.concept("head"),))
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
    form = phrase.adposition.source
    concept = phrase.governed.concept("adposition")
    preposition = Word(form, form, "ADP", "IN", concepts=(concept,))
    return Phrase("PP", [("case", preposition), (HEAD, _noun_phrase(phrase.governed))])
