"""The commands that `syntax-nmt prepare` prints in the end are those of what it made."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from fairseq import options

from syntax_nmt.data.annotation import HEADS, PHRASES
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.preparation.plan import Plan
from syntax_nmt.preparation.report import next_commands
from syntax_nmt.preparation.splits import Split
from syntax_nmt.preparation.tokenize import Tokenizer

PARSERS = {
    "fairseq-train": options.get_training_parser,
    "fairseq-interactive": options.get_interactive_generation_parser,
    "fairseq-generate": options.get_generation_parser,
}


SPLITS = ("train", "valid", "test")


def said_of(
    folder: Path, *files: str, of: Sequence[str] = SPLITS, parsed: Sequence[AnnotationKind] = ()
) -> str:
    """What is printed after a preparation of some splits that made these files.

    Args:
        parsed: what was made by a parser, and not given.
    """
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    raw = folder / "raw"
    splits = [Split(name, str(raw), raw, raw, 3) for name in of]
    tokenizer = {lang: Tokenizer("none", lang, None) for lang in ("en", "de")}
    plan = Plan("en", "de", splits, folder, tokenizer, 8, None, "bpe", 9, True, {}, None)
    done = SimpleNamespace(
        plan=plan, reports=dict.fromkeys(files), parsed=lambda kind: kind in parsed
    )
    return next_commands(done, Path("syntax_nmt"))


def commands(
    folder: Path, *files: str, of: Sequence[str] = SPLITS, parsed: Sequence[AnnotationKind] = ()
) -> list[tuple[str, SimpleNamespace]]:
    """Program and options of each command after a preparation that made these files."""
    # Options are checked while they are parsed: what the commands translate with has been trained.
    systems, names = ("checkpoints", "phrase_checkpoints"), ("best", "last")
    trained = [f"{system}/checkpoint_{name}.pt" for system in systems for name in names]
    said = said_of(folder, *files, *trained, of=of, parsed=parsed)
    assert all(len(line) <= 100 or "/" in line for line in said.split("\n"))
    lines = said.replace(" \\\n", " ").split("\n")
    found = []
    for line in lines:
        if line.startswith("  "):
            program, *arguments = shlex.split(line)
            found.append((program, options.parse_args_and_arch(PARSERS[program](), arguments)))
    return found


@pytest.mark.parametrize("dependencies", [False, True])
def test_no_constituents_no_phrases(tmp_path, dependencies):
    made = ["words/train.en.conllu"] if dependencies else []
    (train, trained), (translate, _) = commands(tmp_path, *made)
    assert (train, translate) == ("fairseq-train", "fairseq-interactive")
    assert trained.load_dependencies == dependencies
    assert trained.arch.startswith("dependency") == dependencies


def check_phrase_system(train):
    program, chosen = train
    assert program == "fairseq-train"
    assert chosen.arch == "phrase_transformer_tiny"
    assert chosen.phrase_segmentation == "parsed"
    assert chosen.load_phrases
    assert not chosen.load_dependencies


def test_constituents_of_a_parser(tmp_path):
    """Typed text is parsed by the same one."""
    files = ("words/train.en.conllu", "words/train.en.trees", "parser.json")
    made = commands(tmp_path, *files, parsed=[HEADS, PHRASES])
    assert [chosen.arch for _, chosen in made[:1]] == ["dependency_transformer_tiny"]
    check_phrase_system(made[2])
    program, chosen = made[3]
    assert program == "fairseq-interactive"
    assert chosen.parser_config == str(tmp_path / "parser.json")
    assert chosen.path == f"{made[2][1].save_dir}/checkpoint_best.pt"
    assert made[2][1].save_dir != made[0][1].save_dir


def test_constituents_that_were_given(tmp_path):
    """No parser is known: a split that has them is translated."""
    made = commands(tmp_path, "words/train.en.trees", "words/valid.en.trees")
    check_phrase_system(made[2])
    program, chosen = made[3]
    assert program == "fairseq-generate"
    assert chosen.load_phrases
    assert chosen.gen_subset == "valid"
    assert chosen.tokenizer == "syntax_words"  # as typed text: translations come out as text
    assert (chosen.source_tokenizer, chosen.target_tokenizer) == ("none", "none")


def test_constituents_that_were_given_beside_parsed_dependencies(tmp_path):
    """The parser that is known is that of the dependencies alone."""
    files = ("words/train.en.conllu", "words/train.en.trees", "parser.json")
    program, chosen = commands(tmp_path, *files, parsed=[HEADS])[3]
    assert (program, chosen.load_phrases) == ("fairseq-generate", True)


@pytest.mark.parametrize("of", [SPLITS, ("train", "test"), ("train",)])
def test_without_validation_text_there_is_no_best_checkpoint(tmp_path, of):
    validated = "valid" in of
    files = ("words/train.en.trees", "parser.json")
    made = commands(tmp_path, *files, of=of, parsed=[PHRASES])
    assert [program for program, _ in made] == ["fairseq-train", "fairseq-interactive"] * 2
    for _, train in made[::2]:
        assert train.disable_validation != validated
        assert (train.validate_interval > 1) == validated
    for _, translate in made[1::2]:
        assert Path(translate.path).name == f"checkpoint_{'best' if validated else 'last'}.pt"
    given = commands(tmp_path / "given", "words/train.en.trees", of=of)[-1]
    assert (given[0], given[1].path[-7:]) == (
        "fairseq-generate",
        "best.pt" if validated else "last.pt",
    )


def test_how_long_it_takes_is_english(tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert "(about 1 minute on one core)" in said_of(tmp_path)


@pytest.mark.parametrize("name", ["$(touch x)`touch x`;touch x", "'\"\\ *", "a\nb", "#~&|<>!%s"])
def test_any_folder_may_be_pasted_into_a_shell(tmp_path, name):
    """Every program gets the folder as it is, and nothing else runs."""
    folder = tmp_path / name
    text = said_of(folder, "words/train.en.trees", "parser.json", parsed=[PHRASES])
    pasted = re.sub("^(train|then|or) .*$", "", text, flags=re.MULTILINE)
    programs = "".join(f"{program}() {{ printf '%s\\0' \"$@\"; }}\n" for program in PARSERS)
    done = subprocess.run(
        ["bash", "-c", programs + pasted], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0
    assert done.stderr == ""
    arguments = done.stdout.split("\0")
    assert arguments.count(str(folder / "data-bin")) == 4
    assert arguments.count(str(folder / "phrase_checkpoints")) == 1
    assert not (tmp_path / "x").exists()
