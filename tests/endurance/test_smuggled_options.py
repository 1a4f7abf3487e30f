"""What fairseq builds is what is checked: in every program that takes a checkpoint."""

import contextlib
import io
import shutil
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest
import torch
from checkpoint_programs import PROGRAMS, Given
from commands import fairseq, refuse
from fairseq import checkpoint_utils
from hostile_options import PAYLOADS
from smuggled_options import FILE, FORMS, RUNNING

from syntax_nmt.errors import UserError
from syntax_nmt.inference.averaging import average_checkpoints

pytestmark = pytest.mark.dear

PAYLOAD = PAYLOADS[7]  # an expression that calls
REFUSED = (
    r"(model|model-shard0|second)\.pt: ("
    r".*could run code: .*untrusted|its options are no mapping|has .* no translation or language)"
)
# fairseq's own loader in a process without the plugin, which only lets torch read namespaces.
ALONE = """
import sys, torch
from argparse import Namespace
torch.serialization.add_safe_globals([Namespace])
from fairseq import checkpoint_utils
for path in sys.argv[2:]:
    try:
        checkpoint_utils.load_model_ensemble_and_task([path], {"data": sys.argv[1]})
    except Exception as error:  # the weights are of another model
        print(error)
"""


UNREAD = ("shard", "average")  # which takes the very file that it is given
# Without --slow: each form where checks differ, and each program with what only fairseq's own
# choice of a name shows.
DIFFERENT = ("fairseq's loader", "load", "average", "generate", "generate --lm-path", "validate")
QUICK = ("an option of the model", "another name of the model")
CASES = [
    pytest.param(
        *(form, program),
        marks=[] if program in DIFFERENT or form in QUICK else pytest.mark.slow,
        id=f"{program}-{form}",
    )
    for form in FORMS
    for program in PROGRAMS
    # A training builds nothing of what a checkpoint names.
    if program != "train" and (form, program) != UNREAD
]


@pytest.fixture(scope="module")
def data(prepared, tmp_path_factory) -> Path:
    """A data-bin folder that is of a language model, too."""
    folder = tmp_path_factory.mktemp("data") / "data-bin"
    shutil.copytree(prepared.data, folder)
    shutil.copy(folder / "dict.src.txt", folder / "dict.txt")
    return folder


@pytest.fixture
def given(data, good, tmp_path) -> Given:
    text = tmp_path / "text"
    text.write_text("ka\n")
    return Given(tmp_path / FILE, data, good, text, tmp_path / "new.svg")


@pytest.mark.parametrize(("form", "program"), CASES)
def test_programs(given, state, tmp_path, form, program):
    proof = tmp_path / "proof"
    FORMS[form](state, PAYLOAD.format(proof), tmp_path)
    silent = contextlib.redirect_stdout(io.StringIO())
    with silent, pytest.raises((UserError, SystemExit), match=REFUSED) as refused:
        PROGRAMS[program](given)
    assert "\n" not in str(refused.value)
    assert not proof.exists(), "the option was evaluated"
    assert not given.new.exists()


def test_fairseq_alone_runs_them(data, state, tmp_path):
    """In a process without the plugin, one for all."""
    paths = []
    for number, form in enumerate(RUNNING):
        folder = tmp_path / str(number)
        folder.mkdir()
        FORMS[form](state, PAYLOAD.format(folder / "proof"), folder)
        paths.append(str(folder / FILE))
    command = [sys.executable, "-c", ALONE, str(data), *paths]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    missing = [path for path in paths if not Path(path).with_name("proof").exists()]
    assert not missing, done.stdout


@pytest.mark.parametrize("program", ["generate", "validate"])
def test_a_real_program(prepared, state, tmp_path, program):
    """The plugin is there before fairseq loads anything."""
    proof = tmp_path / "proof"
    FORMS["shard"](state, PAYLOAD.format(proof), tmp_path)
    message = refuse(
        *fairseq(program, prepared.data, "--path", tmp_path / FILE, "--max-tokens", "999")
    )
    assert "model-shard0.pt: option encoder_xformers_att_config is" in message
    assert not proof.exists()


def test_old_options_are_written_as_they_were_checked(state, tmp_path):
    """A copy has one set of options: those that were looked through."""
    options_ = {**state["cfg"]["task"], "task": "translation", "arch": "transformer"}
    for name in ("eval_bleu_args", "eval_bleu_detok_args"):
        options_.pop(name, None)
    torch.save({**state, "args": Namespace(**options_), "cfg": None}, tmp_path / FILE)
    written = average_checkpoints([tmp_path / FILE])
    assert written["args"] is None
    assert written["cfg"]["model"].arch == "transformer"


def test_a_training_may_begin_with_any_model(state, tmp_path):
    """Nothing is built from what it names; its options must still be plain."""
    cfg = {**state["cfg"], "model": {"_name": "wav2vec"}}
    torch.save({**state, "cfg": cfg}, tmp_path / FILE)
    assert checkpoint_utils.load_checkpoint_to_cpu(str(tmp_path / FILE))["model"]
    cfg["model"]["conv_feature_layers"] = "print(1)"
    torch.save({**state, "cfg": cfg}, tmp_path / FILE)
    with pytest.raises(UserError, match=r"option conv_feature_layers is .*could run code"):
        checkpoint_utils.load_checkpoint_to_cpu(str(tmp_path / FILE))
