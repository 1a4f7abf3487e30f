"""Heads, constituents and chunks over other tokens: by hand, and by walks over random trees."""

import random
from itertools import accumulate
from pathlib import Path

import pytest
import trees_of

from syntax_nmt.data.annotation import HEADS, PHRASES
from syntax_nmt.data.annotation.formats import Place
from syntax_nmt.data.annotation_transfer import (
    OtherTextError,
    transfer_constituents,
    transfer_dependencies,
)
from syntax_nmt.data.constituents import format_tree, parse_tree
from syntax_nmt.data.dependency_tree import CONTINUATION, DependencyTree, MultiwordRange


def tree_of(words: str, heads: list[int], multiword: tuple[MultiwordRange, ...] = ()):
    """Heads as in CoNLL-U: from 1, 0 = root."""
    forms = tuple(words.split())
    whole = tuple(word if head == 0 else head - 1 for word, head in enumerate(heads))
    relations = tuple(f"r{word}" for word in range(1, len(heads) + 1))
    return DependencyTree(forms, whole, relations, relations, multiword)


ZUM = tree_of("geh zu dem Haus", [0, 4, 4, 1], (MultiwordRange(1, 3, "zum"),))

NAME = tree_of('on "_Acceso_radio_" .', [2, 0, 2])
ETC = tree_of("like tea etc , too", [0, 1, 2, 1, 1])
# Hebrew, "in 'Haaretz' it was written", whose first quote depends on the verb; "the IDF announced".
HAARETZ = tree_of('ב " ה ארץ " נכתב', [4, 6, 4, 6, 4, 0], (MultiwordRange(0, 4, 'ב"הארץ'),))
WITHIN = tree_of('ב_ "_ _ה_ _ארץ " נכתב', [4, 6, 4, 6, 4, 0], (MultiwordRange(0, 4, 'ב"הארץ'),))
IDF = tree_of('צה"ל הודיע , כי', [2, 0, 2, 2])


@pytest.mark.parametrize(
    ("tree", "tokens", "heads", "realigned", "non_constituent"),
    [
        (tree_of("I do n't eat", [4, 4, 4, 0]), "I do n't eat", [4, 4, 4, 0], False, 0),
        (tree_of("I do n't eat", [4, 4, 4, 0]), "I don &apos;t eat", [4, 4, 2, 0], True, 1),
        (tree_of("I do n't eat", [4, 4, 4, 0]), "I don't eat", [3, 3, 0], True, 1),
        (tree_of("a well-known cat", [3, 3, 0]), "a well @-@ known cat", [5, 5, 2, 2, 0], True, 0),
        (tree_of("a well - known cat", [5, 4, 4, 5, 0]), "a well-known cat", [3, 3, 0], True, 0),
        (tree_of("the ` ` end", [4, 4, 2, 0]), 'the " end', [3, 3, 0], True, 0),
        (tree_of("in U.S. .", [2, 0, 2]), "in U.S.", [2, 0], True, 0),
        (tree_of("` a b", [2, 3, 0]), "a b", [2, 0], True, 0),  # punctuation left out of the text
        (tree_of("a b", [2, 0]), "` a b", [2, 3, 0], True, 0),
        # Runs of punctuation of which the parse or the text lacks some: the words keep their heads.
        (ETC, "like tea etc. , too", [0, 1, 2, 1, 1], False, 0),
        (ETC, "like tea etc too", [0, 1, 2, 1], True, 1),
        (ETC, "like tea etc, too", [0, 1, 2, 1], True, 1),
        (tree_of('say " no " , he', [0, 1, 1, 1, 1, 1]), 'say " no , he', [0, 1, 1, 1, 1], True, 1),
        (tree_of("say 'Twas odd", [0, 3, 1]), "say ' , 'Twas odd", [0, 1, 1, 5, 1], True, 0),
        (tree_of("to me@b.de .", [2, 0, 1]), "to me @ b.de.", [2, 0, 2, 2], True, 1),
        (HAARETZ, 'ב"הארץ " נכתב', [3, 1, 0], False, 0),
        (HAARETZ, 'ב"הארץ" נכתב', [2, 0], True, 1),
        (HAARETZ, "ב &quot; הארץ &quot; נכתב", [3, 5, 5, 3, 0], True, 0),
        (HAARETZ, "ב״הארץ״ נכתב", [2, 0], True, 1),
        (HAARETZ, "ב הארץ נכתב", [2, 3, 0], True, 1),
        (HAARETZ, "בהארץ נכתב", [2, 0], True, 1),
        (WITHIN, 'ב"הארץ " נכתב', [3, 1, 0], False, 0),
        (WITHIN, 'ב " הארץ " , נכתב', [6, 1, 1, 1, 4, 0], True, 0),
        (IDF, "צה״ל הודיע , כי", [2, 0, 2, 2], False, 0),
        (IDF, "צה &quot; ל הודיע כי", [4, 1, 1, 0, 4], True, 0),
        (IDF, "צהל הודיע : , כי", [2, 0, 2, 2, 2], True, 0),
        (tree_of("pay $ 5 now", [0, 1, 2, 1]), "pay $5 now", [0, 1, 1], True, 0),
        (ZUM, "geh zum Haus", [0, 3, 1], False, 0),
        (ZUM, "geh zu dem Haus", [0, 4, 4, 1], False, 0),
        (ZUM, "geh zum Ha us", [0, 3, 1, 3], True, 0),
        (ZUM, "geh zumHaus", [0, 1], True, 0),
        (tree_of("pay 5 now", [0, 1, 1]), "pay <num> now", [0, 1, 1], False, 0),
        (tree_of("costs $ 5 m .", [0, 1, 4, 2, 1]), "costs € 5 m .", [0, 1, 4, 2, 1], False, 0),
        (NAME, 'on " Acceso radio " .', [2, 0, 2, 2, 2, 2], True, 0),
    ],
)
def test_heads_by_hand(tree, tokens, heads, realigned, non_constituent):
    found = transfer_dependencies(tree, tokens.split())
    over = found.annotation
    assert (found.realigned, found.non_constituent) == (realigned, non_constituent)
    whole = over if len(over) == len(heads) else over.collapse(len(heads))
    expected = [word if head == 0 else head - 1 for word, head in enumerate(heads)]
    assert list(whole.heads) == expected


def test_the_rest_of_a_word_goes_with_it():
    over = transfer_dependencies(
        tree_of("a well-known cat", [3, 3, 0]), ["a", "well-", "known", "cat"]
    )
    assert over.annotation.relations == ("r1", "r2", CONTINUATION, "r3")
    assert over.annotation.words == ("a", "well-", "known", "cat")


@pytest.mark.parametrize(
    ("words", "tokens"),
    [
        ("a b c d", "a x y d"),  # half may differ …
        ("do n't say 5 U.S.", "don't say <num> U.S ."),  # … but not as other tokens
        ("one two three", "four five six"),
        ("a b", "a b c"),
    ],
)
def test_other_sentences_are_not_carried_over(words, tokens):
    heads = [0] + [1] * (len(words.split()) - 1)
    found = transfer_dependencies(tree_of(words, heads), tokens.split())
    assert (found is None) == (words != "a b c d")


def test_heads_over_random_cuts_are_trees():
    """Oracle: each token's word is the one that fewest steps lead up from; one root, no circle."""
    rng = random.Random(2)
    for _ in range(1000):
        text = "".join(rng.choice("abcd.,'") for _ in range(rng.randint(2, 12)))
        words, tokens = (trees_of.random_cuts(rng, text) for _ in range(2))
        tree = trees_of.tree_of(trees_of.random_heads(rng, len(words)), words)
        over = transfer_dependencies(tree, tokens).annotation
        assert trees_of.is_tree(over.heads)
        begins = [list(accumulate(map(len, parts[:-1]), initial=0)) for parts in (words, tokens)]
        for token, head in enumerate(trees_of.heads_of_tokens(tree, *begins, tokens)):
            if head is not None:
                assert over.heads[token] == head
            else:
                assert over.relations[token] == CONTINUATION


@pytest.mark.parametrize(
    ("tree", "tokens", "expected", "non_constituent"),
    [
        ("(S (N a) (V b))", "a b", "(S (N a) (V b))", 0),
        ("(S (N it) (V 's))", "It &apos;s", "(S (N it) (V 's))", 0),
        (
            "(S (NP (J well-known) (N cat)) (V sat))",
            "well @-@ known cat sat",
            "(S (NP (J (J well) (J @-@) (J known)) (N cat)) (V sat))",
            0,
        ),
        (
            "(S (VP (V do) (R n't) (VP (V go))) (. .))",
            "don't go.",
            "(S (VP (V don't) (VP (V go.))))",
            1,
        ),
        ("(S (NP (N John)) (VP (V 's) (A up)))", "John's up", "(S (NP (N John's)) (VP (A up)))", 1),
        ("(S (NP (N a) (N b)) (V c))", "ab c", "(S (NP (N ab)) (V c))", 0),
        ("(S (NP (N a)) (. .) (. .))", "a .", "(S (NP (N a)) (. .))", 0),
        ("(S (NP (N tea)) (, ,) (V ate))", "tea ate", "(S (NP (N tea)) (V ate))", 0),
        ("(S (NP (N tea)) (, ,) (V ate))", "tea. , ate", "(S (NP (N tea)) (, ,) (V ate))", 0),
        ("(S (`` ``) (NP (N tea)) (V ate))", '"tea ate', '(S (NP (N "tea)) (V ate))', 0),
        ("(S (P to) (N me@b) (. .))", "to me@ b.", "(S (P to) (N (N me@) (N b.)))", 0),
        ("(NP ($ $) (QP (CD 5) (CD m)))", "€ 5 m", "(NP ($ $) (QP (CD 5) (CD m)))", 0),
        (
            '(PP (P on) (NP (N "_Acceso_radio_")) (. .))',
            'on "Acceso radio" .',
            '(PP (P on) (NP (N (N "Acceso) (N radio"))) (. .))',
            0,
        ),
        ("(NP ($ $) (QP (CD 5) (CD m)))", "$5 m", "(NP (QP (CD $5) (CD m)))", 1),
        (  # marks that no word has
            "(S (NP (D the) (N cat)) (V sat) (. .))",
            "« the ca t » sat .",
            "(S (NP (W «) (D the) (N (N ca) (N t)) (W »)) (V sat) (. .))",
            0,
        ),
        ("(S (N cat) (V sat))", "c * a t sat", "(S (N (N c) (W *) (N a) (N t)) (V sat))", 0),
        ("(N cat)", "« cat »", "(N (W «) (N cat) (W »))", 0),
    ],
)
def test_constituents_by_hand(tree, tokens, expected, non_constituent):
    found = transfer_constituents(parse_tree(tree, "t", 1), tokens.split())
    assert format_tree(found.annotation) == expected
    assert found.non_constituent == non_constituent
    if found.realigned:
        assert parse_tree(format_tree(found.annotation), "t", 1).words == tuple(tokens.split())


def test_the_same_number_of_words_is_no_reason():
    with pytest.raises(OtherTextError, match="words of other characters than the text"):
        PHRASES.format.read("(S (A a) (B b))", ["c", "d"], Place(Path("t.trees"), 1), "train.src:1")


@pytest.mark.parametrize("tokens", [[], ["\u200c"]])
@pytest.mark.parametrize(
    ("kind", "entry"),
    [(HEADS, ["1\t  \t_\t_\t_\t_\t0\troot\t_\t_"]), (PHRASES, "(S (X \u200b))")],
)
def test_no_character_on_either_side_is_no_annotation(kind, entry, tokens):
    """As some parsers have it of a line of spaces."""
    place = Place(Path("train.src.annotation"), 1)
    assert kind.format.read(entry, tokens, place, "train.src:1") is None
    with pytest.raises(
        OtherTextError, match=r"the parse has 1 words, the text \(train.src:1\) has 2"
    ):
        kind.format.read(entry, ["a", "b"], place, "train.src:1")
