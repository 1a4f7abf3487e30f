"""`--words-by` of `syntax-nmt score` and `compare`: tables, files, and what they refuse."""

import gzip
import json

import pytest
from translations import assert_holm, figures, noisy, refused, sentences, write
from word_buckets import write_conllu

from syntax_nmt.cli import main

REFERENCE = sentences(120)
TAGS = [" ".join(f"T{len(word)}" for word in line.split()) for line in REFERENCE]


@pytest.fixture
def files(tmp_path):
    """References, three runs of two systems, trees, links, training text."""
    write(tmp_path / "ref", REFERENCE)
    for name, share in (("base", 0.45), ("ours", 0.2)):
        for run in range(3):
            lines = noisy(REFERENCE, run, share + run / 50)
            write(tmp_path / f"{name}{run}", lines)
            write_conllu(tmp_path / f"{name}{run}.conllu", lines)
    write(tmp_path / "train", REFERENCE[:40])
    write_conllu(tmp_path / "ref.conllu", REFERENCE, TAGS)
    write_conllu(tmp_path / "src.conllu", REFERENCE, TAGS)
    links = [" ".join(f"{i}-{i}" for i in range(len(line.split()))) for line in REFERENCE]
    write(tmp_path / "links", links)
    return tmp_path


def systems(files, command="compare"):
    named = [
        argument
        for name in ("base", "ours")
        for argument in ("--system", name, *(files / f"{name}{run}" for run in range(3)))
    ]
    return [command, *named, "-r", files / "ref", "-m", "bleu", "--tokenize", "none"]


FEW = ("--resamples", 200, "--trials", 200)


def test_compare_and_its_tables(files, capsys):
    arguments = [
        *systems(files), *FEW, "--words-by", "upos", "distance", "frequency",
        "--reference-conllu", files / "ref.conllu", "--training-text", files / "train",
    ]  # fmt: skip
    found = figures(capsys, *arguments)
    assert [table["by"] for table in found["words_by"]] == ["upos", "distance", "frequency"]
    tested = [
        bucket for table in found["words_by"] for bucket in table["buckets"] if bucket["tested"]
    ]
    assert len(tested) > 12
    for bucket in tested:
        base, ours = bucket["systems"]
        assert (base["name"], ours["name"]) == ("base", "ours")
        assert ours["difference"] == pytest.approx(ours["score"] - base["score"])
        assert ours["randomisation"]["p_holm"] >= ours["randomisation"]["p_value"]
        assert ours["seeds"]["low"] < ours["difference"] < ours["seeds"]["high"]
        assert ours["interval"]["low"] < ours["score"] < ours["interval"]["high"]
    for table in found["words_by"]:
        for test in ("bootstrap", "randomisation", "seeds"):
            assert_holm([b["systems"][1][test] for b in table["buckets"] if b["tested"]])
    assert found["systems"][1]["scores"]["BLEU"]["sign_test"]["p_value"] < 0.05
    main([*map(str, arguments)])
    lines = capsys.readouterr().out.splitlines()
    title = next(line for line in lines if line.startswith("recall of words by upos"))
    count = sum(bucket["tested"] for bucket in found["words_by"][0]["buckets"])
    assert title.endswith(f"p after Holm's adjustment over {count} buckets")
    assert "F1 of words by frequency; p after Holm's adjustment" in "\n".join(lines)
    row = next(line for line in lines if line.startswith("T3 "))
    ours = next(b for b in tested if b["bucket"] == "T3")["systems"][1]
    assert f"{ours['difference']:+.1f}" in row.split()
    assert row.endswith(f"{ours['seeds']['low']:+.1f} to {ours['seeds']['high']:+.1f}")
    assert any(line.startswith("upos: a translation's word has the ") for line in lines)
    assert max(map(len, lines)) <= 110


@pytest.mark.parametrize(("test", "columns"), [("sign", []), ("bootstrap", ["p", "boot"])])
def test_only_some_tests(files, capsys, test, columns):
    """Collins' sign test is not made of words."""
    main(
        [
            *map(str, systems(files)), "--tests", test, "--resamples", "99", "--words-by", "seen",
            "--training-text", str(files / "train"),
        ]
    )  # fmt: skip
    lines = capsys.readouterr().out.splitlines()
    head = next(line for line in lines if line.startswith("seen "))
    assert head.split() == ["seen", "words", "base", "ours", "Δ", *columns]


def test_a_bound_stays_a_bound_after_the_adjustment(files, capsys):
    arguments = [
        *systems(files), "--tests", "randomisation", "--trials", 99, "--words-by", "seen",
        "--training-text", files / "train", "--least-words", 1,
    ]  # fmt: skip
    (table,) = figures(capsys, *arguments)["words_by"]
    assert [bucket["bucket"] for bucket in table["buckets"]] == ["seen"]
    assert table["buckets"][0]["systems"][1]["randomisation"]["p_holm"] == 0.01
    main([*map(str, arguments)])
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("seen ")]
    assert rows[-1].endswith("≤ 0.010*")


@pytest.mark.parametrize("form", ["latex", "markdown", "tsv"])
def test_other_forms(files, capsys, form):
    arguments = [
        *systems(files), *FEW, "--words-by", "seen", "--training-text", files / "train",
        "--format", form,
    ]  # fmt: skip
    main([*map(str, arguments)])
    text = capsys.readouterr().out
    assert "F1 of words by seen" in text
    if form == "latex":
        assert text.count(r"\begin{tabular}") == 2
        assert r"$\Delta$" in text


def test_score_with_trees_of_the_outputs(files, capsys):
    hypothesis = [
        argument
        for name in ("base", "ours")
        for argument in (
            "--hypothesis-conllu", name, *(files / f"{name}{run}.conllu" for run in range(3))
        )
    ]  # fmt: skip
    arguments = [
        *systems(files, "score"), "--words-by", "depth", "--reference-conllu",
        files / "ref.conllu", *hypothesis, "--confidence", "--confidence-n", 50,
    ]  # fmt: skip
    (table,) = figures(capsys, *arguments)["words_by"]
    assert (table["measure"], table["labels_of_output"]) == ("f1", "own")
    main([*map(str, arguments)])
    lines = capsys.readouterr().out.splitlines()
    place = lines.index("words by depth: ours")
    assert lines[place + 1].split() == ["depth", "words", "precision", "recall", "F1"]
    ours = table["buckets"][0]["systems"][1]
    assert f"{ours['f1']:.1f} ±{ours['interval']['half_width']:.1f}" in lines[place + 3]
    # All words have a label of their own, those of the translations as well.
    predicted = [bucket["systems"][1]["predicted"] for bucket in table["buckets"]]
    words = sum(len(line.split()) for line in REFERENCE)
    assert [sum(of_run) for of_run in zip(*predicted)] == [words] * 3


def test_source_side_and_compressed_files(files, capsys):
    for name in ("src.conllu", "links"):
        with gzip.open(files / f"{name}.gz", "wb") as stream:
            stream.write((files / name).read_bytes())
    options = ["--words-by", "upos", "distance"]
    sides = []
    for end in ("", ".gz"):
        given = ["--source-conllu", files / f"src.conllu{end}", "--links", files / f"links{end}"]
        sides.append(figures(capsys, *systems(files, "score"), *options, *given)["words_by"])
    assert sides[0] == sides[1]
    # Every word is linked to one of the same label, so that recall is that of the reference's.
    given = ["--reference-conllu", files / "ref.conllu"]
    own = figures(capsys, *systems(files, "score"), *options, *given)["words_by"]
    for source, reference in zip(sides[0], own):
        for one, other in zip(source["buckets"], reference["buckets"]):
            assert (one["bucket"], one["words"]) == (other["bucket"], other["words"])
            assert [x["recall"] for x in one["systems"]] == [y["recall"] for y in other["systems"]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("other", "ref.conllu:4: the parse has words of other characters than the text ("),
        ("fewer", "ref.conllu has 119 sentences, "),
        ("broken", "ref.conllu:1: 2 tab-separated columns instead of 10"),
    ],
)
def test_labels_that_do_not_fit(files, change, message):
    write(files / "ref", ["ein Hund", *REFERENCE[1:]])
    lines = ["ein Hund", *REFERENCE[1:]]
    write_conllu(files / "ref.conllu", lines if change != "fewer" else lines[1:])
    if change == "other":
        write(files / "ref", ["ein Hund", "zwei Katzen", *REFERENCE[2:]])
        write_conllu(files / "ref.conllu", ["ein Hund", "drei Hasen", *REFERENCE[2:]])
    if change == "broken":
        write(files / "ref.conllu", ["1\tein"])
    arguments = ["--words-by", "distance", "--reference-conllu", files / "ref.conllu"]
    assert message in refused(*systems(files), *arguments)


def test_labels_that_are_not_there(files):
    arguments = ["--words-by", "xpos", "--reference-conllu", files / "ref.conllu"]
    assert "--words-by xpos: no word of " in refused(*systems(files), *arguments)


def test_links_of_words_that_do_not_exist(files):
    lines = (files / "links").read_text().splitlines()
    write(files / "links", [lines[0], "0-99", *lines[2:]])
    message = refused(
        *systems(files), "--words-by", "upos", "--source-conllu", files / "src.conllu",
        "--links", files / "links",
    )  # fmt: skip
    assert f"{files / 'links'}: sentence 2 links words 0-99, counted from 0, of " in message
    assert "end of each sentence" not in message


def test_links_of_sentence_ends_are_named(files):
    """As Marian writes them."""
    sentences = [len(line.split()) for line in REFERENCE]
    write(files / "links", [f"{size}-{size}" for size in sentences])
    write_conllu(files / "src.conllu", REFERENCE)
    assert "if the file links the end of each sentence, as Marian's do" in refused(
        *systems(files), "--words-by", "upos", "--source-conllu", files / "src.conllu",
        "--links", files / "links", "--tokenize", "none",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--training-text", "train"], "--training-text does nothing without --words-by"),
        (["--least-words", "5"], "--least-words does nothing without --words-by"),
        (["--words-by", "seen"], "--words-by seen needs the target side of the training text"),
        (
            [
                *("--words-by", "upos", "--reference-conllu", "ref.conllu"),
                *("--hypothesis-conllu", "ours", "ours0.conllu"),
            ],
            "--hypothesis-conllu base: 0 files for 3 runs",
        ),
    ],
)
def test_what_is_refused(files, monkeypatch, arguments, message):
    monkeypatch.chdir(files)
    assert refused(*systems(files), *arguments).startswith(message)


@pytest.mark.parametrize("command", ["score", "compare"])
def test_inputs_are_not_written(files, monkeypatch, command):
    monkeypatch.chdir(files)
    options = ["--words-by", "seen", "--training-text", "train", "--json", "train"]
    assert refused(*systems(files, command), *options).startswith("train: ")
    assert (files / "train").read_text().splitlines() == REFERENCE[:40]


def test_several_references(files):
    message = refused(
        "score", files / "ours0", "-r", files / "ref", files / "ref", "--words-by", "seen",
        "--training-text", files / "train", "--force",
    )  # fmt: skip
    assert message == "--words-by compares with one reference: --reference has 2"


def test_figures_are_json(files, capsys):
    arguments = [*systems(files), *FEW, "--words-by", "seen", "--training-text", files / "train"]
    found = figures(capsys, *arguments)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


GERMAN = """\
1	Er	er	PRON	PPER	_	2	nsubj	_	_
2	fängt	fangen	VERB	VVFIN	_	0	root	_	_
3	heute	heute	ADV	ADV	_	2	advmod	_	_
4	damit	damit	ADV	PROAV	_	2	advmod	_	_
5	an	an	ADP	PTKVZ	_	2	compound:prt	_	_

# parse = none

1	Sie	sie	PRON	PPER	_	5	nsubj	_	_
2	hat	haben	AUX	VAFIN	_	5	aux	_	_
3	sich	sich	PRON	PRF	Reflex=Yes	5	obj	_	_
4	oft	oft	ADV	ADV	_	5	advmod	_	_
5	gefreut	freuen	VERB	VVPP	VerbForm=Part	0	root	_	_

1	Er	er	PRON	PPER	_	3	nsubj	_	_
2	wird	werden	AUX	VAFIN	_	3	aux	_	_
3	gehen	gehen	VERB	VVINF	VerbForm=Inf	0	root	_	_

"""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--construction", "separable"], {1: ["an ← fängt (compound:prt, 3)"]}),
        (["--construction", "separable", "--distance", 4], {}),
        (["--construction", "auxiliary"], {3: ["hat ← gefreut (aux, 3)"]}),
        (["--construction", "reflexive", "--distance", 2], {3: ["sich ← gefreut (obj, 2)"]}),
        (["--relation", "nsubj", "aux", "--distance", 2], {
            3: ["Sie ← gefreut (nsubj, 4)", "hat ← gefreut (aux, 3)"],
            4: ["Er ← gehen (nsubj, 2)"],
        }),
        (["--relation", "advmod", "--depth", 1, "--length", 5], {
            1: ["heute ← fängt (advmod, 1)", "damit ← fängt (advmod, 2)"],
            3: ["oft ← gefreut (advmod, 1)"],
        }),
        (["--length", 5], {1: [], 3: []}),
        (["--depth", 2], {}),
    ],
)  # fmt: skip
def test_selected_sentences_by_hand(tmp_path, capsys, options, expected):
    (tmp_path / "trees").write_text(GERMAN, encoding="utf-8")
    text = write(tmp_path / "text", ["eins", "zwei", "drei", "vier"])
    command = ["select", tmp_path / "trees", *options, "--text", text, "--destdir", tmp_path / "d"]
    if not expected:
        assert "none of 4 sentences has what is asked for" in refused(*command)
        assert not (tmp_path / "d").exists()
        return
    found = figures(capsys, *command)
    assert (found["sentences"], found["sentences_without_tree"]) == (4, 1)
    words = {
        each["line"]: [
            f"{w['word']} ← {w['head']} ({w['relation']}, {w['distance']})" for w in each["words"]
        ]
        for each in found["selected"]
    }
    assert words == expected
    lines = (tmp_path / "d" / "text").read_text().splitlines()
    assert lines == [["eins", "zwei", "drei", "vier"][line - 1] for line in expected]


@pytest.mark.parametrize(
    ("scheme", "piece"), [("sentencepiece", "▁{}"), ("subword-nmt", "{}@@ {}")]
)
def test_training_text_in_pieces_has_no_word_of_the_reference(files, scheme, piece):
    lines = (files / "train").read_text(encoding="utf-8").splitlines()
    in_pieces = [" ".join(piece.format(word, word) for word in line.split()) for line in lines]
    pieces = write(files / "pieces", in_pieces)
    training = ["--words-by", "seen", "--training-text", pieces]
    message = refused(*systems(files, "score"), *training)
    assert message.startswith(f"{pieces} is in pieces of {scheme}, in which nobody finds the words")


def test_translations_as_fairseq_prints_them_are_selected(tmp_path, capsys):
    (tmp_path / "trees").write_text(GERMAN, encoding="utf-8")
    outputs = []
    for system in ("base", "ours"):
        (tmp_path / system).mkdir()
        printed = [f"D-{line}\t-0.5\t{system} {line}" for line in (2, 0, 3, 1)]
        outputs.append(write(tmp_path / system / "test.out", printed))
    command = ["select", tmp_path / "trees", "--length", 5, "--text", *outputs]
    main([*map(str, command), "--destdir", str(tmp_path / "d")])
    assert capsys.readouterr().out.startswith("2 of 4 sentences\n")  # no words are asked for
    for system in ("base", "ours"):
        selected = (tmp_path / f"d/{system}.test.out").read_text().splitlines()
        assert selected == [f"{system} 0", f"{system} 2"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "nothing is asked for: give --relation, "),
        (["--depth", 1, "--text", "short"], "--text and --destdir go together"),
        (["--depth", 1, "--text", "short", "--destdir", "d"], "short has 1 sentences, trees 4"),
        (["--depth", 1, "--text", "short", "--destdir", "."], "short: "),
        (
            ["--depth", 1, "--text", "a/short", "b/a/short", "--destdir", "d"],
            "d/a.short: would be ",
        ),
    ],
)
def test_what_select_refuses(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trees").write_text(GERMAN, encoding="utf-8")
    write(tmp_path / "short", ["eins"])
    assert refused("select", "trees", *options).startswith(message)
    assert not (tmp_path / "d").exists()
