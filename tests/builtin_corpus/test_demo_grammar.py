"""What the languages promise: agreement by structure, and attachments that words decide."""

import re

import pytest
from commands import syntax_nmt
from demo_files import SIZES, all_nouns, all_verbs, noun_of, options, read_conllu, read_lines

from syntax_nmt.builtin_corpus.generalisation import SPLITS
from syntax_nmt.builtin_corpus.lexicon import lexicon

AGREEMENT = {
    "un": ("Masc", "Sing"),
    "ane": ("Fem", "Sing"),
    "uri": ("Masc", "Plur"),
    "are": ("Fem", "Plur"),
}
VERB = re.compile(r"(?P<stem>.+?)(?P<tense>ed|is|)(?P<ending>un|ane|uri|are)k?")
FUNCTION_WORDS = [
    *("lo", "un", "dis", "el", "ela", "els", "elas", "vol", "no", "e", "da", "ki", "ke"),
    *("de", "a", "kon", "sur", "bai", "en", "por", "tra", "ante", "kuan", "perke", "malgra"),
    *("du", "tri", "vin"),
]
NOMINALS = {"NOUN", "PROPN"}


def extensions_of(token):
    """Gender and number of a noun or pronoun, the gender from the lexicon if it is a noun."""
    features = dict(pair.split("=") for pair in token.feats.split("|"))
    gender = noun_of(token.lemma).gender if token.upos in NOMINALS else features["Gender"]
    return gender, features["Number"]


def subject_features(tokens, verb):
    """Gender and number that the dependency tree asks of a verb."""
    (subject,) = (t for t in tokens if t.head == verb.position and t.relation == "nsubj")
    if "PronType=Rel" in subject.feats:
        assert verb.relation == "acl:relcl"
        subject = tokens[verb.head - 1]
    conjuncts = [t for t in tokens if t.head == subject.position and t.relation == "conj"]
    found = [extensions_of(token) for token in (subject, *conjuncts)]
    if not conjuncts:
        return found[0]
    return ("Fem" if all(gender == "Fem" for gender, _ in found) else "Masc"), "Plur"


def corpus_with_alignments(corpus, split):
    """For each sentence the source's tokens, the target's words, and where each token goes."""
    lines = read_lines(corpus / f"{split}.align")
    targets = read_lines(corpus / f"{split}.tgt")
    for tokens, target, line in zip(read_conllu(corpus / f"{split}.src.conllu"), targets, lines):
        links = [tuple(map(int, link.split("-"))) for link in line.split()]
        yield tokens, target.split(), links


def test_every_verb_of_the_target_agrees_with_the_subject_in_the_tree(corpus):
    verbs = 0
    for tokens, words, links in corpus_with_alignments(corpus, "train"):
        for token in tokens:
            if token.upos == "VERB":
                (form,) = (words[j] for i, j in links if i == token.position - 1)
                ending = VERB.fullmatch(form)["ending"]
                assert AGREEMENT[ending] == subject_features(tokens, token), (token, words)
                verbs += 1
    assert verbs > 600


def test_nouns_that_attract_the_wrong_agreement_often_intervene(corpus):
    """Else agreement with the nearest noun would do, and syntax would not matter."""
    attracted = total = 0
    for tokens in read_conllu(corpus / "train.src.conllu"):
        for token in tokens:
            before = [t for t in tokens[: token.position - 1] if t.upos in NOMINALS]
            if token.upos == "VERB" and before:
                total += 1
                attracted += extensions_of(before[-1]) != subject_features(tokens, token)
    assert attracted / total > 0.15


def test_prepositions_and_relative_clauses_attach_as_their_words_say(corpus):
    seen = set()
    for split in ("train", "valid", "test"):
        for tokens in read_conllu(corpus / f"{split}.src.conllu"):
            for token in tokens:
                if token.relation == "case" or token.form in ("ki", "ke"):
                    attached = tokens[tokens[token.head - 1].head - 1]
                    assert attached is expected_attachment(tokens, token), (token, tokens)
                    seen.add(token.form)
    assert seen == {"de", "a", "kon", "sur", "bai", "en", "por", "tra", "ante", "ki", "ke"}


def expected_attachment(tokens, word):
    """What a preposition's or relative pronoun's phrase depends on, from the words before it."""
    before = tokens[: word.position - 1][::-1]
    nouns = [t for t in before if t.upos in NOMINALS]
    if word.form in ("de", "sur", "bai"):
        return nouns[0]
    if word.form in ("kon", "ki"):
        return next(t for t in nouns if noun_of(t.lemma).kind == "person")
    if word.form == "ke":
        return next(t for t in nouns if noun_of(t.lemma).kind != "person")
    root = next(t for t in tokens if t.head == 0)
    return next((t for t in before if t.upos == "VERB"), root)


def test_ambiguous_verbs_are_translated_after_their_object(corpus):
    translations = {}
    for tokens, words, links in corpus_with_alignments(corpus, "train"):
        for token in tokens:
            objects = [t for t in tokens if t.head == token.position and t.relation == "obj"]
            if token.upos == "VERB" and objects and objects[0].upos in NOMINALS:
                (form,) = (words[j] for i, j in links if i == token.position - 1)
                person = noun_of(objects[0].lemma).kind == "person"
                stems = translations.setdefault((token.lemma, person), set())
                stems.add(VERB.fullmatch(form)["stem"])
    assert all(len(stems) == 1 for stems in translations.values())
    lemmas = {lemma for lemma, _ in translations}
    ambiguous = [
        lemma
        for lemma in lemmas
        if translations.get((lemma, True), set()) != translations.get((lemma, False), set())
        and (lemma, True) in translations
        and (lemma, False) in translations
    ]
    assert len(ambiguous) >= 5


def test_contrastive_pairs_differ_in_the_number_of_one_verb(corpus):
    correct = read_lines(corpus / "contrast.correct.tgt")
    incorrect = read_lines(corpus / "contrast.incorrect.tgt")
    distances = list(map(int, read_lines(corpus / "contrast.distance")))
    assert len(read_lines(corpus / "contrast.src")) == len(distances) == 120
    stems = {stem for verb in all_verbs() for stem in (verb.target, verb.target_of_person)}
    for right, wrong, distance in zip(correct, incorrect, distances, strict=True):
        pairs = list(zip(right.split(), wrong.split(), strict=True))
        ((place, (good, bad)),) = ((j, pair) for j, pair in enumerate(pairs) if pair[0] != pair[1])
        good, bad = VERB.fullmatch(good), VERB.fullmatch(bad)
        assert good["stem"] in stems
        assert (good["stem"], good["tense"]) == (bad["stem"], bad["tense"])
        (gender, number), (same, other) = AGREEMENT[good["ending"]], AGREEMENT[bad["ending"]]
        assert gender == same
        assert number != other
        # At that distance, on one side or the other, there is a noun of the right form's gender.
        words, offset = [""] * 40 + right.split() + [""] * 40, place + 40
        subjects = words[offset - distance - 1], words[offset + distance + 1]
        assert any(is_noun(word, gender) for word in subjects), (right, distance)


def test_contrastive_pairs_cover_short_and_long_distances(corpus):
    distances = list(map(int, read_lines(corpus / "contrast.distance")))
    assert sum(distance == 0 for distance in distances) >= 10
    assert sum(distance >= 8 for distance in distances) >= 30
    assert max(distances) >= 15


def is_noun(form, gender):
    """Whether a word is a noun of a gender in some case, alone or closing a compound."""
    nouns = [*all_nouns(), *lexicon().names.items]
    stems = [noun.target for noun in nouns if noun.gender == gender]
    return any(re.search(stem + "(o?r)?(o?[mskt])?$", form) for stem in stems)


def test_no_form_of_the_source_is_two_words():
    words, nouns, verbs = lexicon(), all_nouns(), all_verbs()
    forms = [noun.source + ending for noun in nouns for ending in ("", "s")]
    forms += [verb.source + ending for verb in verbs for ending in ("", "ta")]
    forms += [word.source for word in (*words.adjectives.items, *words.adverbs.items)]
    with_function_words = FUNCTION_WORDS + forms
    assert len(with_function_words) == len(set(with_function_words))
    assert len(nouns) + len(verbs) > 100


def _arcs_to_root(tokens, token):
    """The token and those above it."""
    above = [token]
    while above[-1].head:
        above.append(tokens[above[-1].head - 1])
    return above


def _nesting(source):
    nested = []
    for token in source:
        above = [each.relation for each in _arcs_to_root(source, token)]
        nested.append(above.count("nmod") + above.count("acl:relcl"))
    return max(nested)


def _modified_subjects(source):
    return sum(
        token.relation in ("nmod", "acl:relcl") and source[token.head - 1].relation == "nsubj"
        for token in source
        if token.head
    )


def _farthest_agreement(target):
    """Words between a verb and the noun it agrees with, or what stands for that noun."""
    farthest = -1
    for token in target:
        if token.relation == "nsubj":
            verb, noun = target[token.head - 1], token
            if token.form == "hau":
                noun = target[verb.head - 1]
            farthest = max(farthest, abs(verb.position - noun.position) - 1)
    return farthest


def _subjects(source):
    """Lemmas of nouns that are subjects, coordinated ones included."""
    found = set()
    for token in source:
        above = _arcs_to_root(source, token)
        role = above[1] if token.relation == "conj" else above[0]
        if token.upos == "NOUN" and role.relation == "nsubj":
            found.add(noun_of(token.lemma).source)
    return found


HELD_BACK = {noun.source for kind in lexicon().nouns.values() for noun in kind.items[3::4]}
FINDERS = {
    "length": lambda source, target: len(source) > 16,
    "depth": lambda source, target: max(len(_arcs_to_root(source, t)) - 1 for t in source) > 3,
    "nesting": lambda source, target: _nesting(source) > 1,
    "relations": lambda source, target: _modified_subjects(source) > 0,
    "agreement": lambda source, target: _farthest_agreement(target) > 6,
    "lexical": lambda source, target: not HELD_BACK.isdisjoint(_subjects(source)),
}


@pytest.mark.parametrize("split", SPLITS)
def test_only_the_left_out_sentences_have_what_a_split_leaves_out(split, tmp_path):
    """Found by the trees of the files."""
    syntax_nmt("demo", tmp_path / "corpus", *options(train=400), "--split", split)
    texts = []
    for name in ("train", "valid", "test", "left_out"):
        sides = [read_conllu(tmp_path / f"corpus/{name}.{side}.conllu") for side in ("src", "tgt")]
        assert len(sides[0]) == (SIZES | {"left_out": SIZES["test"], "train": 400})[name]
        for source, target in zip(*sides, strict=True):
            assert FINDERS[split](source, target) == (name == "left_out")
        texts.append({" ".join(token.form for token in source) for source in sides[0]})
    train, *held_out = texts
    assert all(train.isdisjoint(others) for others in held_out)
    assert len(set().union(*held_out)) == sum(map(len, held_out))


def test_a_lexical_split_has_each_held_back_noun_in_training_and_in_the_test(tmp_path):
    sizes = options(train=6000, test=600)
    syntax_nmt("demo", tmp_path / "corpus", *sizes, "--split", "lexical")
    sentences = read_conllu(tmp_path / "corpus/train.src.conllu")
    used = {token.lemma for tokens in sentences for token in tokens if token.upos == "NOUN"}
    assert used >= HELD_BACK
    left_out = read_conllu(tmp_path / "corpus/left_out.src.conllu")
    assert set().union(*map(_subjects, left_out)) >= HELD_BACK
