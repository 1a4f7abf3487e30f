"""Alignments read in all formats of the field, and scored by hand."""

import math

import pytest
from translations import figures, refused, write

from syntax_nmt.cli import main
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


def test_every_way_of_writing_a_link(tmp_path):
    path = write(tmp_path / "gold", ["0-1 2p3 4?5 6-7-P 8-9-S 10-11", "", "1p1 1-1"])
    first, empty, twice = read_gold(path)
    assert first.sure == {(0, 1), (8, 9), (10, 11)}
    assert first.possible == first.sure | {(2, 3), (4, 5), (6, 7)}
    assert empty == gold([])
    assert twice == gold([(1, 1)])  # sure, if it is both
    assert read_alignments(path)[0] == first.possible


def test_words_counted_from_1(tmp_path):
    path = write(tmp_path / "gold", ["1-2 3p1"])
    assert read_gold(path, base=1) == [gold([(0, 1)], [(2, 0)])]
    with pytest.raises(UserError, match="gold:1: '0-2' counts from 0: leave --gold-base 1 out"):
        read_gold(write(path, ["0-2"]), base=1)


@pytest.mark.parametrize("text", ["1", "1-", "-1-2", "1-2-X", "1--2", "a-b", "1:2", "1-2p", "²-1"])
def test_what_is_no_link(tmp_path, text):
    path = write(tmp_path / "gold", ["0-0", f"0-0 {text}"])
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


LINKS = [{(0, 0), (1, 2)}, set(), {(2, 1)}]
FILES = {
    "pharaoh": ["0-0 1-2", "", "2-1"],
    "scored": ["0-0:0.93 1-2/1e-3", "", "2-1-0.5"],
    "fairseq": [
        "S-2\ta b", "A-2\t2-1", "H-0\t-0.5\tx", "A-0\t0-0 1-2", "A-0\t0-1", "A-1\t",
        "Generate test",
    ],
    "naacl": ["0003 3 2", "1 1 1 S", "1 2 3 S 0.75", "1 0 2 S"],
    "giza": [
        "# Sentence pair (1) source length 2 target length 3 alignment score : 0.1",
        "x y z", "NULL ({ 2 }) a ({ 1 }) b ({ 3 }) ",
        "# Sentence pair (2) source length 1 target length 1 alignment score : 0.1",
        "x", "NULL ({ 1 }) a ({ }) ",
        "# Sentence pair (3) source length 3 target length 2 alignment score : 0.1",
        "x y", "NULL ({ 1 }) a ({ }) b ({ }) ({ ({ 2 }) ",
    ],
}  # fmt: skip


@pytest.mark.parametrize("form", FILES)
def test_every_format_reads_alike(form, tmp_path):
    assert read_alignments(write(tmp_path / form, FILES[form])) == LINKS


def test_possible_links_of_naacl(tmp_path):
    path = write(tmp_path / "gold", ["1 1 1 S", "1 2 2 P", "2 1 1"])
    first, second = read_gold(path)
    assert (first.sure, first.possible) == ({(0, 0)}, {(0, 0), (1, 1)})
    assert second.sure == {(0, 0)}


def test_naacl_has_a_line_for_a_last_sentence_without_links(tmp_path):
    assert read_alignments(write(tmp_path / "x", ["1 1 1", "3 0 0"])) == [{(0, 0)}, set(), set()]


def test_what_cannot_be_read_is_named(tmp_path):
    def message(lines):
        return refused("align", "--hypothesis", write(tmp_path / "x", lines), "--output", "-")

    assert "x:1: '1-a' is no link such as 3-4" in message(["1-a"])
    assert "NAACL's or GIZA++'s format, or fairseq's A- lines" in message(["1-a"])
    assert "sentence 1 is missing between those of fairseq" in message(["A-0\t0-0", "A-2\t0-0"])
    assert "--print-alignment hard" in message(["A-0\t0.5,0.5 1,0"])
    assert "three lines a sentence" in message(FILES["giza"][:5])
    assert "x:2: sentence 300000000 in a file of 2 lines" in message(["1 1 1", "300000000 1 1"])
    assert "sentence 0: NAACL's format counts from 1" in message(["0 1 1"])


def test_a_hypothesis_that_counts_from_1_is_noticed(tmp_path, capsys):
    gold = write(tmp_path / "gold", ["0-0 1-1 2-2"])
    other = write(tmp_path / "other", ["1-1 2-2 3-3"])
    arguments = ["align", "--hypothesis", other, "--score", gold]
    main([*map(str, arguments)])
    assert "other: no link has a word 0: if it counts from 1, add --hypothesis-base 1" in (
        capsys.readouterr().err
    )
    assert figures(capsys, *arguments)["alignments"][0]["aer"] > 30
    assert figures(capsys, *arguments, "--hypothesis-base", 1)["alignments"][0]["aer"] == 0
    assert "leave --hypothesis-base 1 out" in refused(
        "align", "--hypothesis", gold, "--score", gold, "--hypothesis-base", 1
    )


def test_empty_files_are_refused(tmp_path):
    empty = write(tmp_path / "empty", [])
    assert "empty: is empty" in refused("align", "--hypothesis", empty, "--score", empty)
    assert "empty: is empty" in refused("chunks", "--hypothesis", empty, "--score", empty)
    assert "empty: has no sentences" in refused("trees", "--hypothesis", empty, "--output", "-")
