import gzip

import pytest

from syntax_nmt.data.chunks import Chunk, iob2_tags, parse_chunks, read_chunks
from syntax_nmt.errors import UserError


def test_chunks_cover_every_word():
    chunks = parse_chunks("B-NP I-NP O O B-VP B-VP I-VP B-NP", "f", 1)
    assert chunks == (
        Chunk("NP", 0, 2),
        Chunk("O", 2, 3),
        Chunk("O", 3, 4),
        Chunk("VP", 4, 5),
        Chunk("VP", 5, 7),
        Chunk("NP", 7, 8),
    )
    assert " ".join(iob2_tags(chunks)) == "B-NP I-NP O O B-VP B-VP I-VP B-NP"


def test_an_empty_line_is_none(tmp_path):
    path = tmp_path / "a.chunks"
    path.write_text("O\n\nB-NP\n")
    assert list(read_chunks(path)) == [(Chunk("O", 0, 1),), None, (Chunk("NP", 0, 1),)]


MALFORMED = {
    "I first": ("I-NP", "I-NP of word 1 follows nothing"),
    "I after O": ("O I-NP", "I-NP of word 2 follows O, not B-NP or I-NP"),
    "I after another type": ("B-VP I-VP I-NP", "I-NP of word 3 follows I-VP"),
    "no type": ("B-NP B-", "tag 'B-' of word 2"),
    "no dash": ("BNP", "tag 'BNP' of word 1"),
    "other scheme": ("B-NP E-NP", "tag 'E-NP' of word 2"),
    "lower case": ("o", "tag 'o' of word 1"),
    "outside as a type": ("B-O", "tag 'B-O' of word 1"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_tags_name_file_and_line(tmp_path, case):
    text, message = MALFORMED[case]
    path = tmp_path / "a.chunks"
    path.write_text(f"O\n{text}\n")
    with pytest.raises(UserError, match=message) as caught:
        list(read_chunks(path))
    assert str(caught.value).startswith(f"{path}:2: ")


@pytest.mark.parametrize(("name", "sentences"), [("train", 8936), ("test", 2012)])
def test_conll2000_comes_back_as_it_was(shared, name, sentences):
    with gzip.open(shared / "data" / "conll2000" / f"{name}.txt.gz", "rt") as stream:
        blocks = [block.split("\n") for block in stream.read().strip().split("\n\n")]
    assert len(blocks) == sentences
    for number, block in enumerate(blocks, start=1):
        line = " ".join(row.split()[2] for row in block)
        chunks = parse_chunks(line, name, number)
        assert " ".join(iob2_tags(chunks)) == line
        assert chunks[-1].end == len(block)
