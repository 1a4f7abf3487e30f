"""Options of `prepare`, `parse` and `chunk` that would do nothing are not passed over."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from syntax_nmt.cli import main
from syntax_nmt.commands import prepare
from syntax_nmt.commands.idle_options import idle_notes
from syntax_nmt.preparation.segment import train_model


@pytest.fixture
def raw(tmp_path) -> Path:
    for lang in ("en", "de"):
        (tmp_path / f"train.{lang}").write_text("a small text\n" * 5)
    return tmp_path


@pytest.fixture
def model(raw) -> str:
    train_model([raw / "train.en"], raw / "given.model", 14, "bpe", 100)
    return str(raw / "given.model")


def command(raw: Path, *more: str) -> list[str]:
    languages = ["--source-lang", "en", "--target-lang", "de", "--no-parse"]
    return [*languages, "--trainpref", f"{raw}/train", "--destdir", f"{raw}/out", *more]


def notes(raw: Path, *more: str) -> list[str]:
    parser = argparse.ArgumentParser()
    prepare.add_arguments(parser)
    args = parser.parse_args(command(raw, *more))
    return list(idle_notes(args, prepare._plan(args)))


WORDS = ["--source-words", "9", "--target-words", "9"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sentencepiece-type", "bpe", "--sentencepiece-model", "MODEL"], "-model and --senten"),
        (["--sentencepiece-lines", "9", "--sentencepiece-model", "MODEL"], "-model and --sentenc"),
        (
            ["--joined-dictionary", *WORDS[:2]],
            "--joined-dictionary and --source-words exclude each other: leave one",
        ),
        (
            ["--joined-dictionary", *WORDS[2:]],
            "--joined-dictionary and --target-words exclude each other: leave one",
        ),
        (
            ["--sentencepiece-type", "bpe", *WORDS],
            "--source-words with --target-words and --sentencepiece-type exclude each other",
        ),
    ],
)
def test_refused(raw, model, options, message):
    with pytest.raises(SystemExit, match=message):
        main(["prepare", *command(raw, *(model if part == "MODEL" else part for part in options))])
    assert not (raw / "out").exists()


def test_what_does_something_is_not_told_of(raw, model):
    assert notes(raw) == []
    assert notes(raw, "--vocab-size", "20", "--joined-dictionary") == []
    assert notes(raw, "--vocab-size", "20", *WORDS[:2]) == []
    assert notes(raw, "--sentencepiece-model", model) == []


def test_sizes_of_vocabularies(raw, model):
    """The recipes preset them."""
    assert notes(raw, "--vocab-size", "20", *WORDS) == [
        "--vocab-size 20 does nothing: both sides are words"
    ]
    assert notes(raw, "--vocab-size", "20", "--sentencepiece-model", model) == [
        f"--vocab-size 20 does nothing: the pieces are those of {model}"
    ]


def test_models_where_nothing_is_annotated(raw):
    """A command line is often given again with --no-parse at its end."""
    more = ["--stanza-dir", "gone", "--max-words", "5", "--parser-lang", "fr"]
    assert notes(raw, *more, "--stanza-model", "pos=x") == [
        "--parser-lang does nothing without --parse or --constituents",
        "--stanza-dir does nothing without --parse, --constituents or --chunks",
        "--max-words does nothing without --parse, --constituents or --chunks",
        "--stanza-model pos=x does nothing: it is no model of what is made here",
    ]


def test_a_model_of_another_task(raw):
    for name in ("train.en.trees", "tagger.pt", "constituency.pt"):
        (raw / name).write_text("()\n" * 5)
    more = ["--constituents", "--stanza-dir", str(raw), "--stanza-model", "depparse=x"]
    assert notes(raw, *more) == [
        "--stanza-model depparse=x does nothing: it is no model of constituents"
    ]
    text = ["--input", f"{raw}/train.en", "--stanza-model", "depparse=x"]
    with pytest.raises(SystemExit, match="--stanza-model depparse=x: is no model of constituents"):
        main(["parse", "--lang", "en", "--output", f"{raw}/a.trees", *text])
    text[-1] = "pos=x"
    with pytest.raises(SystemExit, match="--by tagger and --stanza-model exclude each other"):
        main(["chunk", "--output", f"{raw}/a.chunks", *text])


def test_annotation_files_of_the_other_side(raw):
    (raw / "train.de.conllu").touch()
    (raw / "train.en.chunks").touch()
    assert notes(raw) == [
        f"{raw}/train.de.conllu is not used: it would be dependency trees of the source, "
        "which is en",
        f"{raw}/train.en.chunks is not used: it would be chunks of the target, which is de",
    ]


def test_annotation_whose_name_lacks_the_language(raw):
    (raw / "train.conllu").touch()
    (note,) = notes(raw)
    assert note == (
        f"{raw}/train.conllu is not used: its name lacks the language: call it "
        f"{raw}/train.en.conllu"
    )
