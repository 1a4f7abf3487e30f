import pytest

from syntax_nmt.data.chunks import Chunk, chunks_of_tags, iob2_tags, parse_chunks

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
