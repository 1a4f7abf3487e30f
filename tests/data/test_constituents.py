"""Constituency trees in brackets, read and written, by hand and as nltk reads them."""

import gzip
from itertools import islice

import nltk
import pytest
from nonempty import some

from syntax_nmt.data.constituents import format_tree, parse_tree, read_trees, unescape_word
from syntax_nmt.errors import UserError


def nodes_of(tree):
    return [tuple(node) for node in tree.nodes]


def test_a_tree_without_its_outer_bracket():
    tree = parse_tree("( (S (NP (DT the) (NN cat)) (VP (VBZ sleeps))) )", "f", 7)
    assert tree.words == ("the", "cat", "sleeps")
    assert tree.line == 7
    assert nodes_of(tree) == [
        ("S", 0, 3, 0, False),
        ("NP", 0, 2, 1, False),
        ("DT", 0, 1, 2, True),
        ("NN", 1, 2, 2, True),
        ("VP", 2, 3, 1, False),
        ("VBZ", 2, 3, 2, True),
    ]


def test_traces_and_what_holds_only_traces_are_dropped():
    tree = parse_tree("(S (NP (-NONE- *PRO*)) (VP (VB go) (NP (X (-NONE- *T*)))))", "f", 1)
    assert tree.words == ("go",)
    assert [node.label for node in tree.nodes] == ["S", "VP", "VB"]
    assert parse_tree("( (S (-NONE- *)) )", "f", 1) is None
    assert parse_tree("(S (NP (-NONE- )) (VB go))", "f", 1).words == ("go",)


def test_words_that_share_a_bracket_are_leaves_of_their_own():
    tree = parse_tree("(NP the old (NN cat) too)", "f", 1)
    assert tree.words == ("the", "old", "cat", "too")
    assert nodes_of(tree) == [
        ("NP", 0, 4, 0, False),
        ("", 0, 1, 1, True),
        ("", 1, 2, 1, True),
        ("NN", 2, 3, 1, True),
        ("", 3, 4, 1, True),
    ]


def test_unary_chains_count_and_a_forest_keeps_its_bracket():
    tree = parse_tree("(ROOT (S (NP (NN x))))", "f", 1)
    assert [node.depth for node in tree.nodes] == [0, 1, 2, 3]
    forest = parse_tree("( (A (X a)) (B (X b)) )", "f", 1)
    assert forest.nodes[0] == ("", 0, 2, 0, False)


def test_escapes():
    tree = parse_tree(r"(X (-LRB- -LRB-) (NN a\/b) (-RRB- -RRB-))", "f", 1)
    assert tree.words == ("(", "a/b", ")")
    for word in ("(", ")", "a", ":-(", "(-)"):
        escaped = word.replace("(", "-LRB-").replace(")", "-RRB-")
        assert unescape_word(escaped) == word
        assert parse_tree(f"(X {escaped})", "f", 1).words == (word,)


def test_none(tmp_path):
    path = tmp_path / "a.trees"
    path.write_text("()\n(X a)\n( )\n(())\n")
    assert [tree and tree.words for tree in read_trees(path)] == [None, ("a",), None, None]


def test_words_in_brackets_of_their_own():
    """As in the Indonesian treebank, whose traces look alike."""
    tree = parse_tree("(S (NP-SBJ (*)) (NP (NN (kera))) (VP (VB (tidur)) (NP (*T*-1))))", "f", 1)
    assert tree == parse_tree("(S (NP (NN kera)) (VP (VB tidur)))", "f", 1)
    assert tree.words == ("kera", "tidur")


MALFORMED = {
    "empty line": ("", "an empty line: write"),
    "not closed": ("(S (NP (NN a))", "the line ends before 1 of its brackets"),
    "closed twice": ("(S (NN a)))", r"'\)' after the end"),
    "closed first": (") (S a)", r"'\)' without '\('"),
    "words only": ("the cat", "'the' before the first bracket"),
    "two trees": ("(S a) (S b)", r"'\(' after the end of the tree"),
    "word after": ("(S a) b", "'b' after the end"),
    "no word": ("(NP (NN well) (HYPH ) (VBN known))", r"a bracket without a word, '\(HYPH \)'"),
    "no word or space": ("(NP (NN well) (HYPH) (NN x))", r"a bracket without a word, '\(HYPH\)'"),
    "no first word": (
        "(NP (HYPH) (NN x))",
        r"a bracket without a word, '\(HYPH\)': write its word",
    ),
    "a word beside": ("(NP (HYPH) x)", r"a bracket without a word, '\(HYPH\)'"),
    "a bracket as a word": ("(NP (-LRB- () (NN x) (-RRB- )))", r"word, '\(\)'.*\( as -LRB- and"),
    "an empty bracket": ("(NP (NN x) ())", r"a bracket without a word, '\(\)'"),
    "a label": ("(ROOT)", r"word, '\(ROOT\)'.*a sentence without a tree is \(\)"),
    "a label and a space": ("(ROOT )", r"word, '\(ROOT \)'"),
    "labels": ("(ROOT (S ))", r"word, '\(S \)'"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_lines_name_file_and_line(tmp_path, case):
    text, message = MALFORMED[case]
    path = tmp_path / "a.trees"
    path.write_text(f"(X a)\n{text}\n")
    with pytest.raises(UserError, match=message) as caught:
        list(read_trees(path))
    assert str(caught.value).startswith(f"{path}:2: ")
    assert "\n" not in str(caught.value)


def nltk_nodes(tree):
    """Oracle: nltk's reading of a tree without traces: (label, start, end, depth) in preorder."""

    def visit(node, start, depth):
        mine = [node.label(), start, start, depth]
        below = []
        for child in node:
            if isinstance(child, str):
                mine[2] += node.label() != "-NONE-"
            else:
                width, found = visit(child, mine[2], depth + 1)
                mine[2] += width
                below += found
        kept = [tuple(mine), *below] if mine[2] > start else []
        return mine[2] - start, kept

    return visit(tree, 0, 0)[1]


@pytest.mark.dear
def test_craft_reads_whole_and_as_nltk_reads_it(shared):
    path = shared / "data" / "craft" / "craft_penn.mrg.gz"
    trees = list(read_trees(path))
    assert len(trees) == 30_830
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        lines = [line for number, line in enumerate(stream) if number % 100 == 0]
    for line, tree in zip(lines, trees[::100]):
        expected = nltk_nodes(nltk.Tree.fromstring(line))
        found = [(node.label, node.start, node.end, node.depth) for node in tree.nodes]
        if not expected[0][0]:  # the bracket without a label
            expected = [(label, start, end, depth - 1) for label, start, end, depth in expected[1:]]
        assert found == expected


def test_brackets_in_each_other_are_bounded():
    """A chain as deep as the longest sentence is read; what nobody writes is refused at once."""
    assert len(parse_tree("(X " * 2000 + "(W a)" + ")" * 2000, "f", 1).nodes) == 2001
    with pytest.raises(UserError, match=r"f:3: more than 20000 brackets in each other"):
        parse_tree("(" * 10**6 + ")" * 10**6, "f", 3)


TREES = [
    "(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (PRP it))) (. .))",
    "(X (W see))",
    "(DT the)",
    "(X (X (W a) (W b)) (X (W c) (W d)))",
    "(NP (NP (NN fish)))",
    "(S (W -LRB-) (X (W a-RRB-b) (W [)))",
]


@pytest.mark.parametrize("line", TREES)
def test_what_was_read_is_written(line):
    tree = parse_tree(line, "t", 1)
    assert format_tree(tree) == line
    leaves = nltk.Tree.fromstring(format_tree(tree)).leaves()
    assert tuple(map(unescape_word, leaves)) == tree.words


def test_no_tree():
    assert format_tree(None) == "()"
    assert parse_tree(format_tree(None), "t", 1) is None


def test_what_has_no_label_gets_one():
    assert format_tree(parse_tree("( (NP a b) (c d))", "t", 1)) == "(X (NP (W a) (W b)) (c d))"


def test_real_trees(shared):
    path = shared / "data/craft/craft_penn.mrg.gz"
    for tree in some(islice(read_trees(path), 0, 3000, 10)):
        assert parse_tree(format_tree(tree), "t", tree.line) == tree
