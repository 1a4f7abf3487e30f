"""F1 of chunks as conlleval counts it: by hand, and of files in every format that it reads."""

from collections import Counter

import pytest
from translations import figures, refused, write

from syntax_nmt.data.chunks import Chunk, chunks_of_tags
from syntax_nmt.scoring.chunks.chunk_f1 import PhraseScore, chunk_f1
from syntax_nmt.scoring.chunks.chunk_file import read_chunk_file

# Counted by hand: 6 gold chunks, 5 predicted, 3 of both (VP 2-3, PP 3-4 and NP 0-1 of the second).
GOLD = ["B-NP I-NP B-VP B-PP B-NP O", "B-NP B-VP O"]
PREDICTED = ["B-NP B-NP B-VP B-PP O O", "B-NP O O"]


def scores(gold, predicted):
    return chunk_f1([s.split() for s in gold], [s.split() for s in predicted])


def test_counts_made_by_hand():
    result = scores(GOLD, PREDICTED)
    assert result.types == {
        "NP": PhraseScore(gold=3, predicted=3, correct=1),
        "VP": PhraseScore(gold=2, predicted=1, correct=1),
        "PP": PhraseScore(gold=1, predicted=1, correct=1),
    }
    assert result.overall == PhraseScore(gold=6, predicted=5, correct=3)
    assert result.overall.precision == pytest.approx(60)
    assert result.overall.recall == pytest.approx(50)
    assert result.overall.f1 == pytest.approx(2 * 60 * 50 / 110)
    assert result.types["NP"].f1 == pytest.approx(100 / 3)
    assert result.types["VP"].precision == 100
    assert result.types["VP"].recall == 50
    # Wrong: the second word and the fifth; VP of the second sentence.
    assert (result.words, result.correct_tags) == (9, 6)
    assert result.accuracy == pytest.approx(100 * 6 / 9)


def test_type_and_both_borders_must_agree():
    assert scores(["B-NP I-NP I-NP"], ["B-NP I-NP O"]).overall == PhraseScore(1, 1, 0)
    assert scores(["O B-NP I-NP"], ["B-NP I-NP I-NP"]).overall == PhraseScore(1, 1, 0)
    assert scores(["B-NP I-NP"], ["B-VP I-VP"]).overall == PhraseScore(1, 1, 0)
    assert scores(["B-NP I-NP"], ["B-NP I-NP"]).overall.f1 == 100


def test_the_same_span_in_another_sentence_is_another_chunk():
    assert scores(["B-NP O", "O O"], ["O O", "B-NP O"]).overall == PhraseScore(1, 1, 0)


def test_outside_is_no_chunk():
    result = scores(["O O"], ["O O"])
    assert result.types == {}
    every = result.overall
    assert (every.precision, every.recall, every.f1, result.accuracy) == (0, 0, 0, 100)
    assert chunk_f1([], []).accuracy == 0


def test_a_type_that_is_only_predicted_counts_against_precision():
    result = scores(["B-NP"], ["B-VP"])
    assert result.types["VP"] == PhraseScore(0, 1, 0)
    assert result.types["VP"].recall == 0


def test_wrong_sequences_count_as_conlleval_reads_them():
    # An I- after O opens a chunk: the span is right, its tag is not.
    result = scores(["O B-NP I-NP"], ["O I-NP I-NP"])
    assert result.overall.f1 == 100
    assert result.correct_tags == 2


def test_chunks_and_tags_score_alike():
    def chunks(tags):
        return [chunks_of_tags(sentence.split()) for sentence in tags]

    assert chunk_f1(chunks(GOLD), chunks(PREDICTED)) == scores(GOLD, PREDICTED)
    mixed = chunk_f1(chunks(GOLD), (s.split() for s in PREDICTED))
    assert mixed == scores(GOLD, PREDICTED)


def test_table_has_a_row_for_each_type_and_one_for_all():
    table = scores(GOLD, PREDICTED).table()
    assert [row[0] for row in (table.head, *table.rows)] == ["type", "NP", "PP", "VP", "all"]
    assert table.rows[3] == ["all", "60.00", "50.00", "54.55", "6", "5", "3"]
    assert table.title == "accuracy of tags 66.67 (6 of 9)"


@pytest.mark.parametrize("predicted", [["O", "O"], ["O"], ["O", "O O", "O"]])
def test_other_numbers_are_refused(predicted):
    with pytest.raises(ValueError, match="argument 2 is"):
        scores(["O", "O O"], predicted)


def test_the_baseline_of_the_shared_task(shared):
    """The most frequent chunk tag of each part of speech has the F1 that the shared task prints."""
    from syntax_nmt.data.chunks import read_conll2000

    folder = shared / "data/conll2000"
    counts: dict[str, Counter] = {}
    for sentence in read_conll2000(folder / "train.txt.gz"):
        for pos, tag in zip(sentence.pos, sentence.tags):
            counts.setdefault(pos, Counter())[tag] += 1
    best = {pos: tags.most_common(1)[0][0] for pos, tags in counts.items()}
    test = list(read_conll2000(folder / "test.txt.gz"))
    result = chunk_f1((s.tags for s in test), ([best.get(p, "O") for p in s.pos] for s in test))
    every = result.overall
    assert f"{every.precision:.2f} {every.recall:.2f} {every.f1:.2f}" == "72.58 82.14 77.07"


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
