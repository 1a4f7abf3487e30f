"""Texts that are not what they seem: in pieces, with a byte order mark, n-best lists."""

import pytest
from translations import figures, noisy, refused, sentences, write

from syntax_nmt.cli import main
from syntax_nmt.scoring import TestSet

REFERENCE = sentences(40)
OUTPUT = noisy(REFERENCE, 1, 0.3)


@pytest.fixture
def files(tmp_path):
    write(tmp_path / "ref", REFERENCE)
    write(tmp_path / "plain", OUTPUT)
    return tmp_path


def scores(capsys, files, name, *options):
    arguments = ["score", files / name, "-r", files / "ref", "-m", "bleu", "ter", *options]
    found = figures(capsys, *arguments)["systems"][0]["scores"]
    return [item["score"] for item in found.values()]


def opened(word):
    return f"▁{word[0]} {word[1:]}".strip()


def pieces(word):
    return f"{word[:2]}@@ {word[2:]}" if len(word) > 2 else word


@pytest.mark.parametrize(
    ("scheme", "lines"),
    [
        ("subword-nmt", [" ".join(map(pieces, line.split())) for line in OUTPUT]),
        ("sentencepiece", [" ".join(map(opened, line.split())) for line in OUTPUT]),
    ],
)  # fmt: skip
def test_pieces_are_noticed_and_joined(files, capsys, scheme, lines):
    write(files / "pieces", lines)
    plain = scores(capsys, files, "plain")
    assert scores(capsys, files, "pieces") != plain
    main(["score", str(files / "pieces"), "-r", str(files / "ref")])
    said = capsys.readouterr().err
    assert f"pieces is in pieces of {scheme}" in said
    assert "add --join-subwords, or score the text in words (--force: no note)" in said
    assert scores(capsys, files, "pieces", "--join-subwords") == plain
    main(["score", str(files / "pieces"), "-r", str(files / "ref"), "--join-subwords"])
    main(["score", str(files / "pieces"), "-r", str(files / "ref"), "--force"])
    assert "in pieces" not in capsys.readouterr().err
    python = {"systems": {"a": [str(files / "pieces")]}, "references": [str(files / "ref")]}
    TestSet.read(**python)
    said = capsys.readouterr().err
    assert "add join_subwords=True, or score the text in words (quiet=True: no note)" in said
    TestSet.read(**python, quiet=True)
    TestSet.read(**python, join_subwords=True)
    assert "in pieces" not in capsys.readouterr().err


def test_a_translation_that_was_cut_off_within_a_word(files, capsys):
    write(files / "pieces", [" ".join(map(pieces, line.split())) for line in OUTPUT[:-1]])
    with (files / "pieces").open("a", encoding="utf-8") as stream:
        stream.write("de@@\n")
    write(files / "whole", [*OUTPUT[:-1], "de"])
    expected = scores(capsys, files, "whole")
    assert scores(capsys, files, "pieces", "--join-subwords") == expected


def test_a_stray_sign_is_no_subword(files, capsys):
    write(files / "mail", [*OUTPUT[:-1], "wer @@ das liest"])
    main(["score", str(files / "mail"), "-r", str(files / "ref")])
    assert "in pieces" not in capsys.readouterr().err


def test_the_best_of_an_nbest_list_is_scored(files, capsys):
    lines = []
    for number, line in enumerate(OUTPUT):
        lines += [f"{number} ||| {line} ||| F0= -1 ||| -1", f"{number} ||| x ||| F0= -2 ||| -2"]
    write(files / "nbest", lines)
    assert scores(capsys, files, "nbest") == scores(capsys, files, "plain")
    main(["score", str(files / "nbest"), "-r", str(files / "ref")])
    assert "nbest: an n-best list" in capsys.readouterr().err
    write(files / "nbest", [line for line in lines if not line.startswith("7 ")])
    assert "sentence 7 of the n-best list is missing" in refused(
        "score", files / "nbest", "-r", files / "ref"
    )
