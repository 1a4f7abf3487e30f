"""Alignments read, and scored by hand and against nltk."""

import math

import pytest

from syntax_nmt.errors import UserError
from syntax_nmt.scoring.alignments.alignment import (
    GoldAlignment,
    flipped,
    format_alignment,
    links_outside,
    read_alignments,
    read_gold,
)
from syntax_nmt.scoring.alignments.alignment_report import score_alignments


def gold(sure, possible=()):
    return GoldAlignment(frozenset(sure), frozenset(sure) | frozenset(possible))


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_every_way_of_writing_a_link(tmp_path):
    path = write(tmp_path / "gold", "0-1 2p3 4?5 6-7-P 8-9-S 10-11\n\n1p1 1-1\n")
    first, empty, twice = read_gold(path)
    assert first.sure == {(0, 1), (8, 9), (10, 11)}
    assert first.possible == first.sure | {(2, 3), (4, 5), (6, 7)}
    assert empty == gold([])
    assert twice == gold([(1, 1)])  # sure, if it is both
    assert read_alignments(path)[0] == first.possible


def test_words_counted_from_1(tmp_path):
    path = write(tmp_path / "gold", "1-2 3p1\n")
    assert read_gold(path, base=1) == [gold([(0, 1)], [(2, 0)])]
    with pytest.raises(UserError, match="gold:1: '0-2' counts from 0: leave --gold-base 1 out"):
        read_gold(write(path, "0-2\n"), base=1)


@pytest.mark.parametrize("text", ["1", "1-", "-1-2", "1-2-X", "1--2", "a-b", "1:2", "1-2p", "²-1"])
def test_what_is_no_link(tmp_path, text):
    path = write(tmp_path / "gold", f"0-0\n0-0 {text}\n")
    with pytest.raises(UserError, match=r"gold:2: .* is no link such as"):
        read_gold(path)


def test_written_in_order():
    assert format_alignment({(10, 0), (2, 1), (2, 0)}) == "2-0 2-1 10-0"
    assert format_alignment(()) == ""
    assert flipped({(1, 2), (3, 3)}) == {(2, 1), (3, 3)}


def test_links_to_words_that_are_not_there():
    assert set(links_outside({(0, 0), (2, 0), (0, 3), (1, 2)}, 2, 3)) == {(2, 0), (0, 3)}


def test_score_by_hand():
    # First sentence: 2 links, one sure, both possible. Second: 3 links, one possible but not sure.
    references = [gold([(0, 0), (1, 1)], [(1, 2)]), gold([(0, 0)], [(2, 2)])]
    score = score_alignments([{(0, 0), (1, 2)}, {(2, 2), (2, 1), (1, 1)}], references)
    assert (score.links, score.sure, score.possible) == (5, 3, 5)
    assert (score.links_sure, score.links_possible) == (1, 3)
    assert score.precision == pytest.approx(60)
    assert score.recall == pytest.approx(100 / 3)
    assert score.aer == pytest.approx(100 * (1 - 4 / 8))


def test_the_sure_and_the_possible_links_are_without_error():
    references = [gold([(0, 0), (1, 1)], [(1, 2)])]
    for links in (references[0].sure, references[0].possible):
        assert score_alignments([links], references).aer == pytest.approx(0)
    assert score_alignments([frozenset()], references).aer == 100
    assert math.isnan(score_alignments([frozenset()], references).precision)


def test_nothing_to_score():
    score = score_alignments([frozenset()], [gold([])])
    assert all(math.isnan(value) for value in (score.aer, score.precision, score.recall))
    with pytest.raises(ValueError, match="argument 2 is longer"):
        score_alignments([], [gold([])])


@pytest.mark.parametrize(
    ("name", "base", "sentences"), [("ro-en/roen.gold", 1, 248), ("zh-en/train.align", 0, 150)]
)
def test_real_gold_alignments(shared, name, base, sentences):
    references = read_gold(shared / "data" / "align" / name, base)
    assert len(references) == sentences
    assert all(each.sure <= each.possible for each in references)
