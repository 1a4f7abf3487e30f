"""Given annotation: what is in order, what is of other words, and what is malformed."""

from __future__ import annotations

import gzip

import pytest

from syntax_nmt.data.sides import KINDS
from syntax_nmt.data.text_match import OtherTextError
from syntax_nmt.errors import UserError
from syntax_nmt.preprocess.corpus.side_files import check_side_file, copy_side_file

ROW = "{}\t{}\t_\t_\t_\t_\t{}\t_\t_\t_\n"
MULTIWORD = (
    ROW.format("1-2", "zum", "_")
    + ROW.format(1, "zu", 3)
    + ROW.format(2, "dem", 3)
    + ROW.format(3, "Haus", 0)
    + "\n"
)
SINGLE = ROW.format(1, "geh", 0) + "\n"
CYCLE = ROW.format(1, "zum", 2) + ROW.format(2, "Haus", 1) + "\n"


def write(folder, ending, content, text="zum Haus\ngeh\n"):
    words, side = folder / "train.de", folder / f"raw.de.{ending}"
    words.write_text(text, encoding="utf-8")
    side.write_text(content, encoding="utf-8")
    (kind,) = (kind for kind in KINDS if kind.ending == ending)
    return side, kind, words


@pytest.mark.parametrize("text", ["zum Haus\ngeh\n", "zu dem Haus\ngeh\n"])
def test_the_words_may_be_surface_tokens_or_syntactic_words(tmp_path, text):
    check_side_file(*write(tmp_path, "conllu", MULTIWORD + SINGLE, text))


@pytest.mark.parametrize(
    ("kind", "content", "place"),
    [
        ("conllu", SINGLE + MULTIWORD, "conllu:1: the parse has 1 words, the corpus line 2: parse"),
        ("conllu", MULTIWORD + SINGLE.replace("geh", "steh"), "conllu:6: the words differ .*e:2 "),
        ("trees", "(X a)\n(X geh)\n", r"trees:1: 1 words, but .*train\.de:1 has 2: annotate"),
        ("chunks", "O O\nO B-NP\n", r"chunks:2: 2 tags, but .*train\.de:2 has 1 words: chunk"),
    ],
)
def test_other_words_name_both_places_and_the_next_step(tmp_path, kind, content, place):
    with pytest.raises(OtherTextError, match=rf"raw\.de\.{place}"):
        check_side_file(*write(tmp_path, kind, content))


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        ("chunks", "O O\nNP\n", r"raw\.de\.chunks:2: tag 'NP'"),
        ("chunks", "O\nNP\n", r"raw\.de\.chunks:2: tag 'NP'"),  # behind a line of other words
        ("chunks", "O O\n", r"raw\.de\.chunks:2: the file ends before .* one entry a sentence"),
        ("chunks", "O\nO\nO\n", r"train\.de:3: the file ends before the others"),
        ("conllu", CYCLE + SINGLE, r"raw\.de\.conllu:\d: "),
        ("trees", "(X a b)\n(X geh\n", r"raw\.de\.trees:2: 1 brackets"),
    ],
)
def test_malformed_is_not_other_words(tmp_path, kind, content, message):
    with pytest.raises(UserError, match=message) as caught:
        check_side_file(*write(tmp_path, kind, content))
    assert not isinstance(caught.value, OtherTextError)


def test_a_damaged_gzip_file_is_not_other_words(tmp_path):
    side, kind, words = write(tmp_path, "chunks", "O O\nO\n")
    damaged = side.with_name(side.name + ".gz")
    damaged.write_bytes(gzip.compress(side.read_bytes())[:-12])
    with pytest.raises(UserError, match="damaged or truncated") as caught:
        check_side_file(damaged, kind, words)
    assert not isinstance(caught.value, OtherTextError)


def test_a_copy_is_the_same_bytes_decompressed(tmp_path):
    side, _, _ = write(tmp_path, "conllu", MULTIWORD + SINGLE)
    content = side.read_bytes().replace(b"\n", b"\r\n")
    side.write_bytes(content)
    packed = side.with_name(side.name + ".gz")
    packed.write_bytes(gzip.compress(content))
    for source in (side, packed):
        copy_side_file(source, tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == content
