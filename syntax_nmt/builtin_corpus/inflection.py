"""The forms of target words: case and number of nouns, agreement of what goes with them."""

from syntax_nmt.builtin_corpus.syntax import Agreement

VOWELS = "aeiouöü"
CASE_ENDINGS = {"Nom": "", "Acc": "m", "Gen": "s", "Dat": "k", "Loc": "t"}
TENSE_ENDINGS = {"Pres": "", "Past": "ed", "Fut": "is"}
AGREEMENTS: tuple[Agreement, ...] = (("Masc", False), ("Fem", False), ("Masc", True), ("Fem", True))
VERB_AGREEMENT = dict(zip(AGREEMENTS, ("un", "ane", "uri", "are")))
ADJECTIVE_AGREEMENT = dict(zip(AGREEMENTS, ("o", "a", "oi", "ai")))
DETERMINERS = {
    "definite": dict(zip(AGREEMENTS, ("do", "da", "doi", "dai"))),
    "demonstrative": dict(zip(AGREEMENTS, ("tuo", "tua", "tui", "tue"))),
}
PRONOUNS = dict(zip(AGREEMENTS, ("hen", "hena", "heni", "henai")))
ADNOMINAL_ENDING = "k"
"""Closes the verb of a relative clause that stands before its noun."""


def noun_form(stem: str, plural: bool, case: str) -> str:
    """A noun's number and case: stem, plural `r`, case ending, with `o` between consonants.

    Args:
        stem: in the singular nominative.
        plural: whether to mark the plural.
        case: `Nom`, `Acc`, `Gen`, `Dat` or `Loc`.
    """
    form = stem
    for ending in ("r" if plural else "", CASE_ENDINGS[case]):
        if ending:
            form += ending if form[-1] in VOWELS else "o" + ending
    return form


def compound_stem(first: str, head: str) -> str:
    """A compound noun: both stems with `z` between them.

    Args:
        first: what modifies.
        head: what the compound is, and inflects like.
    """
    return first + ("z" if first[-1] in VOWELS else "oz") + head


def adjective_form(stem: str, agreement: Agreement) -> str:
    """An adjective, which agrees with its noun in gender and number.

    Args:
        stem: without ending.
    """
    return stem + ADJECTIVE_AGREEMENT[agreement]


def verb_form(stem: str, tense: str, agreement: Agreement, adnominal: bool) -> str:
    """A verb, which agrees with its subject in gender and number.

    Args:
        stem: without endings.
        tense: `Pres`, `Past` or `Fut`.
        adnominal: whether its clause stands before the noun that it modifies.
    """
    ending = VERB_AGREEMENT[agreement] + (ADNOMINAL_ENDING if adnominal else "")
    return stem + TENSE_ENDINGS[tense] + ending
