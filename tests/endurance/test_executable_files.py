"""Files that carry code are refused by everything that loads them, and nothing of it runs."""

import io
import os
import pickle
import zipfile
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from commands import fairseq, refuse, run
from fairseq import checkpoint_utils
from nonempty import some

from syntax_nmt.checkpoints.check import check_checkpoint
from syntax_nmt.checkpoints.options import executable_option
from syntax_nmt.checkpoints.safe_loader import _PlainArray
from syntax_nmt.errors import UserError
from syntax_nmt.inference.averaging import average_checkpoints
from syntax_nmt.inference.checkpoint import load_model
from syntax_nmt.models.syntax_transformer import SyntaxTransformerModel
from syntax_nmt.parsing.stanza.analysers import ANALYSERS
from syntax_nmt.parsing.stanza.models import TASKS, StanzaModels
from syntax_nmt.parsing.stanza.offline import open_pipeline
from syntax_nmt.parsing.stanza.segmenter import StanzaSegmenter

pytestmark = pytest.mark.dear

CPU = torch.device("cpu")


class Calls:
    """Is pickled as a call: whoever unpickles it runs the function.

    Args:
        function: what is called.
        arguments: with what.
    """

    def __init__(self, function: Callable, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> tuple:
        return self.call


def touching(proof: Path) -> dict[str, Calls]:
    """Pickled calls that make a file, by name."""
    shell = f"touch '{proof}'"
    return {
        "os.system": Calls(os.system, shell),
        "eval": Calls(eval, f"__import__('os').system({shell!r})"),
        "exec": Calls(exec, f"open({str(proof)!r}, 'w')"),
        "pickle.loads": Calls(pickle.loads, pickle.dumps(Calls(os.system, shell))),
    }


def write_checkpoint(path: Path, state: dict, hidden: Any, place: str, zipped: bool) -> Path:
    """A checkpoint with an object where nobody looks.

    Args:
        path: to write to.
        state: of a good checkpoint.
        hidden: the object.
        place: a key of the checkpoint.
        zipped: the format of torch ≥ 1.6, or the one before.
    """
    changed = {**state, place: {**(state[place] or {}), "hidden": hidden}}
    torch.save(changed, path, _use_new_zipfile_serialization=zipped)
    return path


def numpy_pickles() -> dict[str, bytes]:
    """What numpy's classes make of bytes if a pickle may call them: objects at any address."""
    odd = np.dtype("V8", copy=True)
    odd.__setstate__((3, "|", None, ("a",), {"a": (np.dtype("O"), 0)}, 8, 1, 0))
    bytes_ = b"A" * 8
    return {
        "array of objects": pickle.dumps(Calls(np.ndarray, (1,), "O", bytes_), 2),
        "record of objects": pickle.dumps(Calls(np.ndarray, (1,), odd, bytes_), 2),
        "type of objects": pickle.dumps(np.dtype("O"), 2),
        "huge array": pickle.dumps(Calls(np.ndarray, (10**13,)), 2),
        "array as shape": pickle.dumps(
            Calls(np.ndarray, Calls(np.ndarray, (1,), "O", bytes_), "f8"), 2
        ),
    }


def as_checkpoint(pickled: bytes) -> io.BytesIO:
    """A pickle in a zip archive as torch writes it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/version", "3\n")
        archive.writestr("archive/byteorder", "little")
    stream.seek(0)
    return stream


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize(
    ("call", "place"),
    [
        ("os.system", "model"),
        ("eval", "cfg"),
        ("exec", "extra_state"),
        ("pickle.loads", "extra_state"),
    ],
)
def test_calls_in_a_pickle(prepared, good, state, tmp_path, call, zipped, place):
    """Each way in which our own commands load a checkpoint."""
    proof = tmp_path / "proof"
    hidden = touching(proof)[call]
    path = write_checkpoint(tmp_path / "evil.pt", state, hidden, place, zipped)
    for load in (
        check_checkpoint,
        lambda path: load_model(path, prepared.data, CPU),
        lambda path: average_checkpoints([good, path]),
        lambda path: SyntaxTransformerModel.from_pretrained(
            str(path.parent), path.name, str(prepared.data)
        ),
    ):
        with pytest.raises(UserError, match=r"evil\.pt: .*could run code: .*untrusted") as caught:
            load(path)
        assert "\n" not in str(caught.value)
    assert not proof.exists()
    torch.load(path, weights_only=False)  # the proof would be there
    assert proof.exists()


PROGRAMS = {
    "generate": ("generate", "--path", "{}"),
    "interactive": ("interactive", "--path", "{}"),
    "restore": ("train", "--restore-file", "{}"),
    "finetune": ("train", "--finetune-from-model", "{}"),
}
SMALL = ("--arch", "dependency_transformer_tiny", "--share-all-embeddings", "--optimizer", "sgd")


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("zipped", [True, False])
def test_programs_of_fairseq(prepared, evil, tmp_path, program):
    name, *arguments = PROGRAMS[program]
    arguments = [argument.format(evil) for argument in arguments]
    if name == "train":
        arguments += [*SMALL, "--max-tokens", "2000", "--save-dir", str(tmp_path / "saved")]
        arguments += ["--max-update", "1"]
    message = refuse(*fairseq(name, prepared.data, *arguments))
    assert str(evil) in message
    assert "could run code" in message
    assert not list(tmp_path.glob("saved/*"))


@pytest.mark.slow
@pytest.mark.parametrize("zipped", [True, False])
def test_validate_runs_nothing_but_has_fairseqs_own_words(prepared, evil):
    """fairseq-validate loads the checkpoint first, before anything of a plugin is asked."""
    done = run(*fairseq("validate", prepared.data, "--path", evil, "--max-tokens", "99"))
    assert done.returncode != 0
    assert "Weights only load failed" in done.stderr


@pytest.fixture
def evil(state, tmp_path, zipped):
    """A checkpoint with a call in its pickle, which must not have run in the end."""
    proof = tmp_path / "proof"
    hidden = touching(proof)["os.system"]
    yield write_checkpoint(tmp_path / "evil.pt", state, hidden, "extra_state", zipped)
    assert not proof.exists()


@pytest.mark.parametrize(
    "options",
    [
        {"decoder_attention": "print(1)"},
        {"encoder_layers": "[(512, 3)] * len('ab')"},
        {"a": {"b": [{"c": "(lambda: 1)()"}]}},
        Namespace(x="__import__('os')"),
        Namespace(x=Namespace(y="f'{print(1)}'")),
        {"x": " print(1)"},
        {"x": "${oc.env:HOME}"},
        {"print(1)": 1},
        {"x": b"print(1)"},
        {"x": bytearray(b"print(1)")},
        {"x": np.array([1])},
        {"x": torch.zeros(1)},
    ],
)
def test_options_that_call(options):
    assert executable_option(options) is not None


@pytest.mark.parametrize(
    "options",
    [
        {"encoder_layers": "[(512, 3)] * 20", "dropout": 0.1, "lr": [0.1], "x": None, "y": True},
        {"adam_betas": "(0.9, 0.98)", "post_process": "@@ ", "model_overrides": "{}"},
        {"eval_bleu_args": '{"beam": 2, "max_len_b": 5}', "kernels": "(3, 5)"},
        {"save_dir": "checkpoints (2)", "data": "data(1)", "encoder_embed_path": "a(1).txt"},
        {
            "replace_unk": "a(1)",
            "gen_subset": "test-2,test1",
            "filename": "b(1).log",
            "n": np.int64(3),
        },
        {"gpt2_encoder_json": "a(1).json", "config_yaml": "b(1).yaml", "continue_once": "c(1)"},
        {"parser_config": "prepared(2)/parser.json", "chunk_tags": "NP VP O", "arch": "lstm"},
    ],
)
def test_options_that_call_nothing(options):
    assert executable_option(options) is None
    assert executable_option(Namespace(**options)) is None


@pytest.mark.parametrize("name", numpy_pickles())
def test_numpy_makes_no_objects_out_of_bytes(name):
    """numpy's own classes would; the stand-ins refuse, or give a plain empty array."""
    checkpoint = as_checkpoint(numpy_pickles()[name])
    if name in ("type of objects", "record of objects"):
        with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
            torch.load(checkpoint, weights_only=True)
        return
    found = torch.load(checkpoint, weights_only=True)
    assert type(found) is _PlainArray
    assert (found.shape, found.dtype) == ((0,), np.uint8)


def test_numbers_and_arrays_are_read_back(tmp_path):
    values = {
        "float": np.float64(1.5),
        "half": np.float16(2),
        "int": np.int64(-3),
        "bool": np.bool_(True),
        "rows": np.arange(6).reshape(2, 3),
        "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "flags": np.array([True, False]),
    }
    for zipped in (True, False):
        torch.save(values, tmp_path / "values.pt", _use_new_zipfile_serialization=zipped)
        found = torch.load(tmp_path / "values.pt", weights_only=True)
        for name, value in values.items():
            assert np.array_equal(found[name], value)
            assert found[name].dtype == value.dtype
        torch.save(found, tmp_path / "again.pt")
        again = torch.load(tmp_path / "again.pt", weights_only=False)  # numpy's own once more
        assert [type(value) for value in again.values()] == list(map(type, values.values()))


def test_the_allow_list_is_what_was_audited():
    """Whoever adds a name must look at what it does when it is called with anything."""
    names = set()
    for entry in torch.serialization.get_safe_globals():
        names.add(entry[1] if isinstance(entry, tuple) else f"{entry.__module__}.{entry.__name__}")
    ours = {name for name in names if name.startswith(("argparse", "numpy", "syntax_nmt"))}
    dtypes = ("Float64", "Float32", "Float16", "Int64", "Int32", "UInt64", "UInt8", "Bool")
    expected = {"argparse.Namespace", "numpy.ndarray", "numpy.dtype"}
    expected |= {f"numpy.dtypes.{name}DType" for name in dtypes}
    for core in ("core", "_core"):
        expected |= {f"numpy.{core}.multiarray.{name}" for name in ("scalar", "_reconstruct")}
    assert ours == expected


def test_a_good_checkpoint_passes(prepared, good):
    assert set(check_checkpoint(good)) >= {"model", "cfg"}
    load_model(good, prepared.data, CPU)
    assert checkpoint_utils.load_checkpoint_to_cpu(str(good))["model"]


STANZA_FILES = [(task, name) for task, names in TASKS.items() for name in names]
FORMATS = {
    "pickle": lambda hidden, path: path.write_bytes(pickle.dumps(hidden)),
    "zip": torch.save,
    "tar": lambda hidden, path: torch.save(hidden, path, _use_new_zipfile_serialization=False),
}


@pytest.fixture
def proof(tmp_path):
    """What the command makes."""
    return tmp_path / "proof"


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(("task", "name"), STANZA_FILES)
def test_every_model_file_of_stanza(tmp_path, proof, task, name, format_):
    files = tuple((other, tmp_path / other) for other in TASKS[task])
    for _, path in files:
        torch.save({}, path)
    for hidden in some(touching(proof).values()):
        FORMATS[format_]({"model": {}, "params": {"transitions": hidden}}, tmp_path / name)
        with pytest.raises(UserError, match=rf"^Stanza cannot load .*{name}"):
            ANALYSERS[task](StanzaModels(task, "en", None, files))
        assert not proof.exists()


@pytest.mark.parametrize("format_", FORMATS)
def test_tokenisers_of_stanza(tmp_path, proof, format_):
    for hidden in some(touching(proof).values()):
        FORMATS[format_]({"config": hidden}, tmp_path / "model.pt")
        with pytest.raises(UserError, match=r"^Stanza cannot load the tokeniser .*model\.pt"):
            StanzaSegmenter("zh", tmp_path / "model.pt")
        assert not proof.exists()


@pytest.mark.parametrize("before", [None, "0"])
def test_versions_of_stanza_that_load_code(tmp_path, proof, monkeypatch, before):
    """As 1.10 to 1.12 load parsers of constituents and word vectors."""
    if before is not None:
        monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", before)
    torch.save(touching(proof)["os.system"], tmp_path / "model.pt")
    monkeypatch.setattr("stanza.Pipeline", lambda path, **_: torch.load(path, weights_only=False))
    with pytest.raises(UserError, match=r"^Stanza cannot load a model: Unpickling"):
        open_pipeline("a model", None, path=tmp_path / "model.pt")
    assert not proof.exists()
    assert os.environ.get("TORCH_FORCE_WEIGHTS_ONLY_LOAD") == before
