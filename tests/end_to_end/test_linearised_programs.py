"""Models of linearised folders in fairseq's programs and in Python: any architecture trains, typed
text gets its task, and translations have no brackets.
"""

import re
from pathlib import Path

import pytest
from commands import fairseq, refuse, succeed, syntax_nmt

from syntax_nmt import load
from syntax_nmt.data.linearised import words_of
from syntax_nmt.data.linearised_folder import join_between_symbols
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.scoring.translations.output_formats import parse_generate_output

pytestmark = pytest.mark.dear

STOCK = (
    *("--task", "translation", "--arch", "transformer_tiny", "--share-all-embeddings"),
    *("--criterion", "label_smoothed_cross_entropy", "--label-smoothing", "0.1"),
    *("--optimizer", "adam", "--lr", "5e-3", "--max-tokens", "2000", "--no-epoch-checkpoints"),
    *("--max-update", "40", "--cpu", "--num-workers", "0"),
)
LANGUAGES = ("--source-lang", "src", "--target-lang", "tgt")
WORDS = ("--source-tokenizer", "none", "--target-tokenizer", "none")


@pytest.fixture(scope="module")
def raw(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    syntax_nmt("demo", folder, "--train", "200", "--valid", "10", "--test", "10")
    return folder


def trained(raw, folder, mode):
    """A stock Transformer; the target of `target` is the parsed language."""
    source, target = ("tgt", "src") if mode == "target" else ("src", "tgt")
    prefixes = [x for name in ("train", "valid", "test") for x in (f"--{name}pref", raw / name)]
    syntax_nmt(
        *("prepare", "--source-lang", source, "--target-lang", target, *prefixes, *WORDS),
        *("--vocab-size", "300", "--linearised", mode, "--destdir", folder),
    )
    data = folder / "data-bin"
    succeed("fairseq_cli.train", data, *STOCK, "-s", source, "-t", target, "--save-dir", folder)
    return folder


@pytest.fixture(scope="module")
def multitask(raw, tmp_path_factory) -> Path:
    return trained(raw, tmp_path_factory.mktemp("multitask"), "multitask")


def cut(folder):
    model = ("--bpe", "sentencepiece", "--sentencepiece-model", folder / "sentencepiece.model")
    return ("--tokenizer", "syntax_words", *WORDS, *model)


def translated(program, folder, *more, **options):
    path = ("--path", folder / "checkpoint_best.pt", "--beam", "2", *more)
    out = succeed(*fairseq(program, folder / "data-bin", *path), **options).stdout
    return parse_generate_output(out.splitlines(), "out")


def test_string_to_tree(raw, tmp_path):
    folder = trained(raw, tmp_path, "target")
    found = translated("generate", folder, *cut(folder))
    assert any("▁(" in tokens for tokens in found.tokens)
    trees = join_between_symbols(found.tokens)
    assert list(found.hypotheses) == [" ".join(words_of(tree)) for tree in trees]
    assert list(found.references) == list(read_lines(raw / "test.src"))
    # Without --bpe, pieces are given and pieces are printed.
    bare = translated("generate", folder)
    assert bare.tokens == found.tokens
    assert not any("▁(" in pieces or "▁)" in pieces for pieces in bare.hypotheses)
    text = "".join(f"{line}\n" for line in read_lines(raw / "test.tgt"))
    typed = translated("interactive", folder, *cut(folder), stdin=text)
    assert typed.hypotheses == found.hypotheses
    # A reference without brackets is no text of this model.
    forced = ("likelihood", folder, "--path", folder / "checkpoint_best.pt", "--cpu")
    raw_text = ("--source", raw / "valid.tgt", "--reference", raw / "valid.src")
    assert (
        "valid.src is forced without the brackets or tags" in syntax_nmt(*forced, *raw_text).stderr
    )
    pieces = [folder / "pieces" / f"valid.{side}" for side in ("tgt", "src")]
    in_pieces = ("--source", pieces[0], "--reference", pieces[1], "--segmented")
    assert "is forced without" not in syntax_nmt(*forced, *in_pieces).stderr


def test_typed_text_is_to_be_translated(raw, multitask):
    """The same as in the test set, whose lines say so; and in Python."""
    found = translated("generate", multitask, *cut(multitask))
    lines = list(read_lines(raw / "test.src"))
    assert list(found.sources) == lines
    text = "".join(f"{line}\n" for line in lines)
    typed = translated("interactive", multitask, *cut(multitask), stdin=text)
    assert typed.tokens == found.tokens
    assert typed.hypotheses == found.hypotheses
    model = load(multitask / "checkpoint_best.pt", multitask)
    assert model.translate(lines, beam=2) == list(found.hypotheses)


def test_a_parse_is_written_where_pieces_ask_for_it(raw, multitask):
    """As the page of the method does it."""
    pieces = (multitask / "pieces" / "test.src").read_text()
    translations = translated("interactive", multitask, stdin=pieces)
    same = translated("interactive", multitask, stdin=re.sub("^▁<TR> ", "", pieces, flags=re.M))
    assert translations.tokens == same.tokens
    parses = translated("interactive", multitask, stdin=pieces.replace("<TR>", "<PA>"))
    assert parses.tokens != translations.tokens
    assert all("▁(" in tokens for tokens in parses.tokens)


def test_alignments_of_a_multitask_model(raw, multitask, tmp_path):
    """Forced decoding reads the task as well: a word more than the sentence has."""
    out = syntax_nmt(
        *("align", multitask, "--path", multitask / "checkpoint_best.pt"),
        *("--source", raw / "test.src", "--target", raw / "test.tgt", "--device", "cpu"),
    ).stdout
    assert len(out.splitlines()) == 10


def test_models_of_parsed_sources_refuse_typed_text(raw, tmp_path):
    folder = trained(raw, tmp_path, "source")
    found = translated("generate", folder, *cut(folder))
    assert list(found.sources) == list(read_lines(raw / "test.src"))
    path = ("--path", folder / "checkpoint_best.pt", *cut(folder))
    why = "the model reads linearised parses, and typed text has none"
    assert why in refuse(*fairseq("interactive", folder / "data-bin", *path), stdin="a b\n")
    pieces = (folder / "pieces" / "test.src").read_text()
    assert translated("interactive", folder, "--beam", "2", stdin=pieces).tokens == found.tokens
