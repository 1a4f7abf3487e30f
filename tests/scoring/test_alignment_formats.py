"""The same alignment in all formats of the field; bases that are not as they should be."""

import pytest
from translations import figures, refused, write

from syntax_nmt.cli import main
from syntax_nmt.scoring.alignments.alignment import read_alignments, read_gold

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


def test_a_byte_order_mark_is_no_part_of_a_link(tmp_path):
    path = tmp_path / "links"
    path.write_bytes(b"\xef\xbb\xbf0-0 1-2\n\n2-1\n")
    assert read_alignments(path) == LINKS


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
