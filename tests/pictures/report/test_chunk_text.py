"""Chunks in both forms that `syntax-nmt chunks` writes."""

import pytest
from translations import write

from syntax_nmt.data.chunks import parse_chunks
from syntax_nmt.errors import UserError
from syntax_nmt.pictures.report_page.chunk_text import bracketed_chunks, read_chunk_text
from syntax_nmt.scoring.chunks.chunk_report import bracketed

WORDS = [("the", "old", "dog", "sees", "it", "."), (), ("[", "yes", "]", "]]", "[NP", "x]")]
TAGS = ["B-NP I-NP I-NP B-VP B-NP O", "", "O B-NP I-NP I-NP O B-X"]


def test_tags_and_brackets_mean_the_same(tmp_path):
    tags = write(tmp_path / "tags", TAGS)
    expected = [parse_chunks(line, "", 1) for line in TAGS]
    assert read_chunk_text(str(tags), WORDS, "text") == expected
    lines = [bracketed(chunks or (), words) for chunks, words in zip(expected, WORDS)]
    assert lines[0] == "[NP the old dog] [VP sees] [NP it] ."
    brackets = write(tmp_path / "brackets", lines)
    assert read_chunk_text(str(brackets), WORDS, "text") == expected


@pytest.mark.parametrize(
    "line", ["[NP the old", "the", "[NP the] old dog", "[ the] old", "[NP a] old", "a old", "]"]
)
def test_brackets_around_other_words(line):
    assert bracketed_chunks(line, ("the", "old")) is None


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["B-NP", "", ""], r"chunks:1: 1 tags, but not of the 6 words of text:1: give the text"),
        (["[NP the]", "", ""], r"chunks:1: bracketed chunks, but not of the 6 words of text:1"),
        (["O"], r"chunks has 1 sentences, text 3"),
    ],
)
def test_wrong_files(tmp_path, lines, message):
    path = write(tmp_path / "chunks", lines)
    with pytest.raises(UserError, match=message):
        read_chunk_text(str(path), WORDS, "text")
