"""fairseq's source is searched for `eval`: what it evaluates must be held to literals."""

import ast
from collections.abc import Iterator
from pathlib import Path

import fairseq
import pytest
from fairseq.criterions import CRITERION_REGISTRY
from fairseq.data.encoders import BPE_REGISTRY
from fairseq.models import ARCH_MODEL_REGISTRY, MODEL_REGISTRY
from fairseq.tasks import TASK_REGISTRY
from nonempty import some

from syntax_nmt.checkpoints.loading import MODULES
from syntax_nmt.checkpoints.options import _FILE_NAMES, executable_option, is_evaluated

SOURCE = Path(fairseq.__file__).parent
EVALUATING = {"eval", "exec", "__import__", "eval_str_list", "eval_str_dict", "eval_bool"}
LOADING = {"load", "load_checkpoint_to_cpu", "load_model_ensemble", "load_model_ensemble_and_task"}
LOADING |= {"load_pretrained_component_from_model", "from_pretrained"}

# What else is evaluated, and where it comes from; whoever adds a line has looked.
REVIEWED = {
    ("utils.py", "x"): "eval_str_list and the like themselves",
    ("dataclass/utils.py", "x"): "options of the command line, by literal_eval",
    ("models/lightconv.py", "x"): "options of the command line",
    ("models/lightconv.py", "?"): "options of the command line",
    ("models/lightconv_lm.py", "x"): "options of the command line",
    ("models/lightconv_lm.py", "?"): "options of the command line",
    ("data/multilingual/multilingual_data_manager.py", "uf"): "options of the command line",
    ("data/codedataset.py", "line"): "lines of a data file, of a task that no checkpoint may name",
}


@pytest.fixture(scope="module")
def found() -> list[tuple[str, str, str]]:
    return list(evaluated())


def evaluated() -> Iterator[tuple[str, str, str]]:
    """File, function and the name of its argument, wherever something is evaluated.

    fairseq's examples are programs and plugins of their own, which nobody loads unasked; what they
    take from options is searched all the same, what they read from files is not.
    """
    for path in sorted(SOURCE.rglob("*.py")):
        file = path.relative_to(SOURCE).as_posix()
        text = path.read_text(encoding="utf-8")
        if not any(name in text for name in EVALUATING):
            continue
        tree = ast.parse(text)
        calls = {node.func: node for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            name = _name(node)
            of_object = isinstance(node, ast.Attribute) and name in ("eval", "exec")
            if name in EVALUATING and not of_object:  # model.eval() is another thing
                argument = calls[node].args[0] if node in calls else None
                yield file, name, _name(argument) or "?"


def _name(node: ast.AST | None) -> str | None:
    """The last name of an expression such as `self.cfg.adam_betas` or `line.strip()`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _name(node.func.value)
    return getattr(node, "id", None) or getattr(node, "attr", None)


def test_whatever_fairseq_evaluates_is_known(found):
    assert len(found) > 50, "the search finds nothing"
    assert ("modules/multihead_attention.py", "eval_str_dict", "xformers_att_config") in found
    unknown = {
        (file, argument)
        for file, _, argument in found
        if not is_evaluated(argument) and (file, argument) not in REVIEWED
        if not (file.startswith("examples/") and argument in ("line", "?"))
    }
    assert not unknown, "fairseq evaluates these: add them to the evaluated options"


@pytest.mark.parametrize(
    "name",
    ["encoder_xformers_att_config", "decoder_attention", "adam_betas", "xformers_att_config"],
)
def test_names(name):
    assert is_evaluated(name)


def test_no_file_name_is_evaluated(found):
    """The names of files are taken as they are."""
    for _, _, argument in some(found):
        assert is_evaluated(argument) or _FILE_NAMES.fullmatch(argument) is None


@pytest.mark.parametrize("name", ["save_dir", "source_segmenter", "target_segmenter"])
def test_paths_may_hold_anything(name):
    assert executable_option({name: "models(1)/tok.pt"}) is None


def test_the_allowed_models_and_tasks_load_nothing():
    for module in some(MODULES):
        home = SOURCE.parent.joinpath(*module.split("."))
        files = sorted(home.rglob("*.py")) if home.is_dir() else [home.with_suffix(".py")]
        for file in files:
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call):
                    loads = _name(node.func) in LOADING - {"load"}
                    assert not loads or file.name == "hf_bert_bpe.py", file  # a vocabulary
                    assert ast.unparse(node.func) != "torch.load", file


def test_the_allowed_models_and_tasks_are_there():
    registries = (ARCH_MODEL_REGISTRY, MODEL_REGISTRY, TASK_REGISTRY)
    registries += (CRITERION_REGISTRY, BPE_REGISTRY)
    registered = [component for registry in registries for component in registry.values()]
    there = {".".join(each.__module__.split(".")[:3]) for each in registered}
    assert there >= MODULES
