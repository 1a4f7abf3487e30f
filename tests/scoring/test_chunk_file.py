"""Chunk files read as conlleval reads them: schemes, columns, and tags that a tagger got wrong."""

from translations import figures, refused, write

from syntax_nmt.data.chunks import Chunk
from syntax_nmt.scoring.chunks.chunk_file import read_chunk_file

CHUNKS = [(Chunk("NP", 0, 2), Chunk("O", 2, 3)), None, (Chunk("VP", 0, 1), Chunk("VP", 1, 2))]
# conlleval (the script of CoNLL-2000) over these lines: see the test.
CONLLEVAL = """\
Boeing NNP B-NP I-NP
's POS B-NP B-NP
747 CD I-NP I-NP
jetliners NNS I-NP I-VP
. . O O

Rockwell NNP B-NP B-NP
said VBD B-VP I-VP
it PRP B-NP I-VP
would MD B-VP B-VP
rise VB I-VP E-VP
"""


def test_columns(tmp_path):
    lines = ["the DT B-NP", "old JJ I-NP", ". . O", "", "", "sees VB I-VP", "rises VB B-VP"]
    found = read_chunk_file(str(write(tmp_path / "columns", lines)))
    assert found.chunks == [CHUNKS[0], CHUNKS[2]]
    assert found.words == [("the", "old", "."), ("sees", "rises")]
    assert found.reference is None


def test_an_i_without_its_b_counts_as_in_conlleval(tmp_path, capsys):
    # By hand: gold NP 0-1, NP 1-4 | NP 0-1, VP 1-2, NP 2-3, VP 3-5;
    # found NP 0-1, NP 1-3, VP 3-4 | NP 0-1, VP 1-3, VP 3-5: three of them are right.
    path = write(tmp_path / "conlleval", CONLLEVAL.rstrip("\n").split("\n"))
    found = figures(capsys, "chunks", "--hypothesis", path)
    assert (found["gold"], found["predicted"], found["correct"]) == (6, 6, 3)
    assert found["precision"] == found["recall"] == found["f1"] == 50
    assert found["tags"] == {"accuracy": 50, "correct": 5, "total": 10}
    assert found["sentences_scored"] == 2
    message = refused("chunks", "--hypothesis", path, "--strict", "--output", "-")
    assert "conlleval:1: I-NP of word 1 follows nothing" in message


def test_other_words_are_named_by_their_line(tmp_path):
    columns = write(tmp_path / "columns", CONLLEVAL.rstrip("\n").split("\n"))
    target = write(tmp_path / "target", ["Boeing 's 747 jetliners .", "Rockwell said it"])
    message = refused("chunks", "--hypothesis", columns, "--target", target, "--output", "-")
    assert f"{columns}:7: 5 words, {target} has 3" in message


def test_brackets_need_no_other_file(tmp_path, capsys):
    from syntax_nmt.cli import main

    path = write(tmp_path / "columns", ["the DT B-NP", "dog NN I-NP", "barks VB B-VP"])
    for option in ("--chunk-format", "--format"):
        main(["chunks", "--hypothesis", str(path), option, "brackets"])
        assert capsys.readouterr().out == "[NP the dog] [VP barks]\n"


def test_tags_without_types(tmp_path, capsys):
    chunks = read_chunk_file(str(write(tmp_path / "tags", ["B I O B"]))).chunks
    assert chunks == [(Chunk("_", 0, 2), Chunk("O", 2, 3), Chunk("_", 3, 4))]
    path = tmp_path / "tags"
    found = figures(capsys, "chunks", "--hypothesis", path, "--score", path)
    assert (found["f1"], found["types"]["_"]["correct"]) == (100, 2)


def test_what_is_no_tag_is_named(tmp_path):
    def message(lines):
        path = write(tmp_path / "x", lines)
        return refused("chunks", "--hypothesis", path, "--score", path)

    assert "x:2: tag 'NP' is not O" in message(["O", "B-NP NP"])
    assert "x:2: 2 columns, 3 before" in message(["the DT B-NP", "dog I-NP"])
    # Of another scheme, or mistyped: no words with their columns.
    assert "x:1: tag 'N-NP' is not O" in message(["N-NP I-NP O"])
    assert "x:2: tag 'U-NP' is not O" in message(["B-NP I-NP O", "U-NP O"])
