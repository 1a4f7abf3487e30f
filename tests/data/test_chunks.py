"""Tags of chunks: every scheme, mistakes of taggers and mistakes in files; those of CoNLL-2000."""

import pytest

from syntax_nmt.data.chunks import (
    Chunk,
    ChunkedSentence,
    chunks_of_tags,
    iob2_tags,
    parse_chunks,
    read_chunks,
    read_conll2000,
)
from syntax_nmt.errors import UserError

CHUNKS = (Chunk("NP", 0, 2), Chunk("NP", 2, 3), Chunk("O", 3, 4), Chunk("VP", 4, 7))
SCHEMES = {
    "IOB1": "I-NP I-NP B-NP O I-VP I-VP I-VP",
    "IOB2": "B-NP I-NP B-NP O B-VP I-VP I-VP",
    "BIOES": "B-NP E-NP S-NP O B-VP I-VP E-VP",
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_reads_alike(scheme):
    assert chunks_of_tags(SCHEMES[scheme].split()) == CHUNKS


def test_iob2_round_trip():
    assert iob2_tags(CHUNKS) == SCHEMES["IOB2"].split()
    assert parse_chunks(" ".join(iob2_tags(CHUNKS)), "f", 1) == CHUNKS
    assert chunks_of_tags([]) == ()
    assert iob2_tags(()) == []


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("O I-NP I-NP", [("O", 0, 1), ("NP", 1, 3)]),
        ("B-NP I-VP", [("NP", 0, 1), ("VP", 1, 2)]),
        ("B-NP E-NP I-NP", [("NP", 0, 2), ("NP", 2, 3)]),
        ("S-NP I-NP", [("NP", 0, 1), ("NP", 1, 2)]),
        ("E-NP E-NP", [("NP", 0, 1), ("NP", 1, 2)]),
        ("B-NP B-NP I-NP", [("NP", 0, 1), ("NP", 1, 3)]),
        ("B-NP O I-NP", [("NP", 0, 1), ("O", 1, 2), ("NP", 2, 3)]),
        ("B-A-B I-A-B", [("A-B", 0, 2)]),
    ],
)
def test_wrong_tags_are_read_as_conlleval_does(tags, spans):
    assert chunks_of_tags(tags.split()) == tuple(Chunk(*span) for span in spans)


@pytest.mark.parametrize("tag", ["NP", "B-", "X-NP", "B-O", "", "o", "-NP", "B_NP"])
def test_other_tags_are_refused(tag):
    with pytest.raises(ValueError, match="is not O"):
        chunks_of_tags(["O", tag])


def test_an_empty_line_is_none(tmp_path):
    path = tmp_path / "a.chunks"
    path.write_text("O\n\nB-NP\n")
    assert list(read_chunks(path)) == [(Chunk("O", 0, 1),), None, (Chunk("NP", 0, 1),)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("I-NP", "I-NP of word 1 follows nothing"),
        ("O I-NP", "I-NP of word 2 follows O, not B-NP or I-NP"),
        ("B-VP I-VP I-NP", "I-NP of word 3 follows I-VP"),
        ("B-NP B-", "tag 'B-' of word 2"),
        ("BNP", "tag 'BNP' of word 1"),
        ("B-NP E-NP", "tag 'E-NP' of word 2"),
        ("o", "tag 'o' of word 1"),
        ("B-O", "tag 'B-O' of word 1"),
    ],
)
def test_malformed_tags_name_file_and_line(tmp_path, text, message):
    path = tmp_path / "a.chunks"
    path.write_text(f"O\n{text}\n")
    with pytest.raises(UserError, match=message) as caught:
        list(read_chunks(path))
    assert str(caught.value).startswith(f"{path}:2: ")


CONLL2000 = "He PRP B-NP\nhas VBZ B-VP\ncome VBN I-VP\n. . O\n\nWe PRP B-NP\nsee VBP B-VP\n"


def write(folder, text, name="chunks.txt"):
    path = folder / name
    path.write_bytes(text.encode("utf-8"))
    return path


def test_sentences_with_tags_and_line(tmp_path):
    assert list(read_conll2000(write(tmp_path, CONLL2000))) == [
        ChunkedSentence(
            ("He", "has", "come", "."), ("PRP", "VBZ", "VBN", "."), ("B-NP", "B-VP", "I-VP", "O"), 1
        ),
        ChunkedSentence(("We", "see"), ("PRP", "VBP"), ("B-NP", "B-VP"), 6),
    ]


@pytest.mark.parametrize(
    "variant",
    [
        CONLL2000 + "\n",
        "\n \n" + CONLL2000 + "\n\n\n",
        CONLL2000.replace("\n\n", "\n \t\n\n"),
        CONLL2000.replace(" ", "\t"),
        CONLL2000.replace(" ", "   ").replace("\n", " \n"),
        CONLL2000.replace("\n", "\r\n"),
    ],
)
def test_spaces_and_empty_lines_do_not_matter(tmp_path, variant):
    plain, read = (
        read_conll2000(write(tmp_path, *text)) for text in ([CONLL2000], [variant, "other"])
    )
    assert [s[:3] for s in read] == [s[:3] for s in plain]


def test_iob1_becomes_iob2(tmp_path):
    rows = "a DT I-NP\nb NN I-NP\nc NN B-NP\nd VB I-VP\ne NN I-NP\n"
    (sentence,) = read_conll2000(write(tmp_path, rows))
    assert sentence.tags == ("B-NP", "I-NP", "B-NP", "B-VP", "B-NP")


def test_other_unicode_spaces_belong_to_words(tmp_path):
    (sentence,) = read_conll2000(write(tmp_path, "1\u00a0000 CD B-NP\na\u2028b NN I-NP\n"))
    assert sentence.words == ("1\u00a0000", "a\u2028b")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("word NN", "2 columns"),
        ("word", "1 columns"),
        ("two words NN B-NP", "4 columns"),
        ("word NN S-NP", "'S-NP' of 'word'"),
        ("word NN NP", "'NP' of 'word'"),
        ("word NN B-", "'B-' of 'word'"),
        ("word NN B-O", "'B-O' of 'word'"),
    ],
)
def test_other_rows_are_refused_by_file_and_line(tmp_path, row, said):
    path = write(tmp_path, f"{CONLL2000}{row}\n")
    with pytest.raises(UserError, match=rf"^{path}:8: .*{said}.*$") as caught:
        list(read_conll2000(path))
    assert "\n" not in str(caught.value)


def test_the_shared_task(shared):
    sentences = list(read_conll2000(shared / "data/conll2000/test.txt.gz"))
    chunks = [chunk for s in sentences for chunk in chunks_of_tags(s.tags) if chunk.tag != "O"]
    # As the shared task counts its test data.
    assert (len(sentences), sum(len(s.words) for s in sentences)) == (2012, 47377)
    assert (len(chunks), sum(chunk.tag == "NP" for chunk in chunks)) == (23852, 12422)
