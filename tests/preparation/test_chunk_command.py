"""`syntax-nmt chunk`: by a tagger, by rules, trained and scored."""

import gzip
import json

import pytest
from stand_in import StandIn
from translations import refused

from syntax_nmt.cli import main
from syntax_nmt.commands import chunk
from syntax_nmt.data.chunks import read_chunks
from syntax_nmt.data.constituents import read_trees
from syntax_nmt.scoring.chunks.chunk_f1 import chunk_f1

TREES = """\
(S (NP (DT the) (JJ old) (NN man)) (VP (MD will) (VP (VB give) (NP (PRP her)) (NP (NNS books)))))
()
(S (NP (NNP Rome)) (VP (VBZ is) (ADJP (RB very) (JJ old))) (. .))
"""
CHUNKS = """\
B-NP I-NP I-NP B-VP I-VP B-NP B-NP

B-NP B-VP B-ADJP I-ADJP O
"""


def test_chunks_of_given_trees(tmp_path, capsys):
    (tmp_path / "text.trees").write_text(TREES)
    main(["chunk", "--trees", f"{tmp_path}/text.trees", "--output", f"{tmp_path}/text.chunks"])
    assert (tmp_path / "text.chunks").read_text() == CHUNKS
    assert "3 lines, 2 annotated (66.67%); not annotated: 1 empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--trees=x", "--output is missing"),
        ("--trees=gone --output=out", "gone: cannot be read"),
        ("--input=x --output=out --chunk-model=gone.pt", "--chunk-model gone.pt: no"),
        (
            "--input=x --output=out --stanza-dir=.",
            "models for chunks of language 'en': looked for chunker.pt; give --stanza-dir or "
            "--chunk-model FILE, or train one: syntax-nmt chunk --train",
        ),
        ("--train=gone --output=out", "gone: cannot be read"),
        ("--input=x --output=out --by=rules --chunk-model=a.pt", "a.pt: the rules use no tagger"),
    ],
)
def test_mistakes_are_one_line(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in refused("chunk", *arguments.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("option", "resumes"), [("--input", True), ("--train", False)])
def test_whether_it_resumes_when_it_is_interrupted(option, resumes, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(chunk, "run", interrupt)
    with pytest.raises(SystemExit) as error:
        main(["chunk", option, "x"])
    again = ": run the same command again; it resumes" if resumes else ""
    assert str(error.value) == f"syntax-nmt: error: interrupted{again}"


@pytest.fixture(scope="module")
def gold(shared, tmp_path_factory):
    """A hundred sentences of CoNLL-2000's test text."""
    path = tmp_path_factory.mktemp("gold") / "gold.txt"
    with gzip.open(shared / "data" / "conll2000" / "test.txt.gz", "rt") as stream:
        path.write_text("\n\n".join(stream.read().split("\n\n")[:100]) + "\n")
    return path


@pytest.mark.parametrize(("by", "lowest", "highest"), [("tagger", 90, 96), ("rules", 75, 92)])
def test_scored_against_gold_chunks(shared, gold, capsys, by, lowest, highest):
    models = str(shared / "models" / "en")
    main(["chunk", "--score", str(gold), "--stanza-dir", models, "--by", by, "--json", "-"])
    printed = capsys.readouterr()
    table = printed.err.splitlines()
    overall = next(line for line in table if line.startswith("all")).split()
    assert lowest < float(overall[3]) < highest
    figures = json.loads(printed.out)
    assert round(figures["f1"], 2) == float(overall[3])
    assert figures["types"]["NP"]["gold"] > 100
    assert figures["types"]["PP"]["f1"] > 90


def test_rules_on_the_parser_are_the_rules_on_its_trees(shared, tmp_path):
    """Quotes and brackets, however the corpus spells them, and odd lines."""
    models = ["--lang", "en", "--stanza-dir", str(shared / "models" / "en")]
    text = ['He said " no ( or yes ) " to -LRB- them -RRB- .', "", "word " * 300, "Go !"]
    (tmp_path / "text.en").write_text("".join(f"{line}\n" for line in text))
    common = ["--input", f"{tmp_path}/text.en", *models]
    main(["parse", *common, "--output", f"{tmp_path}/text.trees"])
    main(["chunk", "--trees", f"{tmp_path}/text.trees", "--output", f"{tmp_path}/by_trees"])
    main(["chunk", *common, "--output", f"{tmp_path}/by_rules", "--by", "rules"])
    main(["chunk", *common, "--output", f"{tmp_path}/by_tagger"])
    assert (tmp_path / "by_rules").read_text() == (tmp_path / "by_trees").read_text()
    for line, tree in zip(text, read_trees(tmp_path / "text.trees")):
        given = 0 < len(line.split()) <= 250
        assert (tree is not None) == given
    for name in ("by_rules", "by_tagger"):
        for line, chunks in zip(text, read_chunks(tmp_path / name)):
            given = 0 < len(line.split()) <= 250
            assert (chunks[-1].end if chunks else 0) == (len(line.split()) if given else 0)


class _EachWord(StandIn):
    """Calls each word a chunk."""

    def annotate(self, sentences):
        return ["B-NP " * len(words) + "\n" for words in sentences]

    def no_annotation(self, words):
        return "\n"


def test_a_word_with_a_space_of_its_own_stays_one_word(tmp_path, monkeypatch, capsys):
    gold = "1\u00a0000 CD B-NP\n\u2009 SYM B-NP\n\nx\u3000y\u2028z NN B-NP\n"
    (tmp_path / "gold").write_text(gold, encoding="utf-8")
    monkeypatch.setattr("syntax_nmt.commands.chunk.chunk_annotator", lambda *_: _EachWord())
    main(["chunk", "--score", f"{tmp_path}/gold", "--json", "-"])
    assert json.loads(capsys.readouterr().out)["types"]["NP"]["correct"] == 3


def test_scores_in_json(tmp_path, monkeypatch, capsys):
    """Under the names that `syntax-nmt chunks` gives them."""
    scores = chunk_f1([["B-NP", "I-NP", "B-VP"]], [["B-NP", "B-NP", "B-VP"]])
    monkeypatch.setattr("syntax_nmt.commands.chunk._score", lambda args: scores)
    main(["chunk", "--score", "gold", "--json", str(tmp_path / "f1.json")])
    assert "accuracy of tags 66.67" in capsys.readouterr().out
    main(["chunk", "--score", "gold", "--json", "-"])
    figures = json.loads(capsys.readouterr().out)
    assert figures == json.loads((tmp_path / "f1.json").read_text())
    assert figures["f1"] == pytest.approx(40)
    counts = {"correct": 0, "predicted": 2, "gold": 1}
    assert figures["types"]["NP"] == {"f1": 0, "precision": 0, "recall": 0, **counts}
