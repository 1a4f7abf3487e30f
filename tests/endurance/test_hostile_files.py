"""Names that hold commands, tensors and dictionaries with attributes: refused by every program."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from checkpoint_programs import PROGRAMS, Given
from fairseq import checkpoint_utils
from hostile_files import FORMS, LANGUAGE
from smuggled_options import FILE
from translations import refused

from syntax_nmt.cli import main
from syntax_nmt.errors import UserError

pytestmark = pytest.mark.dear

REFUSED = (
    r"could run code|is no plain name|by a shell|with the attribute (items|is_floating_point)|"
    r"not the name of a meter|no regular file|no such (file|checkpoint)"
)
# `average` reads no folder, and a language model no texts before its checkpoint.
UNREAD = [("format of a folder", "average"), ("format of a folder", "eval_lm")]
DIFFERENT = ("fairseq's loader", "load", "train", "average", "generate", "validate", "trees")
CASES = [
    pytest.param(
        *(form, program),
        marks=[] if program in DIFFERENT else pytest.mark.slow,
        id=f"{program}-{form}",
    )
    for form in FORMS
    for program in PROGRAMS
    if (form, program) not in UNREAD
]


@pytest.fixture
def data(prepared, tmp_path) -> Path:
    """A data-bin folder to change, which is of a language model, too."""
    folder = shutil.copytree(prepared.data, tmp_path / "data-bin")
    shutil.copy(folder / "dict.src.txt", folder / "dict.txt")
    return folder


@pytest.fixture
def given(data, good, tmp_path, monkeypatch) -> Given:
    monkeypatch.chdir(tmp_path)
    text = tmp_path / "text"
    text.write_text("ka\n")
    return Given(tmp_path / FILE, data, good, text, tmp_path / "new.svg")


@pytest.mark.parametrize(("form", "program"), CASES)
def test_programs(given, state, tmp_path, form, program):
    FORMS[form](state, tmp_path, given.data)
    silent = contextlib.redirect_stdout(io.StringIO())
    with silent, pytest.raises((UserError, SystemExit), match=REFUSED) as refusal:
        PROGRAMS[program](given)
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "proof").exists(), "the command has run"
    assert not given.new.exists()
    assert not list(tmp_path.glob("saved/*"))


# A program of fairseq's without the plugin.
ALONE = """
import sys
from fairseq.tasks.translation import TranslationConfig, TranslationTask
cfg = TranslationConfig(data=sys.argv[1], train_subset="train", dataset_impl=None)
cfg.dataset_impl = sys.argv[2] or None
if cfg.dataset_impl:
    cfg.source_lang, cfg.target_lang = "src", sys.argv[3]
try:
    TranslationTask.setup_task(cfg).load_dataset("test")
except Exception as error:
    print(error)
"""


@pytest.mark.parametrize("form", ["format of a checkpoint", "format of a folder"])
def test_fairseq_alone_runs_them(given, state, tmp_path, form):
    FORMS[form](state, tmp_path, given.data)
    of_texts = "fasta" if form == "format of a checkpoint" else ""
    command = [sys.executable, "-c", ALONE, str(given.data), of_texts, LANGUAGE]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (tmp_path / "proof").exists(), done.stdout + done.stderr


def test_what_is_not_read_does_not_matter(given, state, tmp_path):
    """The same checkpoints without the form are loaded: it is the form that is refused."""
    torch.save(state, tmp_path / FILE)
    assert checkpoint_utils.load_model_ensemble_and_task([FILE], {"data": str(given.data)})


def test_a_parser_that_a_checkpoint_names_is_not_opened(given, state, tmp_path):
    """Whoever loads it may name one."""
    os.mkfifo(tmp_path / "parser.json")
    task = {**state["cfg"]["task"], "parser_config": str(tmp_path / "parser.json")}
    torch.save({**state, "cfg": {**state["cfg"], "task": task}}, tmp_path / FILE)
    options = {"data": str(given.data)}
    assert checkpoint_utils.load_model_ensemble_and_task([FILE], options)[-1].parser is None
    with pytest.raises(UserError, match=r"elsewhere\.json: cannot be read"):
        checkpoint_utils.load_model_ensemble_and_task(
            [FILE], {**options, "parser_config": "elsewhere.json"}
        )
    with contextlib.redirect_stdout(io.StringIO()):
        PROGRAMS["validate"](given)


def test_the_format_is_that_of_the_folder(given, state, tmp_path):
    """Whatever the texts of the training were."""
    task = {**state["cfg"]["task"], "dataset_impl": "raw"}
    torch.save({**state, "cfg": {**state["cfg"], "task": task}}, tmp_path / FILE)
    main(["trees", str(given.data), "--path", FILE, "--output", str(tmp_path / "binarised")])
    segmented = given.data.parent / "raw"
    segmented.mkdir()
    for language in ("src", "tgt"):
        shutil.copy(given.data / f"dict.{language}.txt", segmented)
        pieces = Path(state["cfg"]["task"]["data"]).parent / "pieces" / f"test.{language}"
        shutil.copy(pieces, segmented / f"test.src-tgt.{language}")
    main(["trees", str(segmented), "--path", FILE, "--output", str(tmp_path / "raw.conllu")])
    words = (tmp_path / "binarised").read_text().count("\n")
    assert words == (tmp_path / "raw.conllu").read_text().count("\n") > 20


def test_folders(given, state, tmp_path):
    """Commands of a folder alone."""
    FORMS["format of a folder"](state, tmp_path, given.data)
    with contextlib.suppress(SystemExit):
        main(["inspect", str(given.data)])
    assert "no plain name" in refused("options", "--training", given.data)
    assert not (tmp_path / "proof").exists()
