"""A safe pickle whose options are code is refused by every program that takes a checkpoint."""

import os
import subprocess
import sys

import pytest
import torch
from commands import REPOSITORY, USER_DIR, fairseq, in_a_program, refuse
from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq_cli import train, validate
from hostile_options import ASSIGNING, CARRIERS, PAYLOADS, with_option
from programs import System

from syntax_nmt.checkpoints.check import check_checkpoint, check_loaded
from syntax_nmt.checkpoints.options import executable_option
from syntax_nmt.cli import main as syntax_nmt
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
def test_searches(prepared, good, evil, program):
    for path in (evil, f"{good}:{evil}"):
        with pytest.raises(SystemExit, match=REFUSED):
            getattr(System("any", prepared.data, path), program)()
    with pytest.raises(SystemExit, match=REFUSED):
        getattr(System("any", prepared.data, good), program)("--lm-path", str(evil))


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


def test_validation(prepared, evil):
    """fairseq loads the file; under our task its options are seen before they are evaluated."""
    arguments = [str(prepared.data), *PLUGIN, "--path", str(evil)]
    parsed = options.parse_args_and_arch(options.get_validation_parser(), arguments)
    refused = r"encoder_xformers_att_config .*could run code"
    with in_a_program("validate"), pytest.raises(SystemExit, match=refused):
        validate.main(parsed, override_args=None)


MODEL = ("{data}", "--path", "{evil}")
TEXTS = ("--source", "{text}", "--target", "{text}", "--segmented")
COMMANDS = {
    "trees": (*MODEL, "--input", "{text}"),
    "trees of constituents": (*MODEL, "--kind", "constituents", "--input", "{text}"),
    "align": (*MODEL, *TEXTS),
    "align both ways": ("{data}", "--path", "{good}", *TEXTS, "--reverse-path", "{evil}"),
    "chunks": (*MODEL, *TEXTS),
    "contrast": (*MODEL, *TEXTS[:2], "--correct", "{text}", "--incorrect", "{text}", "--segmented"),
    "plot attention": (*MODEL, *TEXTS[:2], "--segmented", "--output", "{new}"),
    "average": ("{good}", "{evil}", "--output", "{new}"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_own_commands(prepared, good, evil, tmp_path, command):
    values = {"data": prepared.data, "good": good, "evil": evil, "new": tmp_path / "new.svg"}
    values["text"] = tmp_path / "text"
    values["text"].write_text("ka\n")
    first = command.split()[: 2 if command.startswith("plot") else 1]
    with pytest.raises(SystemExit, match=REFUSED):
        syntax_nmt([*first, *(part.format(**values) for part in COMMANDS[command])])
    assert not values["new"].exists()


@pytest.mark.parametrize("model", [SyntaxTransformerModel, SyntaxRNNModel])
@pytest.mark.parametrize("files", ["evil.pt", f"good.pt{os.pathsep}evil.pt"])
def test_python_interface(prepared, good, evil, model, files):
    (evil.parent / "good.pt").symlink_to(good)
    with pytest.raises(UserError, match=REFUSED):
        model.from_pretrained(str(evil.parent), files, str(prepared.data))
    with pytest.raises(UserError, match="no such folder: unpack"):
        model.from_pretrained(f"{evil.parent}.tar.gz", files, str(prepared.data))


def test_a_real_program(prepared, evil):
    message = refuse(*fairseq("generate", prepared.data, "--path", evil))
    assert "encoder_xformers_att_config is" in message


def test_torch_that_loads_code(monkeypatch):
    """The package does not start where the safe loader is off, as it was before torch 2.6."""
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    message = refuse("syntax_nmt.cli", "average", "--help", cwd=REPOSITORY, anew=True)
    assert "install torch 2.6 or newer" in message


def test_averaging_one_gives_a_checked_copy(good, tmp_path):
    copy = tmp_path / "copy.pt"
    syntax_nmt(["average", str(good), "--output", str(copy)])
    weights = torch.load(good)["model"]
    assert all(torch.equal(w, weights[name]) for name, w in torch.load(copy)["model"].items())
