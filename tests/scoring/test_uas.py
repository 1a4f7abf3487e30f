"""The attachment score, counted by hand."""

import math
from dataclasses import replace

import pytest
from trees_of import tree_of

from syntax_nmt.data.dependency_tree import MultiwordRange
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.accuracy import Accuracy
from syntax_nmt.scoring.dependencies.reference import over_corpus_words, over_same_words
from syntax_nmt.scoring.dependencies.uas import attachment_score

GOLD = tree_of(
    [1, 1, 1, 2], words=["we", "see", "her", "!"], upos=["PRON", "VERB", "PRON", "PUNCT"]
)


def test_by_hand():
    score = attachment_score([tree_of([1, 1, 1, 1]), tree_of([0, 0])], [GOLD, tree_of([1, 1])])
    # First sentence 3 of 4 heads and the root; second none, not even the root.
    assert (score.heads, score.roots) == (Accuracy(3, 6), Accuracy(1, 2))


def test_without_punctuation():
    score = attachment_score([tree_of([1, 1, 1, 1])], [GOLD], punctuation=False)
    assert score.heads == Accuracy(3, 3)


def test_punctuation_by_its_characters_where_the_file_has_no_upos():
    gold = tree_of([1, 1, 1, 1, 1], words=["a", "b", "...", "„", "3.5"])
    assert attachment_score([gold], [gold], punctuation=False).heads.total == 3
    tagged = tree_of([1, 1], words=["%", "b"], upos=["NOUN", "VERB"])
    assert attachment_score([tagged], [tagged], punctuation=False).heads.total == 2


def test_tags_of_a_treebank_tell_no_punctuation():
    """CoNLL-X has them in the column of UPOS."""
    gold = tree_of([2, 0, 2, 2], words=["oh", ",", "dogs", "."], upos=["UH", ",", "NN", "$."])
    score = attachment_score([tree_of([2, 2, 2, 1])], [gold], punctuation=False)
    assert score.heads == Accuracy(2, 2)


def test_sentences_without_parse():
    score = attachment_score([GOLD, None, None], [None, GOLD, None])
    assert (score.heads, score.roots) == (Accuracy(0, 4), Accuracy(0, 1))


def test_nothing_to_score():
    score = attachment_score([None], [None])
    assert math.isnan(score.heads.percent)
    assert math.isnan(score.roots.percent)


def test_lists_that_are_not_parallel():
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        attachment_score([None], [])
    with pytest.raises(ValueError, match="2 words for 4"):
        attachment_score([tree_of([0, 0])], [GOLD])


# "zum Haus gehen": zu + dem are apart in the reference.
APART = tree_of(
    [2, 2, 3, 3], words=["zu", "dem", "Haus", "gehen"], multiword=[MultiwordRange(0, 2, "zum")]
)


def test_multiword_tokens_collapse():
    words, reference = over_corpus_words(["zum", "Haus", "gehen"], APART, "r:1", "t:1", None)
    assert words == ("zum", "Haus", "gehen")
    assert reference.heads == (1, 2, 2)
    joined = tree_of([1, 2, 2], words=["zum", "Haus", "gehen"])
    for left, right in [(joined, APART), (APART, joined)]:
        trees = over_same_words(left, right, "r:1", "h:1")
        assert [tree.heads for tree in trees] == [(1, 2, 2)] * 2


def test_unknown_words_are_those_of_the_reference():
    words = ["we", "<unk>", "her", "<unk>!"]
    assert over_corpus_words(words, GOLD, "r:1", "t:1", "<unk>")[0] == GOLD.words


def test_a_reference_of_another_tokenisation_is_carried_over():
    words, reference = over_corpus_words(["we", "see", "he", "r", "!"], GOLD, "r:1", "t:1", None)
    assert words == ("we", "see", "he", "r", "!")
    assert reference.heads == (1, 1, 1, 2, 2)
    words, reference = over_corpus_words(["we", "see", "her!"], GOLD, "r:1", "t:1", None)
    assert words == reference.words == ("we", "see", "her!")
    assert reference.heads == (1, 1, 1)


def test_other_numbers_of_words():
    with pytest.raises(UserError, match=r"^r:1: .* 4 words, t:1 has 3: give --segmented"):
        over_corpus_words(["we", "see", "<unk>"], GOLD, "r:1", "t:1", "<unk>")
    with pytest.raises(UserError, match=r"^r:1: .* 4 words, t:1 has 3: give the parses"):
        over_corpus_words(["cats", "eat", "fish"], GOLD, "r:1", "t:1", None)
    with pytest.raises(UserError, match=r"^r:1: .* 4 words, h:1 has 2"):
        over_same_words(tree_of([0, 0]), GOLD, "r:1", "h:1")


def test_other_words():
    with pytest.raises(UserError, match="words differ"):
        over_corpus_words(["cats", "eat", "her", "fish"], GOLD, "r:1", "t:1", None)


def test_heads_with_their_relations():
    """LAS is never above UAS; a relation counts where the head is right."""
    gold = replace(GOLD, relations=("nsubj", "root", "obj:x", "punct"))
    found = replace(tree_of([1, 1, 1, 1]), relations=("nsubj", "root", "obj:y", "punct"))
    assert attachment_score([found], [gold]).heads == Accuracy(3, 4)
    assert attachment_score([found], [gold]).labelled == Accuracy(2, 4)
    assert attachment_score([found], [gold], subtypes=False).labelled == Accuracy(3, 4)
    assert attachment_score([found], [gold], punctuation=False).labelled == Accuracy(2, 3)
