import pytest

from syntax_nmt.data.chunks import ChunkedSentence, chunks_of_tags, read_conll2000
from syntax_nmt.errors import UserError

TEXT = "He PRP B-NP\nhas VBZ B-VP\ncome VBN I-VP\n. . O\n\nWe PRP B-NP\nsee VBP B-VP\n"


def write(folder, text, name="chunks.txt"):
    path = folder / name
    path.write_bytes(text.encode("utf-8"))
    return path


def test_sentences_with_tags_and_line(tmp_path):
    assert list(read_conll2000(write(tmp_path, TEXT))) == [
        ChunkedSentence(
            ("He", "has", "come", "."), ("PRP", "VBZ", "VBN", "."), ("B-NP", "B-VP", "I-VP", "O"), 1
        ),
        ChunkedSentence(("We", "see"), ("PRP", "VBP"), ("B-NP", "B-VP"), 6),
    ]


@pytest.mark.parametrize(
    "variant",
    [
        TEXT + "\n",
        "\n \n" + TEXT + "\n\n\n",
        TEXT.replace("\n\n", "\n \t\n\n"),
        TEXT.replace(" ", "\t"),
        TEXT.replace(" ", "   ").replace("\n", " \n"),
        TEXT.replace("\n", "\r\n"),
    ],
)
def test_spaces_and_empty_lines_do_not_matter(tmp_path, variant):
    plain, read = (read_conll2000(write(tmp_path, *text)) for text in ([TEXT], [variant, "other"]))
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
    path = write(tmp_path, f"{TEXT}{row}\n")
    with pytest.raises(UserError, match=rf"^{path}:8: .*{said}.*$") as caught:
        list(read_conll2000(path))
    assert "\n" not in str(caught.value)


def test_the_shared_task(shared):
    sentences = list(read_conll2000(shared / "data/conll2000/test.txt.gz"))
    chunks = [chunk for s in sentences for chunk in chunks_of_tags(s.tags) if chunk.tag != "O"]
    # As the shared task counts its test data.
    assert (len(sentences), sum(len(s.words) for s in sentences)) == (2012, 47377)
    assert (len(chunks), sum(chunk.tag == "NP" for chunk in chunks)) == (23852, 12422)
