"""Brackets in the output of models: taken out where a folder says so, and scored as trees."""

import json

import pytest
from nonempty import some
from translations import figures

from syntax_nmt.cli import main
from syntax_nmt.scoring import TestSet
from syntax_nmt.scoring.translations.linearised_output import LinearisedOutput

REFERENCES = ["the cat sleeps .", "a ( dog ) .", "no"]
# The second tree lacks a bracket.
TREES = [
    "▁(S ▁(NP ▁the ▁c at ▁)NP ▁s le eps ▁. ▁)S",
    "▁(S ▁(NP ▁a ▁-LRB- ▁dog ▁-RRB- ▁)NP ▁. ▁)VP ▁)S",
    "▁(S ▁no ▁)S",
]


@pytest.fixture
def folder(tmp_path):
    """What is read of a prepared folder, as of string-to-tree."""
    prepared = tmp_path / "prepared"
    prepared.mkdir()
    sides = {lang: {"tokenizer": "none"} for lang in ("de", "en")}
    (prepared / "segmentation.json").write_text(json.dumps(sides))
    record(prepared, "target")
    return prepared


def record(folder, mode):
    report = {"unknown": {}} if mode is None else {"linearised": mode}
    (folder / "prepare.json").write_text(json.dumps({"data-bin": {"report": report}}))


def generated(path, texts):
    """Output of fairseq-generate: tokens in H- lines, and what became of them in D- lines."""
    lines = []
    for number, (tokens, text) in enumerate(zip(TREES, texts)):
        lines += [f"S-{number}\tx", f"T-{number}\t{REFERENCES[number]}"]
        lines += [f"H-{number}\t-0.1\t{tokens}", f"D-{number}\t-0.1\t{text}"]
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


@pytest.fixture
def outputs(tmp_path):
    """The same by our task and by fairseq's; and as tokens alone."""
    ours = generated(tmp_path / "ours", REFERENCES)
    stock = generated(tmp_path / "stock", [x.replace(" ", "").replace("▁", " ") for x in TREES])
    tokens = tmp_path / "tokens"
    tokens.write_text("".join(f"{tree}\n" for tree in TREES))
    return [ours, stock, str(tokens)]


def of_folder(outputs, folder):
    return [part for path in outputs for part in ("--prepared", path.rsplit("/", 1)[1], folder)]


def test_scores_are_those_of_the_words(outputs, folder, capsys, tmp_path):
    reference = tmp_path / "reference"
    reference.write_text("".join(f"{line}\n" for line in REFERENCES))
    found = figures(
        capsys, "score", *outputs, *of_folder(outputs, folder), "-r", reference, "--metrics", "bleu"
    )
    for system in found["systems"]:
        assert system["scores"]["BLEU"]["score"] == pytest.approx(100)
        assert system["balanced_trees"] == [pytest.approx(200 / 3)]
    found = figures(capsys, "score", outputs[1], "-r", reference, "--metrics", "bleu")
    assert found["systems"][0]["scores"]["BLEU"]["score"] < 50  # no guess
    assert "balanced_trees" not in found["systems"][0]


def test_comparisons_and_tables_say_how_many_are_balanced(outputs, folder, capsys):
    both = outputs[:2]
    main(["compare", *both, *map(str, of_folder(both, folder)), "--metrics", "bleu", "--force"])
    out = capsys.readouterr().out
    assert "ours: balanced trees 66.67%\nstock: balanced trees 66.67%" in out
    main(["score", both[0], *map(str, of_folder(both[:1], folder)), "--metrics", "bleu"])
    assert "ours: balanced trees 66.67%" in capsys.readouterr().out


def test_the_page_says_it(outputs, folder, tmp_path):
    page = tmp_path / "page.html"
    main(["report", outputs[1], *map(str, of_folder(outputs[1:2], folder)), "--output", str(page)])
    html = page.read_text()
    assert "stock: balanced trees 66.67%" in html
    assert "a ( dog ) ." in html
    assert "(NP" not in html


def test_a_folder_without_brackets_changes_nothing(outputs, folder, capsys):
    record(folder, None)
    with_folder = figures(capsys, "score", outputs[0], *of_folder(outputs[:1], folder))
    assert with_folder == figures(capsys, "score", outputs[0])


def test_multitask_models_translate_without_trees(outputs, folder, capsys):
    record(folder, "multitask")
    found = figures(capsys, "score", outputs[1], *of_folder(outputs[1:2], folder))
    assert "balanced_trees" not in found["systems"][0]
    assert found["systems"][0]["scores"]["BLEU"]["score"] == pytest.approx(100)


def test_interleaved_tags_are_taken_out(folder, capsys, tmp_path):
    record(folder, "interleaved")
    path, reference = tmp_path / "tags", tmp_path / "reference"
    path.write_text("(DET the (NOUN cat (VERB sleeps\n(PUNCT -LRB- (X (NOUN\n")  # the model repeats
    reference.write_text("the cat sleeps\n(\n")
    both = ["--prepared", "tags", str(folder), "-r", reference, "--metrics", "chrf"]
    (system,) = figures(capsys, "score", str(path), *both)["systems"]
    assert system["scores"]["chrF2"]["score"] == pytest.approx(100)
    assert "balanced_trees" not in system


def test_text_that_is_ready_is_not_read_as_tokens(folder, tmp_path):
    path = tmp_path / "ours"
    path.write_text("".join(f"{line}\n" for line in ["the cat", "a \\ b", "c"]))
    with pytest.raises(SystemExit, match="ours: neither H- lines nor brackets, so its words may"):
        main(["score", str(path), "--prepared", "ours", str(folder), "-r", str(path)])


def test_folders_of_no_system_and_of_no_preparation(outputs, folder, tmp_path):
    with pytest.raises(SystemExit, match="--prepared other: no system has this name"):
        main(["score", outputs[0], "--prepared", "other", str(folder)])
    with pytest.raises(SystemExit, match="`syntax-nmt prepare` did not make it"):
        main(["score", outputs[0], "--prepared", "ours", str(tmp_path)])


def test_from_python(outputs):
    brackets = LinearisedOutput(trees=True, detokenize=str.upper)
    read = TestSet.read({"a": outputs[1:2]}, linearised={"a": brackets})
    assert read.systems[0].runs[0].sentences == tuple(map(str.upper, REFERENCES))
    assert read.systems[0].balanced == (pytest.approx(200 / 3),)


# ---- trees that a model wrote

GOLD = ["(S (NP (DT the) (NN cat)) (VP (VB sleeps)) (. .))", "(S a -LRB- dog -RRB- .)", "()"]


def test_bracket_f1_of_written_trees(outputs, tmp_path, capsys):
    """The whole sentence and NP of the first are right; the second is no tree, the third none."""
    gold = tmp_path / "gold.trees"
    gold.write_text("".join(f"{tree}\n" for tree in GOLD))
    for path in some(outputs):
        found = figures(
            capsys, "trees", "--kind", "constituents", "--hypothesis", path, "--linearised",
            "--trees", gold,
        )  # fmt: skip
        counts = found["bracket_f1"]["trees"]["with_whole_sentence"]
        assert (counts["correct"], counts["predicted"], counts["gold"]) == (2, 2, 3)
        assert found["balanced_trees"] == pytest.approx(200 / 3)
        assert found["sentences_without_tree"] == 1


def test_a_tree_over_other_words_is_none(tmp_path, capsys):
    """Spans of more words would be compared with others."""
    gold, written = tmp_path / "gold.trees", tmp_path / "written"
    gold.write_text(f"{GOLD[0]}\n")
    for text, correct in (("(S (NP the cat ) naps . )", 2), ("(S (NP the cat ) . )", 0)):
        written.write_text(f"{text}\n")
        found = figures(
            capsys, "trees", "--kind", "constituents", "--hypothesis", written, "--linearised",
            "--trees", gold,
        )  # fmt: skip
        assert found["bracket_f1"]["trees"]["with_whole_sentence"]["correct"] == correct
        assert found["balanced_trees"] == 100


def test_uas_of_written_trees(tmp_path, capsys):
    gold, written = tmp_path / "gold.conllu", tmp_path / "written"
    rows = [("the", 2, "det"), ("cat", 3, "nsubj"), ("sleeps", 0, "root")]
    block = "".join(
        f"{n}\t{word}\t_\t_\t_\t_\t{head}\t{relation}\t_\t_\n"
        for n, (word, head, relation) in enumerate(rows, start=1)
    )
    gold.write_text(f"{block}\n{block}\n")
    written.write_text("(root (det the ) (nsubj cat ) sleeps )\n(root (nsubj the cat )\n")
    arguments = ("trees", "--hypothesis", written, "--linearised", "--conllu", gold)
    found = figures(capsys, *arguments, "--output", tmp_path / "out.conllu")
    assert (found["words_correct"], found["words_scored"]) == (2, 6)
    assert found["las"] == pytest.approx(100 * 2 / 6)
    gold.write_text(gold.read_text().replace("nsubj", "nsubj:pass"))
    for relation, right in (("nsubj", 2), ("nsubj:outer", 1)):  # others have no subtypes
        line = f"(root (det the ) ({relation} cat ) sleeps )\n"
        written.write_text(f"{line}(root (nsubj the cat )\n")
        scored = figures(capsys, *arguments, "--output", tmp_path / "again.conllu")
        assert (scored["words_correct"], scored["las"]) == (2, pytest.approx(100 * right / 6))
    assert (found["balanced_trees"], found["sentences_without_tree"]) == (50, 1)
    assert "2\tcat\t_\t_\t_\t_\t3\tnsubj" in (tmp_path / "out.conllu").read_text()


def test_brackets_without_words_are_refused(tmp_path):
    written = tmp_path / "written"
    written.write_text("(S (NP ) (VP ) )\n")
    with pytest.raises(SystemExit, match="its brackets have no words, so nobody knows where"):
        main(["trees", "--kind", "constituents", "--hypothesis", str(written), "--linearised",
              "--output", "-"])  # fmt: skip
