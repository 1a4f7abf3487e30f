from collections import Counter

import pytest

from syntax_nmt.data.chunks import chunks_of_tags
from syntax_nmt.scoring.chunks.chunk_f1 import PhraseScore, chunk_f1

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
