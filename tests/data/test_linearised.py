"""Trees as text and back: every tree of the treebanks, and by hand."""

import itertools
from random import Random

import pytest
from commands import syntax_nmt

from syntax_nmt.cli import main
from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.data.constituents import format_tree, parse_tree, read_trees
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.linearised import (
    FULL,
    LABELS,
    NO_LABELS,
    NO_WORDS,
    SHORT,
    TASKS,
    Form,
    escape,
    interleaved,
    is_balanced,
    is_symbol,
    linearised,
    read_dependencies,
    read_linearised,
    unescape,
    words_of,
)

TREE = "(S (NP-SBJ (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))"
CAT = parse_tree(TREE, "f", 1)
FORMS = [Form(labels=labels, closing=closing) for labels in LABELS for closing in (False, True)]
FEW = [Form(labels=FULL, closing=True), Form()]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (Form(), "(S (NP The cat ) (VP sleeps ) . )"),
        (Form(closing=True), "(S (NP The cat )NP (VP sleeps )VP . )S"),
        (Form(words=NO_WORDS), "(S (NP ) (VP ) )"),
        (Form(labels=NO_LABELS), "( ( The cat ) ( sleeps ) . )"),
        (
            Form(labels=FULL),
            "(S (NP-SBJ (DT The ) (NN cat ) ) (VP (VBZ sleeps ) ) (. . ) )",
        ),
    ],
)
def test_forms(form, text):
    assert linearised(CAT, form) == text


def test_interleaved_tags():
    words, tags = ("the", "(", "<TR>", "-LRB-"), ("DET", "(", "_", "-LRB-")
    text = interleaved(words, tags)
    assert text == "(DET the (-LRB- -LRB- (_ \\<TR> (\\-LRB- \\-LRB-"
    assert words_of(text) == [*words]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (Form(), "(root (nsubj (det the ) cat ) sleeps )"),
        (Form(labels=FULL), "(root (nsubj:pass (det the ) cat ) sleeps )"),
        (Form(labels=NO_LABELS, closing=True), "( ( ( the ) cat ) sleeps )"),
    ],
)
def test_relations(form, text):
    words, relations = ("the", "cat", "sleeps"), ("det", "nsubj:pass", "root")
    tree = DependencyTree(words, (1, 2, 2), relations, ("_",) * 3)
    assert linearised(tree, form) == text


def test_labels_that_begin_with_a_mark_are_kept():
    tree = parse_tree("(: (-LRB- -LRB-) (X=1 a) (S|<A> (B b) (C c)))", "f", 1)
    assert linearised(tree, Form(labels=SHORT)) == "(: -LRB- a (S b c ) )"


def test_a_word_that_equals_a_symbol_stays_a_word():
    words = ("(NP", ")", ")NP", "(", *TASKS, "-LRB-", "\\", "-LRB(", "a(b", "<TR>x")
    tokens = [escape(word) for word in words]
    assert not any(map(is_symbol, tokens))
    assert tokens[:4] == ["-LRB-NP", "-RRB-", "-RRB-NP", "-LRB-"]
    assert words_of(f"(S {' '.join(tokens)} )") == list(words)


def test_every_short_word_over_the_marks_comes_back():
    """Escapes that touch, overlap or are cut: -LRB(, (RRB-, \\(."""
    parts = ["(", ")", "\\", "-", "L", "RB", "LRB", "-RRB-", "<", "TR>", "<PA>"]
    words = [
        "".join(word) for size in range(1, 5) for word in itertools.product(parts, repeat=size)
    ]
    tokens = [escape(word) for word in words]
    assert [unescape(token) for token in tokens] == words
    assert len({*tokens}) == len({*words})
    assert not any(map(is_symbol, tokens))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "(S a",
        "(S a ) )",
        "a (S b )",
        "(S a ) b",
        "(S a ) (S b )",
        "(S (NP a )S )NP",
        ") (",
        "(S (NP a ) )NP",
    ],
)
def test_what_is_no_tree(text):
    assert not is_balanced(text)
    with pytest.raises(ValueError, match="not balanced"):
        read_linearised(text)


def test_a_tree_may_lack_words_and_closing_labels():
    assert is_balanced("(S (NP ) (VP ) )")
    assert is_balanced("(S (NP a ) (VP b )VP )S")
    with pytest.raises(ValueError, match=r"a bracket without a word, \(NP \)"):
        read_linearised("(S (NP ) b )")


def same(tree, forms=FORMS):
    """A tree goes into text and comes back; all forms keep the words and balance."""
    for form in forms:
        text = linearised(tree, form)
        assert words_of(text) == list(tree.words)
        assert is_balanced(text)
        if form.labels == FULL:
            back = read_linearised(text)
            if isinstance(tree, DependencyTree):
                back = read_dependencies(text)
                assert (back.heads, back.relations) == (tree.heads, tree.relations)
            else:
                assert back.nodes == tree.nodes
            assert back.words == tree.words
    return 1


def test_trees_of_every_shape_come_back():
    """Words without parts of speech, alone and beside others; chains; a root that is a word."""
    texts = ["(X a)", "(NP (NN (cat)))", "(S (-NONE- *) b)", "(S (NP (NP a b)) (VP c d))", TREE]
    texts += ["( (A (X a)) (B (X b)) )", "(A (B (C (D d))))", "(-LRB- (-RRB- a) (: b))"]
    for text in texts:
        same(parse_tree(text, "f", 1))


def test_random_dependency_trees_come_back():
    """Most of them have crossing arcs."""
    random = Random(1)
    for size in (1, 2, 3, 5, 9, 17):
        for _ in range(60):
            order = random.sample(range(size), size)
            heads = [0] * size
            heads[order[0]] = order[0]
            for place in range(1, size):
                heads[order[place]] = random.choice(order[:place])
            words = tuple(f"w{word}" for word in range(size))
            same(DependencyTree(words, tuple(heads), ("r",) * size, ("_",) * size))


@pytest.mark.parametrize(
    "relation",
    [
        "nmod(of)",
        "(",
        ")",
        ")(",
        "-LRB-",
        "\\",
        "a\\(b",
        "<TR>",
        "@SUBJ>",
        "x:y-z",
        "nsubj@pass",
        "é",
    ],
)
def test_every_relation_comes_back(relation):
    words, other = ("a", "b", "c"), "nmod(of)"
    for heads in ((2, 2, 2), (1, 1, 1), (2, 2, 0), (0, 0, 1)):
        if heads[heads[0]] == heads[0]:
            relations = tuple(relation if heads[i] != i else other for i in range(3))
            same(DependencyTree(words, heads, relations, ("_",) * 3))


@pytest.mark.parametrize("space", [" ", "  ", "\t", "\x1c", "\x85", "\u2028", "\xa0"])
def test_spaces_in_relations_are_underscores(space):
    relations = (f"@SUBJ>{space}@P<", f"{space}", "")
    tree = DependencyTree(("a", "b", "c"), (1, 1, 1), relations, ("_",) * 3)
    text = linearised(tree, Form(labels=FULL))
    assert text == "(_ (@SUBJ>_@P< a ) b (_ c ) )"
    assert read_dependencies(text).relations == ("@SUBJ>_@P<", "_", "_")
    assert words_of(linearised(tree, Form())) == ["a", "b", "c"]


def test_the_builtin_corpus_comes_back(tmp_path):
    syntax_nmt("demo", tmp_path, "--train", "500", "--valid", "10", "--test", "10")
    assert sum(map(same, read_trees(tmp_path / "train.src.trees"))) == 500
    assert sum(map(same, read_conllu(tmp_path / "train.src.conllu"))) == 500


@pytest.mark.dear
@pytest.mark.parametrize(("part", "trees"), [("train", 12544), ("dev", 2001), ("test", 2077)])
def test_ewt_comes_back(shared, part, trees):
    path = shared / "data" / "ud" / "EWT" / f"en_ewt-ud-{part}.conllu.gz"
    assert sum(same(tree, FEW) for tree in read_conllu(path)) == trees


@pytest.mark.dear
def test_craft_comes_back(shared):
    path = shared / "data" / "craft" / "craft_penn.mrg.gz"
    assert sum(same(tree, FEW) for tree in read_trees(path) if tree is not None) == 30830


DU_PARC = """\
1\til\t_\t_\t_\t_\t2\tnsubj\t_\t_
2\tvient\t_\t_\t_\t_\t0\troot\t_\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\t_\t_\t_\t_\t5\tcase\t_\t_
4\tle\t_\t_\t_\t_\t5\tdet\t_\t_
5\tparc\t_\t_\t_\t_\t2\tobl\t_\t_
6\t26 000\t_\t_\t_\t_\t2\tnum(mod)\t_\t_
7\t\xa0\t_\t_\t_\t_\t2\tdep\t_\t_

# parse = none

1\t\xa0\t_\t_\t_\t_\t0\troot\t_\t_

"""


def test_the_command_writes_the_words_of_the_text(tmp_path):
    """Multiword tokens whole, words with spaces as several, as `prepare --linearised` does."""
    file = tmp_path / "a.conllu"
    file.write_text(DU_PARC, encoding="utf-8")
    first, *others = syntax_nmt("linearise", file, "--labels", "full").stdout.split("\n")
    assert first == (
        "(root (nsubj il ) vient (obl (case du ) parc ) (num-LRB-mod-RRB- 26 (goeswith 000 ) ) )"
    )
    assert others == ["", "", ""]
    assert read_dependencies(first).relations[-2:] == ("num(mod)", "goeswith")


def test_several_roots_of_one_tree(tmp_path):
    file = tmp_path / "a.conllu"
    rows = [("1", "«", "ROOT"), ("2", "go", "ROOT"), ("3", "stop", "ROOT")]
    lines = ["\t".join([n, word, *"____", "0", label, "_", "_"]) for n, word, label in rows]
    file.write_text("\n".join([*lines, "", ""]), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"a.conllu:2: a second root .* linearise"):
        main(["linearise", str(file)])
    trees = tmp_path / "a.trees"
    trees.write_text("(S a b)\n")
    with pytest.raises(SystemExit, match=r"a.trees: has no roots to attach: leave --attach-roots"):
        main(["linearise", str(trees), "--attach-roots"])
    attached = syntax_nmt("linearise", file, "--attach-roots").stdout
    assert attached == "(ROOT (punct « ) go (parataxis stop ) )\n"


def test_the_command(tmp_path):
    """Plain text with brackets taken out by another program is the text."""
    trees = tmp_path / "a.en.trees"
    trees.write_text(f"{TREE}\n()\n")
    out = syntax_nmt("linearise", trees, "--labels", "none").stdout
    assert out == "( ( The cat ) ( sleeps ) . )\n\n"
    assert syntax_nmt("linearise", trees, "--words", "none", "--closing").stdout == (
        "(S (NP )NP (VP )VP )S\n\n"
    )
    output = tmp_path / "out"
    syntax_nmt("linearise", trees, "--labels", "full", "--output", output)
    back = read_linearised(output.read_text().splitlines()[0])
    assert format_tree(back) == TREE
