"""A safe pickle whose options are code is refused by every program that takes a checkpoint."""

import os
import subprocess
import sys

import pytest
import torch
from commands import REPOSITORY, USER_DIR, in_a_program, refuse
from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq_cli import train
from hostile_options import ASSIGNING, CARRIERS, PAYLOADS, with_option
from programs import System

from syntax_nmt.checkpoints.check import check_checkpoint, check_loaded
from syntax_nmt.checkpoints.options import executable_option
from syntax_nmt.errors import UserError
from syntax_nmt.models.syntax_rnn import SyntaxRNNModel
from syntax_nmt.models.syntax_transformer import SyntaxTransformerModel

pytestmark = pytest.mark.dear

REFUSED = r"evil\.pt: .*could run code: .*untrusted"


@pytest.fixture
def proof(tmp_path):
    """A file that is there if code has run."""
    path = tmp_path / "proof"
    yield path
    assert not path.exists(), "the option was evaluated"


@pytest.fixture
def evil(state, tmp_path, proof):
    path = tmp_path / "evil.pt"
    torch.save(with_option(state, ASSIGNING.format(proof)), path)
    return path


def test_fairseq_alone_runs_them(tmp_path):
    """Each payload in a process of its own would take minutes; one process tries all."""
    texts = [payload.format(tmp_path / str(n)) for n, payload in enumerate(PAYLOADS)]
    program = "from fairseq import utils\nfor text in TEXTS:\n  try: utils.eval_str_dict(text)\n"
    program = f"TEXTS = {texts!r}\n{program}  except Exception: pass\n"
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert {path.name for path in tmp_path.iterdir()} == {str(n) for n in range(len(PAYLOADS))}


@pytest.mark.parametrize("payload", PAYLOADS)
def test_payloads(payload, proof):
    text = payload.format(proof)
    for name in ("encoder_xformers_att_config", "decoder_attention", "layers", "arch"):
        for options_ in ({name: text}, {name: [text]}, {"model": {name: {"a": text}}}, {text: 1}):
            assert executable_option(options_) is not None


@pytest.mark.parametrize("carrier", CARRIERS)
def test_carriers(state, tmp_path, proof, carrier):
    path = tmp_path / "evil.pt"
    torch.save(with_option(state, "1", carrier), path)
    if carrier != "YAML":
        check_loaded(path)
    torch.save(with_option(state, ASSIGNING.format(proof), carrier), path)
    for check in (check_checkpoint, check_loaded):
        with pytest.raises(UserError, match=r"evil\.pt: (option .*could run code|its options are)"):
            check(path)


def test_options_that_load_another_checkpoint(prepared, state, evil, tmp_path):
    """Nothing is wrong with the first file; fairseq would load the second while it builds it."""
    first = tmp_path / "first.pt"
    chain = {"_name": "fconv_self_att", "pretrained": "True", "pretrained_checkpoint": str(evil)}
    cfg = {**state["cfg"], "model": chain}
    torch.save({**state, "cfg": cfg}, first)
    refused = "model fconv_self_att, and is no translation"
    with pytest.raises(SystemExit, match=refused):
        System("any", prepared.data, first).generate()
    for task in ("translation", "syntax_translation"):
        cfg["task"] = {**cfg["task"], "_name": task}
        torch.save({**state, "cfg": cfg}, first)
        with pytest.raises(UserError, match=refused):
            SyntaxTransformerModel.from_pretrained(str(tmp_path), "first.pt", str(prepared.data))
    cfg["model"], cfg["task"] = state["cfg"]["model"], {"_name": "denoising"}
    torch.save({**state, "cfg": cfg}, first)
    with pytest.raises(UserError, match="task denoising, and is no translation"):
        SyntaxTransformerModel.from_pretrained(str(tmp_path), "first.pt", str(prepared.data))


@pytest.mark.parametrize("program", ["generate", "type"])
def test_the_second_of_an_ensemble(prepared, good, evil, program):
    with pytest.raises(SystemExit, match=REFUSED):
        getattr(System("any", prepared.data, f"{good}:{evil}"), program)()


def test_the_second_of_an_ensemble_in_python(prepared, good, evil):
    (evil.parent / "good.pt").symlink_to(good)
    files = f"good.pt{os.pathsep}evil.pt"
    with pytest.raises(UserError, match=REFUSED):
        SyntaxRNNModel.from_pretrained(str(evil.parent), files, str(prepared.data))
    with pytest.raises(UserError, match="no such folder: unpack"):
        SyntaxRNNModel.from_pretrained(f"{evil.parent}.tar.gz", files, str(prepared.data))


PLUGIN = ("--user-dir", USER_DIR, "--task", "syntax_translation", "--cpu", "--max-tokens", "999")
SMALL = ("--arch", "dependency_transformer_tiny", "--share-all-embeddings", "--optimizer", "sgd")


@pytest.mark.parametrize("option", ["--restore-file", "--finetune-from-model", "--continue-once"])
def test_training(prepared, evil, tmp_path, option):
    folder = tmp_path / "saved"
    arguments = [str(prepared.data), *PLUGIN, *SMALL, "--save-dir", str(folder), option, str(evil)]
    parsed = options.parse_args_and_arch(options.get_training_parser(), arguments)
    with in_a_program("train"), pytest.raises(SystemExit, match=REFUSED):
        train.main(convert_namespace_to_omegaconf(parsed))
    assert not list(folder.glob("*.pt"))


def test_torch_that_loads_code(monkeypatch):
    """The package does not start where the safe loader is off, as it was before torch 2.6."""
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    line = ("syntax_nmt.cli", "average", "some.pt", "--output", "mean.pt")
    message = refuse(*line, cwd=REPOSITORY, anew=True)
    assert "install torch 2.6 or newer" in message
