"""fairseq's source is searched for what makes code of data: each place is known, and closed.

torch is asked what it does: a version's number does not tell, least of all before a release.
"""

import ast
import pickle

import pytest
import torch
from fairseq_source import called, imported_names, sources
from nonempty import some

from syntax_nmt.checkpoints.loading import MODULES
from syntax_nmt.checkpoints.safe_loader import allow_fairseq_checkpoints
from syntax_nmt.errors import UserError

# Calls that run a program, load code or unpickle; the ends of names that are found on objects.
BEGINNINGS = (
    *("subprocess.", "os.system", "os.popen", "os.exec", "os.spawn", "os.posix_spawn", "pty."),
    *("pickle.", "dill.", "joblib.", "cloudpickle.", "marshal.", "shelve.", "runpy.", "imp."),
    *("ctypes.", "cffi.", "importlib.", "pkgutil.", "hydra.utils.", "torch.hub.", "torch.jit.load"),
    *(
        "torch.load",
        "torch.package",
        "torch.utils.cpp_extension",
        "numpy.load",
        "pandas.read_pickle",
    ),
    *("yaml.load", "yaml.full_load", "yaml.unsafe_load", "shutil.unpack_archive"),
)
ENDINGS = (".load_library", ".LoadLibrary", ".extractall", ".instantiate", ".CDLL")
NAMES = {"instantiate", "load_library", "__import__", "exec", "compile", "globals"}
KEYWORDS = {"shell", "allow_pickle", "trust_remote_code"}

UNNAMED = "of a task or model that no checkpoint may name"
OWN = "fairseq's own modules by the names of its files"
NUMBERS = "numbers: numpy unpickles nothing unless it is told to"
WORKERS = "of other workers of the same training"
SAFE = "torch's safe loader, without which the package does not start"
PARTS = "its own library, whose path is no option"
# Why nothing of a checkpoint, a data folder or a dictionary runs there; whoever adds a line has
# looked.
REVIEWED: dict[str, dict[str, str]] = {
    "data/fasta_dataset.py": {
        "subprocess.check_output": "a shell with the path of a text in the format fasta: that "
        "format is refused, and languages and splits are names (data/data_bin_names.py)",
        "numpy.load": NUMBERS,
    },
    "data/plasma_utils.py": {
        "subprocess.Popen": "plasma_store without a shell, for --use-plasma-view of the command "
        "line, or for a temporary file of its own"
    },
    "distributed/utils.py": {
        "subprocess.check_output": "scontrol without a shell, with nodes of the environment",
        **dict.fromkeys(["pickle.loads", "pickle.dumps", "torch.load"], WORKERS),
    },
    "file_utils.py": {
        "archive.extractall": "archives that whoever calls from_pretrained gives; our models take "
        "none",
        "torch.hub._get_torch_home": "the name of a folder",
    },
    "checkpoint_utils.py": {"torch.load": SAFE},
    "utils.py": {"importlib.import_module": "--user-dir of the command line"},
    **{
        f"{folder}/__init__.py": {"importlib.import_module": OWN}
        for folder in (
            *("criterions", "data/audio", "data/encoders", "models/ema", "models/huggingface"),
            *("model_parallel/criterions", "model_parallel/models", "optim", "scoring"),
            "optim/lr_scheduler",
        )
    },
    **{
        f"{folder}/__init__.py": dict.fromkeys(["importlib.import_module", "globals"], OWN)
        for folder in ("models", "tasks")
    },
    "optim/fused_adam.py": {"importlib.import_module": "apex"},
    "logging/meters.py": {
        "globals": "what has the name of a figure in a checkpoint: one of fairseq's meters "
        "(checkpoints/parts.py)"
    },
    "modules/quantization/scalar/ops.py": {"globals": "names that begin with emulate_int8_"},
    "modules/quantization/pq/em.py": {"torch.load": "files that it wrote itself; safe loader"},
    **{
        f"modules/{kind}conv_layer/setup.py": {
            "torch.utils.cpp_extension.CUDAExtension": "a program of its own, which builds fairseq"
        }
        for kind in ("dynamic", "light")
    },
    "scoring/bleu.py": dict.fromkeys(
        [f"ctypes.{name}" for name in ("byref", "c_int", "c_size_t", "c_void_p")]
        + ["ctypes.cdll.LoadLibrary"],
        PARTS,
    ),
    "data/audio/audio_utils.py": {"numpy.load": NUMBERS},
    "data/audio/feature_transforms/global_cmvn.py": {"numpy.load": NUMBERS},
    "speech_generator.py": {"numpy.load": NUMBERS},
    "data/audio/data_cfg.py": {"yaml.load": "of tasks that no checkpoint may name"},
    "data/codedataset.py": {"numpy.load": NUMBERS, "torch.load": SAFE},
    "tasks/audio_pretraining.py": {"subprocess.call": UNNAMED},
    "tasks/text_to_speech.py": {"numpy.load": UNNAMED},
    "models/speech_to_text/hub_interface.py": {"torch.hub.load": UNNAMED},
    "models/speech_to_text/xm_transformer.py": {"torch.load": UNNAMED},
    "models/text_to_speech/vocoder.py": {"torch.load": UNNAMED},
}


@pytest.fixture(scope="module")
def found() -> set[tuple[str, str]]:
    """File and call wherever data may become code."""
    places = set()
    for file, _, content in sources():
        names = imported_names(content)
        for node in ast.walk(content):
            if isinstance(node, ast.Call) and _is_dangerous(node, called(node, names)):
                places.add((file, called(node, names)))
    return places


def _is_dangerous(node: ast.Call, name: str) -> bool:
    keywords = {keyword.arg for keyword in node.keywords}
    known = name.startswith(BEGINNINGS) or name.endswith(ENDINGS) or name in NAMES
    return known or bool(keywords & KEYWORDS)


def test_whatever_runs_something_is_known(found):
    assert len(found) > 30, "the search finds nothing"
    assert ("data/fasta_dataset.py", "subprocess.check_output") in found
    unknown = {(file, name) for file, name in found if name not in REVIEWED.get(file, {})}
    assert not unknown, "fairseq may run data here: can a file reach it?"


def test_what_no_checkpoint_may_name_is_not_allowed():
    for file, calls in some(REVIEWED.items()):
        module = f"fairseq.{file.removesuffix('.py').replace('/', '.')}"
        if UNNAMED in calls.values():
            assert not any(module == each or module.startswith(f"{each}.") for each in MODULES)


LOAD = torch.load


@pytest.mark.parametrize("version", ["2.6.0a0+git1", "2.6.0.dev20241101", "2.6.0rc1", "2.10.0"])
def test_a_torch_that_loads_anything_is_refused(monkeypatch, version):
    allow_fairseq_checkpoints()
    monkeypatch.setattr(torch, "__version__", version)
    monkeypatch.setattr(torch, "load", lambda stream: LOAD(stream, weights_only=False))
    with pytest.raises(UserError, match=r"run code .* install torch 2\.6"):
        allow_fairseq_checkpoints()


def test_a_safe_torch_whatever_its_version_says(monkeypatch):
    def load(_):
        raise pickle.UnpicklingError("Weights only load failed")

    monkeypatch.setattr(torch, "__version__", "2.5.1")
    monkeypatch.setattr(torch, "load", load)
    allow_fairseq_checkpoints()
