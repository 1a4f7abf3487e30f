"""Columns of CoNLL-U as annotation: their values, ids and tensors."""

from collections import Counter

import numpy as np
import pytest

from syntax_nmt.data.annotation.columns import (
    COLUMNS,
    DEPREL,
    FEATS,
    LEMMA,
    UPOS,
    XPOS,
    check_columns,
    loading_options,
)
from syntax_nmt.data.annotation.formats import Place
from syntax_nmt.data.annotation.heads import HEADS
from syntax_nmt.data.annotation.kind import BatchedText
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.errors import UserError

PLACE = Place("a.conllu", 1)
ZUM = """\
1\tgeh\tgehen\tVERB\tVVIMP\tMood=Imp\t0\troot\t_\t_
2-3\tzum\t_\t_\t_\t_\t_\t_\t_\t_
2\tzu\tzu\tADP\tAPPR\t_\t4\tcase\t_\t_
3\tdem\tder\tDET\tART\tCase=Dat|Gender=Neut\t2\tdet\t_\t_
4\tHaus\tHaus\tNOUN\tNN\tCase=Dat|Gender=Neut\t1\tobl\t_\t_"""


def values(column, text, words):
    """The values of a block over the words of a corpus line."""
    tree = column.format.parse(text.splitlines(), PLACE)
    return column.values(column.format.transfer(tree, words.split(), PLACE, "a:1").annotation)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (UPOS, "VERB ADP DET NOUN"),
        (XPOS, "VVIMP APPR ART NN"),
        (DEPREL, "root case det obl"),
        (FEATS, "Mood=Imp _ Case=Dat|Gender=Neut Case=Dat|Gender=Neut"),
        (LEMMA, "gehen zu der Haus"),
    ],
)
def test_each_column_is_read(column, expected):
    assert values(column, ZUM, "geh zu dem Haus") == tuple(expected.split())


@pytest.mark.parametrize(
    ("column", "expected"),
    [(UPOS, "VERB ADP NOUN"), (DEPREL, "root case obl"), (LEMMA, "gehen zu Haus")],
)
def test_a_token_of_several_words_has_the_values_of_the_highest(column, expected):
    assert values(column, ZUM, "geh zum Haus") == tuple(expected.split())


@pytest.mark.parametrize(
    ("form", "tokens", "continuing"),
    [
        ("cat", "c at", (0, 1)),
        ("bắt chuyện", "bắt chuyện", (0, 1)),  # a word of several tokens in every text
        ("well-known", "well @-@ known", (0, 1, 2)),
        ("mode,", "mode ,", (0, 1)),
        ("26 000", "26 000 .", (0, 1)),  # the parse has no full stop
        ("cat", '" c at "', (1, 2)),
    ],
)
def test_a_token_that_continues_a_word(form, tokens, continuing):
    """As `goeswith` of its head, with its word's values; a mark that the word lacks has none."""
    text = f"1\t{form}\tcat\tNOUN\tNN\tNumber=Sing\t0\troot\t_\t_"
    found = {column: values(column, text, tokens) for column in COLUMNS}
    size = len(tokens.split())
    for column, value, none in (
        (UPOS, "NOUN", "X"), (XPOS, "NN", "_"), (FEATS, "Number=Sing", "_"), (LEMMA, "cat", "_"),
    ):  # fmt: skip
        assert found[column] == tuple(value if i in continuing else none for i in range(size))
    first = continuing[0]
    assert found[DEPREL] == tuple("root" if i == first else "goeswith" for i in range(size))


def test_a_token_continues_the_last_word_of_the_one_before():
    text = "1\tdo\tdo\tAUX\t_\t_\t0\troot\t_\t_\n2\tn't\tnot\tPART\t_\t_\t1\tadvmod\t_\t_"
    assert values(UPOS, text, "don 't") == ("AUX", "PART")
    assert values(LEMMA, text, "don 't") == ("do", "not")


def test_values_with_spaces():
    text = "1\tetc.\tet cetera\tX\t \t_\t0\troot\t_\t_"
    assert values(LEMMA, text, "etc.") == ("et_cetera",)
    assert values(XPOS, text, "etc.") == ("_",)


def test_a_sentence_without_parse_has_no_values():
    assert UPOS.format.parse(["# parse = none"], PLACE) is None
    assert UPOS.no_row(3).tolist() == [-1, -1, -1]


COUNTS = Counter({"VERB": 4, "X": 1, "NOUN": 9, "_": 2})


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [(1, "<unk> NOUN VERB X _"), (2, "<unk> NOUN VERB _"), (5, "<unk> NOUN _")],
)
def test_rare_values_have_no_label(threshold, expected):
    assert UPOS.listed(COUNTS, threshold) == expected.split()


def test_an_empty_column():
    for counts in (Counter(), Counter({"_": 7})):
        with pytest.raises(
            UserError, match=r"no word of the .* has a value in column FEATS: leave"
        ):
            FEATS.listed(counts, 1)


def test_a_threshold_that_leaves_nothing():
    message = "--feature-threshold 10: every value of UPOS is rarer .the most frequent has 9.: give"
    with pytest.raises(UserError, match=message):
        UPOS.listed(COUNTS, 10)


def test_the_most_frequent_value_is_one_of_the_column():
    """`_`, which most words of many treebanks have as their morphology, is none."""
    with pytest.raises(UserError, match="most frequent has 3"):
        FEATS.listed(Counter({"_": 50, "Mood=Imp": 3}), 10)


def test_rows_repeat_the_id_of_a_word_for_its_pieces():
    ids = {"<unk>": 1, "VERB": 2, "NOUN": 3}
    tree = UPOS.format.parse(ZUM.splitlines(), PLACE)
    row = UPOS.row(tree, [1, 2, 1, 3], ids)
    assert row.dtype == np.int32
    assert row.tolist() == [2, 1, 1, 1, 3, 3, 3]


@pytest.mark.parametrize("left_pad", [True, False])
def test_batches(left_pad):
    """−1 at pads, at EOS and without parse; the tensor has the side of the tokens' pads."""
    rows = [np.array([2, 2, 1]), np.array([3]), UPOS.no_row(2)]
    rows = RaggedArray.from_rows([row.astype(np.int32) for row in rows])
    text = BatchedText(np.array([1, 0, 2]), np.array([4, 2, 3]), 4, left_pad)
    found = UPOS.collate(rows, text, 3).tolist()
    short = [-1, -1, 3, -1] if left_pad else [3, -1, -1, -1]
    assert found == [short, [2, 2, 1, -1], [-1] * 4]


def test_names_of_columns():
    assert check_columns("deprel, upos", "--features") == (DEPREL, UPOS)
    assert check_columns(None, "--features") == ()
    with pytest.raises(UserError, match=r"--features pos: 'pos' is no column: give upos, xpos"):
        check_columns("pos", "--features")
    with pytest.raises(UserError, match="upos twice"):
        check_columns("upos,upos", "--features")


def test_options_that_load():
    found = loading_options((HEADS, LEMMA, HEADS, UPOS))
    assert found == ("--load-dependencies", "--load-features", "lemma,upos")
