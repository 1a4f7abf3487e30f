"""What a drawing looks like."""

import re

import pytest
from trees_of import tree_of

from syntax_nmt.data.draw_tree import draw_tree
from syntax_nmt.errors import UserError

WORDS = ["the", "dog", "saw", "猫", "."]
TREE = tree_of([1, 2, 2, 2, 3], words=WORDS)


def test_arcs_alone():
    assert draw_tree(TREE) == (
        "1    ╭─╼ the\n"
        "2  ╭─┶ dog\n"
        "3 ─┾ saw\n"
        "4  ╰─┮ 猫\n"
        "5    ╰─╼ .\n"
    )  # fmt: skip


def test_marks_against_a_reference():
    drawing = draw_tree(TREE, tree_of([1, 1, 1, 2, 2], words=WORDS))
    assert drawing == (
        "1    ╭─╼ the\n"
        "2  ╭─┶ dog    ✗ reference: the root\n"
        "3 ─┾ saw      ✗ reference: 2 dog\n"
        "4  ╰─┮ 猫\n"
        "5    ╰─╼ .    ✗ reference: 3 saw\n"
    )


def test_colour_changes_nothing_but_colour(capsys):
    reference = tree_of([1, 1, 1, 2, 2], words=WORDS)
    coloured = draw_tree(TREE, reference, colour=True)
    for style in ("\033[31m", "\033[2m", "\033[0m"):
        assert style in coloured
        coloured = coloured.replace(style, "")
    assert coloured == draw_tree(TREE, reference)
    assert capsys.readouterr().out == ""


def test_crossing_arcs_and_one_word():
    assert draw_tree(tree_of([0])) == "1 ─╼ a\n"
    drawing = draw_tree(tree_of([6, 0, 0, 3, 3, 3, 3, 0, 5]))
    assert drawing.count("\n") == 9
    assert not re.search("[├╰╭┡┢] +─", drawing)  # no arc has a gap


def test_notes_are_aligned_after_wide_characters_and_accents():
    drawing = draw_tree(
        tree_of([0, 0, 0], words=["ab", "猫", "e\u0301"]),
        tree_of([1, 1, 1], words=["ab", "猫", "e\u0301"]),
    )
    assert drawing == (
        "1 ─┮ ab    ✗ reference: 2 猫\n"
        "2  ├─╼ 猫  ✗ reference: the root\n"
        "3  ╰─╼ e\u0301   ✗ reference: 2 猫\n"
    )


def test_words_do_not_disturb_a_terminal():
    words = ["\x1b[2J", "a\rb", "\u202ec"]
    drawing = draw_tree(tree_of([0, 0, 0], words=words), tree_of([0, 0, 1], words=words))
    assert [line.split()[2] for line in drawing.splitlines()] == [
        "\ufffd[2J",
        "a\ufffdb",
        "\ufffdc",
    ]
    assert drawing.endswith("✗ reference: 2 a\ufffdb\n")


@pytest.mark.parametrize("other", [[TREE], "1 ╼ the", None])
def test_what_is_no_tree_gets_a_line(other):
    with pytest.raises(UserError, match=f"draws one dependency tree, .* {type(other).__name__}: "):
        draw_tree(other)
