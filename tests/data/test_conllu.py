import gzip
import random

import pytest
from trees_of import is_tree, random_heads

from syntax_nmt.data.conllu import attach_roots, format_conllu, format_no_parse, read_conllu
from syntax_nmt.data.dependency_tree import DependencyTree, MultiwordRange, find_cycle, word_depths
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError

TREEBANKS = [
    ("EWT/en_ewt-ud-train", 12544),
    ("EWT/en_ewt-ud-dev", 2001),
    ("PUD/de_pud-ud-test", 1000),
    ("PUD/ja_pud-ud-test", 1000),
    ("PUD/zh_pud-ud-test", 1000),
    ("German/de_gsd-ud-dev", 799),
]

ZUM = """# text = Zum Haus.
1-2	Zum	_	_	_	_	_	_	_	_
1	zu	zu	ADP	_	_	3	case	_	_
2	dem	der	DET	_	_	3	det	_	_
3	Haus	Haus	NOUN	_	_	0	root	_	SpaceAfter=No
3.1	geht	gehen	VERB	_	_	_	_	0:root	_
4	.	.	PUNCT	_	_	3	punct	_	_

"""


def row(index, head, word="w"):
    return f"{index}\t{word}\t_\t_\t_\t_\t{head}\tdep\t_\t_"


def write(tmp_path, text):
    path = tmp_path / "text.de.conllu"
    path.write_text(text, encoding="utf-8")
    return path


def test_multiword_ranges_and_empty_nodes(tmp_path):
    [tree] = read_conllu(write(tmp_path, "\n\n" + ZUM))
    assert tree == DependencyTree(
        words=("zu", "dem", "Haus", "."),
        heads=(2, 2, 2, 2),
        relations=("case", "det", "root", "punct"),
        upos=("ADP", "DET", "NOUN", "PUNCT"),
        multiword=(MultiwordRange(0, 2, "Zum"),),
        line=3,
        lemmas=("zu", "der", "Haus", "."),
        xpos=("_",) * 4,
        feats=("_",) * 4,
    )
    assert tree.collapse(4) is tree
    surface = tree.collapse(3)
    assert surface.words == ("Zum", "Haus", ".")
    assert surface.heads == (1, 1, 1)
    assert surface.relations == ("case", "root", "punct")


def random_tree(rng):
    size = rng.randint(1, 9)
    words = tuple(f"w{index}" for index in range(size))
    ranges, start = [], 0
    while start < size:
        end = min(size, start + rng.randint(1, 4))
        if end - start > 1 and rng.random() < 0.6:
            ranges.append(MultiwordRange(start, end, f"r{start}"))
        start = end
    relations = tuple(f"r{word}" for word in words)
    return DependencyTree(words, tuple(random_heads(rng, size)), relations, words, tuple(ranges), 1)


def test_collapsing_random_ranges_gives_trees_over_the_surface():
    """Oracle: one root, no circle, and every head is that of a word whose head lies outside."""
    rng = random.Random(5)
    for _ in range(2000):
        tree = random_tree(rng)
        surface = tree.collapse(tree.num_surface_tokens)
        assert len(surface) == tree.num_surface_tokens
        assert is_tree(surface.heads)
        spans = tree.surface_spans()
        for token, (start, end, form) in enumerate(spans):
            assert surface.words[token] == form
            outside = {
                tree.heads[word]
                for word in range(start, end)
                if not start <= tree.heads[word] < end or tree.heads[word] == word
            }
            head = spans[surface.heads[token]]
            assert any(head.start <= target < head.end for target in outside)


def test_depths_and_cycles_against_a_walk():
    rng = random.Random(3)
    for _ in range(500):
        heads = random_heads(rng, rng.randint(1, 8))
        for word, depth in enumerate(word_depths(heads)):
            node = word
            for _ in range(depth):
                assert heads[node] != node
                node = heads[node]
            assert heads[node] == node
    for _ in range(2000):
        size = rng.randint(1, 6)
        heads = [rng.randrange(-1, size) for _ in range(size)]
        walkers = set(range(size))  # who still walks after as many steps goes in a circle
        for _ in range(size):
            walkers = {heads[word] for word in walkers} - {-1}
        cycle = find_cycle(heads)
        assert bool(cycle) == bool(walkers)
        for word, following in zip(cycle, cycle[1:] + cycle[:1]):
            assert heads[word] == following


def test_round_trip_of_what_is_written(tmp_path):
    text = (
        "# n = 1\n"
        + format_conllu(["a", "#b", "c"], [1, 1, 0], ["det", "root", "x"], ["X", "Y", "Z"])
        + format_no_parse(["kein", "Baum"])
        + format_no_parse([])
        + format_conllu(["_"], [0])
    )
    first, second, third, fourth = read_conllu(write(tmp_path, text))
    assert (first.words, first.heads) == (("a", "#b", "c"), (1, 1, 0))
    assert (first.relations, first.upos) == (("det", "root", "x"), ("X", "Y", "Z"))
    assert second is None
    assert third is None
    assert (fourth.words, fourth.heads, fourth.relations) == (("_",), (0,), ("root",))
    assert fourth.line == 12


@pytest.mark.parametrize("ending", ["", "\n", "\n\n", "\n\n\n"])
def test_the_last_block_needs_no_blank_line(tmp_path, ending):
    trees = list(read_conllu(write(tmp_path, row(1, 0) + "\n\n" + row(1, 0) + ending)))
    assert [len(tree) for tree in trees] == [1, 1]


GOOD = row(1, 0) + "\n\n"
MALFORMED = {
    "columns": (row(1, 2) + "\n2\tw\t_\n", 4, "3 tab-separated columns instead of 10"),
    "CoreNLP's": ("1\tw\tw\tNN\tO\t0\tROOT\n", 3, "7 .*CoreNLP: -outputFormat conllu"),
    "spaces": ("1 w _ _ _ _ 0 root _ _\n", 3, "1 tab-separated"),
    "skipped id": (row(1, 0) + "\n" + row(3, 1), 4, "id '3' where 2 is next"),
    "no blank line": (row(1, 0) + "\n" + row(1, 0), 4, "id '1' where 2 is next"),
    "id is no number": (row("x", 0), 3, "id 'x' where 1"),
    "empty node astray": (row(1, 0) + "\n" + row("2.1", "_"), 4, "id '2.1'"),
    "range astray": (row(1, 0) + "\n" + row("3-4", "_"), 4, "multiword range 3-4"),
    "range backwards": (row("1-0", "_") + "\n" + row(1, 0), 3, "multiword range 1-0"),
    "ranges overlap": (
        "\n".join([row("1-2", "_"), row(1, 0), row("2-3", "_"), row(2, 1), row(3, 1)]),
        5,
        "multiword range 2-3",
    ),
    "range over the end": (row("1-3", "_") + "\n" + row(1, 0), 4, "1-3 in a sentence of 1"),
    "no head": (row(1, "_"), 3, "HEAD of word 1 is '_'"),
    "negative head": (row(1, -1), 3, "HEAD of word 1 is '-1'"),
    "other digits": (row(1, "٣"), 3, "HEAD of word 1 is '٣'"),
    "head too large": (row(1, 0) + "\n" + row(2, 5), 4, "HEAD of word 2 is 5 in a sentence of 2"),
    "two roots": (row(1, 0) + "\n" + row(2, 0), 4, "words 1 and 2 both have HEAD 0"),
    "no root": (row(1, 2) + "\n" + row(2, 1), 3, "no word of the 2 has HEAD 0"),
    "own head": (row(1, 0) + "\n" + row(2, 2), 4, r"circle \(2 → 2\)"),
    "circle": (
        "\n".join([row(1, 0), row(2, 3), row(3, 4), row(4, 2)]),
        4,
        r"circle \(2 → 3 → 4 → 2\)",
    ),
    "comments only": ("# sent_id = 7\n", 3, "block without words"),
    "cut in a line": (row(1, 2) + "\n" + row(2, 0)[:7], 4, "columns instead of 10: .*truncated"),
    "cut between lines": (row(1, 2), 3, "HEAD of word 1 is 2 in a sentence of 1 words.*truncated"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_blocks_name_file_and_line(tmp_path, case):
    text, line, message = MALFORMED[case]
    path = write(tmp_path, GOOD + text)
    with pytest.raises(UserError, match=message) as caught:
        list(read_conllu(path))
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("roots", "attached"),
    [
        ("/ ROOT no ROOT is ROOT", [("2", "punct"), ("0", "ROOT"), ("2", "parataxis")]),
        ("&quot; root is root . root", [("2", "punct"), ("0", "root"), ("2", "punct")]),
        ("he x is Root so y", [("0", "x"), ("1", "parataxis"), ("1", "y")]),
        (", x / ROOT", [("0", "x"), ("1", "punct")]),
    ],
)
def test_the_first_word_stays_the_root(roots, attached):
    words = roots.split()
    rows = [f"{i}\t{word}\t_\t_\t_\t_\t0\t" for i, word in enumerate(words[::2], start=1)]
    for ending in ("\t_\t_", ""):
        block = ["# text", "1-2\tx" + "\t_" * 8]
        block += [f"{row}{label}{ending}" for row, label in zip(rows, words[1::2])]
        found = [tuple(line.split("\t")[6:8]) for line in attach_roots(block)[2:]]
        assert found == attached
        assert attach_roots(block)[:2] == block[:2]


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(UserError, match=r"nothing\.conllu: cannot be read"):
        list(read_conllu(tmp_path / "nothing.conllu"))
    latin = tmp_path / "latin.conllu"
    latin.write_bytes(GOOD.encode() + row(1, 0, "Häuser").encode("latin-1"))
    with pytest.raises(UserError, match=r"latin\.conllu:3: not UTF-8"):
        list(read_conllu(latin))
    cut = tmp_path / "cut.conllu.gz"
    cut.write_bytes(gzip.compress((GOOD * 100).encode())[:-12])
    with pytest.raises(UserError, match=r"cut\.conllu\.gz:\d+: the gzip file is damaged"):
        list(read_conllu(cut))


@pytest.mark.parametrize(("name", "sentences"), TREEBANKS)
def test_treebanks_come_back_as_they_were(shared, tmp_path, name, sentences):
    """And their surface tokens spell the text and bear a tree."""
    path = shared / "data" / "ud" / f"{name}.conllu.gz"
    texts = [line[9:] for line in read_lines(path) if line.startswith("# text = ")]
    trees = list(read_conllu(path))
    assert len(trees) == len(texts) == sentences
    copy = tmp_path / "copy.conllu"
    with open(copy, "w", encoding="utf-8") as stream:
        for tree in trees:
            stream.write(format_conllu(tree.words, tree.heads, tree.relations, tree.upos))
    for text, tree, again in zip(texts, trees, read_conllu(copy)):
        assert (again.words, again.heads) == (tree.words, tree.heads)
        assert (again.relations, again.upos) == (tree.relations, tree.upos)
        surface = tree.collapse(tree.num_surface_tokens)
        assert "".join("".join(surface.words).split()) == "".join(text.split())
        assert is_tree(surface.heads)
