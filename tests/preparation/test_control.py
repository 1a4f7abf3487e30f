"""`syntax-nmt control`: what it writes, what it says, and what it refuses."""

import gzip
import json
import re

import pytest
from nonempty import some

from syntax_nmt.cli import main
from syntax_nmt.data.conllu import format_conllu, format_no_parse

NO_PARSE = format_no_parse(["no", "parse"])
CONLLU = (
    format_conllu(["the", "dog", "barks"], [1, 2, 2], ["det", "nsubj", "root"])
    + NO_PARSE
    + format_conllu(["it", "sees", "us"], [1, 1, 1], ["nsubj", "root", "obj"])
    + format_conllu(["go"], [0])
)


def control(folder, name, content, *options, seed=1):
    """What the command writes, and its figures."""
    file, output, figures = folder / name, folder / f"out.{name}", folder / "figures.json"
    file.write_text(content, encoding="utf-8")
    given = [str(file), "--output", str(output), "--seed", str(seed), "--json", str(figures)]
    main(["control", *given, *(options or ("--kind", "borrowed"))])
    return output.read_text(encoding="utf-8"), json.loads(figures.read_text(encoding="utf-8"))


def test_borrowed_heads(tmp_path):
    text, figures = control(tmp_path, "train.en.conllu", CONLLU)
    first = format_conllu(["the", "dog", "barks"], [1, 1, 1], ["nsubj", "root", "obj"])
    third = format_conllu(["it", "sees", "us"], [1, 2, 2], ["det", "nsubj", "root"])
    assert text.startswith(first + NO_PARSE + third)
    assert text.split("\n\n")[3].split("\t")[6] == "0"  # cut
    assert figures["lent"] == {"of the same length": 2, "cut": 1}
    assert (figures["sentences"], figures["sentences_without_annotation"]) == (3, 1)
    assert figures["before"]["mean distance of heads"] == pytest.approx(4 / 4)
    assert figures["before"]["mean depth"] == pytest.approx((2 + 1 + 0) / 3)
    assert figures["after"]["share of left heads"] == pytest.approx(1 / 4)
    assert figures["same_share"] == pytest.approx(3 / 7)


def test_chain(tmp_path):
    text, figures = control(tmp_path, "train.en.conllu", CONLLU, "--kind", "chain")
    heads = [line.split("\t")[6] for line in text.splitlines() if line[:1].isdigit()]
    assert heads == ["0", "1", "2", "_", "_", "0", "1", "2", "0"]
    assert figures["after"]["share of left heads"] == 1


TAGGED = CONLLU.replace("dog\t_\t_", "dog\t_\tNOUN").replace("it\t_\t_", "it\t_\tPRON")


def columns(text, *places):
    """Some columns of each word that has a parse."""
    rows = [line.split("\t") for line in text.splitlines() if line[:1].isdigit()]
    return [[row[place] for place in places] for row in rows if row[6] != "_"]


def test_dummy(tmp_path):
    text, figures = control(tmp_path, "train.en.conllu", TAGGED, "--kind", "dummy")
    assert columns(text, 2, 3, 4, 5, 7) == [["X"] * 5] * 7
    assert columns(text, 1, 6) == columns(TAGGED, 1, 6)
    assert NO_PARSE in text
    assert figures["before"]["share with UPOS"] == pytest.approx(2 / 7)
    assert figures["after"]["share with UPOS"] == 1
    assert figures["same_share"] == 0


def test_majority(tmp_path):
    (tmp_path / "training.conllu").write_text(TAGGED, encoding="utf-8")
    words = format_conllu(["dog", "it", "new"], [0, 0, 0], upos=["VERB", "PRON", "ADJ"])
    options = ("--kind", "majority", "--training", str(tmp_path / "training.conllu"))
    text, figures = control(tmp_path, "test.en.conllu", words, *options)
    assert columns(text, 3, 7) == [["NOUN", "nsubj"], ["PRON", "nsubj"], ["_", "root"]]
    assert columns(text, 1, 6) == columns(words, 1, 6)
    assert figures["same_share"] == 0
    again, figures = control(tmp_path, "train.en.conllu", TAGGED, *options)
    assert (again, figures["same_share"]) == (TAGGED, 1)


TWO_ROOTS = format_conllu(["(", "go", "home"], [1, 1, 1], ["root", "root", "obj"]).replace(
    "1\t(\t_\t_\t_\t_\t2", "1\t(\t_\t_\t_\t_\t0"
)


@pytest.mark.parametrize("kind", ["borrowed", "dummy", "majority"])
def test_several_roots(tmp_path, kind):
    """As `binarize` reads them, of the training text, too."""
    options = ["--kind", kind]
    if kind == "majority":
        (tmp_path / "training.conllu").write_text(TWO_ROOTS, encoding="utf-8")
        options += ["--training", str(tmp_path / "training.conllu")]
    with pytest.raises(SystemExit, match=r"conllu:2: a second root .* control"):
        control(tmp_path, "a.conllu", TWO_ROOTS * 2, *options)
    text, _ = control(tmp_path, "a.conllu", TWO_ROOTS * 2, *options, "--attach-roots")
    relations = ["X"] * 3 if kind == "dummy" else ["punct", "root", "obj"]
    assert columns(text, 6, 7) == [list(row) for row in zip("202", relations)] * 2


def test_trees_and_chunks(tmp_path):
    text, _ = control(tmp_path, "a.trees", "(S (A a) (B b))\n()\n(S (X (D d) (E e)))\n")
    assert text == "(S (X (D a) (E b)))\n()\n(S (A d) (B e))\n"
    text, figures = control(tmp_path, "a.chunks", "B-NP I-NP O\n\nO B-VP I-VP\n")
    assert text == "O B-VP I-VP\n\nB-NP I-NP O\n"
    assert figures["before"]["mean length of chunks"] == 2


@pytest.mark.parametrize(
    ("name", "content", "kinds"),
    [
        ("test.en.conllu", NO_PARSE, ("chain", "shuffled", "borrowed", "dummy")),
        ("test.en.trees", "()\n", ("balanced", "right", "borrowed")),
        ("test.en.chunks", "\n", ("borrowed",)),
    ],
)
def test_a_text_without_any_annotation(tmp_path, name, content, kinds):
    for kind in some(kinds):
        text, figures = control(tmp_path, name, content, "--kind", kind)
        assert text == content
        assert (figures["sentences"], figures["sentences_without_annotation"]) == (0, 1)
        assert set(figures["before"].values()) == {None}


@pytest.mark.parametrize("kind", ["borrowed", "shuffled"])
def test_the_seed_decides(tmp_path, kind):
    words = ["a", "b", "c", "d", "e"]
    content = "".join(format_conllu(words, [root] * 5) for root in (0, 1, 2, 3, 4))
    given = (tmp_path, "a.conllu", content, "--kind", kind)
    first, again, other = (control(*given, seed=seed)[0] for seed in (1, 1, 2))
    assert first == again != other


def test_a_compressed_file_to_stdout(tmp_path, capsys):
    file = tmp_path / "a.chunks.gz"
    file.write_bytes(gzip.compress(b"B-NP\nO\n"))
    main(["control", "--kind", "borrowed", str(file), "--output", "-"])
    said = capsys.readouterr()
    assert said.out == "O\nB-NP\n"
    assert "2 of the same length" in said.err


@pytest.mark.parametrize(
    ("name", "content", "kind", "message"),
    [
        ("a.trees", "(A a)\n", "chain", "--kind chain is for .conllu files alone: give --kind bor"),
        ("a.chunks", "O\n", "shuffled", "--kind shuffled is for .conllu files alone"),
        ("a.trees", "(A a)\n", "dummy", "--kind dummy is for .conllu files alone"),
        (
            "a.conllu",
            CONLLU,
            "majority",
            "--training FILE, the .conllu file of the training text, is needed",
        ),
        ("a.txt", "O\n", "borrowed", "give one of .conllu, .trees, .chunks"),
        ("a.chunks", "O\n\n", "borrowed", "a single sentence has annotation"),
        ("a.chunks", "O\nNP\n", "borrowed", "a.chunks:2: tag 'NP' of word 1"),
    ],
)
def test_what_is_refused(tmp_path, name, content, kind, message):
    with pytest.raises(SystemExit, match=re.escape(message)):
        control(tmp_path, name, content, "--kind", kind)
    assert not (tmp_path / f"out.{name}").exists()


@pytest.mark.parametrize(
    ("kind", "training", "message"),
    [
        ("dummy", CONLLU, "is for --kind majority alone"),
        ("majority", NO_PARSE, "training.conllu: has no parses: give the training text's"),
        ("majority", "1\tx\n", "training.conllu:1: 2 tab-separated columns"),
        ("majority", None, "training.conllu"),
    ],
)
def test_training_texts_that_are_refused(tmp_path, kind, training, message):
    file = tmp_path / "training.conllu"
    if training is not None:
        file.write_text(training, encoding="utf-8")
    with pytest.raises(SystemExit, match=re.escape(message)):
        control(tmp_path, "a.conllu", CONLLU, "--kind", kind, "--training", str(file))
    assert not (tmp_path / "out.a.conllu").exists()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("balanced", "(X (X (A a) (B b)) (X (C c) (D d)))"),
        ("right", "(X (A a) (X (B b) (X (C c) (D d))))"),
    ],
)
def test_constituents_without_syntax(tmp_path, kind, expected):
    text, figures = control(
        tmp_path, "en.trees", "(S (A a) (B b) (C c) (D d))\n()\n", "--kind", kind
    )
    assert text == f"{expected}\n()\n"
    assert figures["sentences_without_annotation"] == 1
    with pytest.raises(SystemExit, match=f"--kind {kind} is for .trees files alone"):
        control(tmp_path, "en.conllu", CONLLU, "--kind", kind)
