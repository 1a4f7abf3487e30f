"""Tags of chunks: every scheme, mistakes of taggers and mistakes in files."""

import pytest

from syntax_nmt.data.chunks import Chunk, chunks_of_tags, iob2_tags, parse_chunks, read_chunks
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
