"""Trees over several lines, in CoNLL-X, and of other words than the reference's."""

import os

import pytest
from translations import figures, refused, write

from syntax_nmt.cli import main
from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.data.constituents import parse_tree
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.constituents.tree_file import read_tree_file

PENN = """
( (S
    (NP-SBJ (DT The) (NN dog) )
    (VP (VBZ barks) )
    (. .) ))
( (S (NP (PRP He) )
     (VP (VBZ runs) )))

( (FRAG (UH No) ))
""".strip("\n").split("\n")
FLAT = [
    "(S (NP-SBJ (DT The) (NN dog)) (VP (VBZ barks)) (. .))",
    "(S (NP (PRP He)) (VP (VBZ runs)))",
]
FLAT += ["(FRAG (UH No))"]
TWO_ROOTS = [
    "1\tA\t_\tD\tD\t_\t2\tdet",
    "2\tdog\t_\tN\tN\t_\t0\troot",
    "3\t.\t_\t.\t.\t_\t0\tpunct",
    "",
]


@pytest.mark.parametrize("option", ["--hypothesis", "--trees"])
def test_a_pipe_is_refused(tmp_path, option):
    """It would have no trees left when it is read again."""
    os.mkfifo(tmp_path / "pipe")
    given = {"--hypothesis": write(tmp_path / "trees", FLAT), option: tmp_path / "pipe"}
    options = [part for pair in given.items() for part in pair]
    message = refused("trees", "--kind", "constituents", *options, "--draw", "1")
    assert message == f"{tmp_path}/pipe: is read more than once: give a file, not a pipe"


def test_trees_over_several_lines(tmp_path):
    found = list(read_tree_file(write(tmp_path / "trees", PENN)))
    flat = [parse_tree(line, "flat", 1) for line in FLAT]
    assert [(tree.words, tree.nodes) for tree in found] == [(t.words, t.nodes) for t in flat]
    assert [tree.line for tree in found] == [1, 5, 8]
    assert next(read_tree_file(write(tmp_path / "flat", ["()", FLAT[0]]))) is None


def test_they_are_scored_against_flat_ones(tmp_path, capsys):
    penn, flat = write(tmp_path / "penn", PENN), write(tmp_path / "flat", FLAT)
    arguments = ["trees", "--kind", "constituents", "--hypothesis", flat, "--trees", penn]
    found = figures(capsys, *arguments)
    assert found["sentences"] == found["sentences_scored"] == 3
    assert found["bracket_f1"]["trees"]["with_whole_sentence"]["f1"] == 100


def test_brackets_that_are_not_closed_are_found_where_they_are(tmp_path):
    lines = ["(S", "  (NP (D a)", "(S", "  (N b))"]
    with pytest.raises(UserError, match=r"trees:1: the line ends before 2 of its brackets"):
        list(read_tree_file(write(tmp_path / "trees", lines)))
    with pytest.raises(UserError, match=r"trees:2: an empty line"):
        list(read_tree_file(write(tmp_path / "trees", [FLAT[0], "", FLAT[1]])))


def test_conll_x(tmp_path, capsys):
    path = write(tmp_path / "conllx", TWO_ROOTS)
    found = figures(capsys, "trees", "--hypothesis", path, "--conllu", path)
    assert (found["uas"], found["words_scored"]) == (100, 3)
    (tree,) = read_conllu(path, one_root=False)
    assert tree.heads == (1, 1, 2)
    with pytest.raises(UserError, match="conllx:3: a second root"):
        list(read_conllu(path))  # what is trained on has one
    main(["trees", "--hypothesis", str(path), "--draw", "1"])
    assert "several roots" in capsys.readouterr().out


def test_other_words_of_the_same_number_are_noticed(tmp_path, capsys):
    block = "1\t{}\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tdog\t_\t_\t_\t_\t0\troot\t_\t_\n"
    gold = write(tmp_path / "gold", block.format("the").split("\n"))
    for word, noted in (("a", True), ("The", False)):
        other = write(tmp_path / "other", block.format(word).split("\n"))
        main(["trees", "--hypothesis", str(other), "--conllu", str(gold)])
        note = f"the first in {other}:1: {word!r} for 'the'"
        assert (note in capsys.readouterr().err) == noted
    trees = write(tmp_path / "trees", FLAT[:2])
    others = write(tmp_path / "others", [FLAT[0], FLAT[1].replace("runs", "ran")])
    main(["trees", "--kind", "constituents", "--hypothesis", str(others), "--trees", str(trees)])
    assert f"{others}:2: 'ran' for 'runs'" in capsys.readouterr().err


def test_a_text_that_is_another_is_refused(tmp_path):
    trees = write(tmp_path / "trees", FLAT[:1])
    others = write(
        tmp_path / "others", [FLAT[0].replace("The", "x").replace("dog", "y").replace("barks", "z")]
    )
    arguments = ["--kind", "constituents", "--hypothesis", others, "--trees", trees]
    assert "the words differ" in refused("trees", *arguments)
