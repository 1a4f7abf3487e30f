"""fairseq's source is searched for what loads files and builds from options: all is checked."""

import ast

import pytest
import torch
from fairseq import checkpoint_utils, criterions, models, tasks
from fairseq.data import encoders
from fairseq_source import sources
from omegaconf import OmegaConf

from syntax_nmt.checkpoints.loading import MODULES, check_buildable, foreign_component
from syntax_nmt.errors import UserError

READS = {"load_checkpoint_to_cpu"}
BUILDS_WHAT_IT_READS = {"load_model_ensemble", "load_model_ensemble_and_task"}
BUILDS = {"setup_task", "build_model", "build_criterion", "build_bpe", "build_tokenizer"}
SEARCHED = READS | BUILDS_WHAT_IT_READS | BUILDS | {"get_maybe_sharded_checkpoint_filename"}

COMMAND_LINE = "options of the command line"
CHECKED = "options of a checkpoint: those that load_checkpoint_to_cpu gave, checked"
OWN = "fairseq's own function of that name"
# What calls them, and with what; whoever adds a line has looked. Tasks, models and criterions that
# no checkpoint may name are left out.
REVIEWED = {
    "checkpoint_utils.py": {
        **dict.fromkeys(["setup_task", "build_model"], CHECKED),
        "get_maybe_sharded_checkpoint_filename": "the file is checked as it is loaded",
        "load_checkpoint_to_cpu": "replaced by ours",
        "load_model_ensemble_and_task": "replaced by ours",
    },
    "hub_utils.py": {
        "load_model_ensemble_and_task": "replaced by ours",
        **dict.fromkeys(["build_bpe", "build_tokenizer"], CHECKED),
    },
    "trainer.py": {"load_checkpoint_to_cpu": "replaced by ours; builds nothing of it"},
    "utils.py": {
        "load_model_ensemble": "calls the one that is replaced by ours",
    },
    "tasks/fairseq_task.py": dict.fromkeys(BUILDS - {"setup_task"}, "what programs ask of a task"),
    "tasks/translation.py": {"build_tokenizer": "eval_bleu_detok: all of fairseq's are allowed"},
    "tasks/__init__.py": {"setup_task": OWN},
    "models/__init__.py": {"build_model": OWN},
    "models/transformer_align.py": {"build_model": CHECKED},
    "data/encoders/utils.py": {"build_bpe": "for fairseq's examples"},
    "data/audio/speech_to_text_dataset.py": dict.fromkeys(
        ["build_bpe", "build_tokenizer"], "of tasks that no checkpoint may name"
    ),
    **{
        f"{program}.py": {
            **dict.fromkeys(["setup_task", "build_tokenizer", "build_bpe"], COMMAND_LINE),
            **dict.fromkeys(["load_model_ensemble", "load_model_ensemble_and_task"], CHECKED),
        }
        for program in ("generate", "interactive", "eval_lm")
    },
    "train.py": dict.fromkeys(["setup_task", "build_model", "build_criterion"], COMMAND_LINE),
    "validate.py": dict.fromkeys(["load_model_ensemble_and_task", "build_criterion"], CHECKED),
    "hydra_validate.py": dict.fromkeys(
        ["load_model_ensemble_and_task", "build_criterion"], CHECKED
    ),
}


def nameable(module: str) -> bool:
    """Whether code of it runs where options of a checkpoint may name it, or whatever they name."""
    groups = ("fairseq.tasks.", "fairseq.models.", "fairseq.criterions.")
    shared = module.endswith(("__init__", "fairseq_task", "fairseq_model", "fairseq_criterion"))
    allowed = any(module == each or module.startswith(f"{each}.") for each in MODULES)
    return shared or allowed or not module.startswith(groups)


@pytest.fixture(scope="module")
def calls() -> list[tuple[str, str]]:
    """File and function wherever something is loaded or built."""
    found = []
    for file, module, content in sources():
        for node in ast.walk(content):
            if isinstance(node, ast.Call) and nameable(module):
                whole = ast.unparse(node.func)
                last = whole.rpartition(".")[2]
                if last in SEARCHED and not whole.startswith("super()"):
                    found.append((file, last))
    return found


def test_whatever_loads_or_builds_is_known(calls):
    assert len(calls) > 40, "the search finds nothing"
    assert ("validate.py", "build_criterion") in calls
    unknown = {(file, name) for file, name in calls if name not in REVIEWED.get(file, {})}
    assert not unknown, "fairseq loads or builds here: is it checked?"


def test_nobody_keeps_what_we_replace():
    """A function that a module imported by name would be the one without the check."""
    for function in (
        checkpoint_utils.load_checkpoint_to_cpu,
        checkpoint_utils.load_model_ensemble_and_task,
    ):
        assert function.__wrapped__.__module__ == "fairseq.checkpoint_utils"
        assert not hasattr(function.__wrapped__, "__wrapped__"), "replaced twice"
    for file, _, content in sources():
        for node in ast.walk(content):
            if isinstance(node, ast.ImportFrom) and node.module == "fairseq.checkpoint_utils":
                names = {alias.name for alias in node.names}
                assert not names & (READS | BUILDS_WHAT_IT_READS), file


GOOD = {"model": {"_name": "transformer"}, "task": {"_name": "translation"}}


@pytest.mark.parametrize(
    "registry",
    [
        (models.ARCH_MODEL_REGISTRY, "model", "arch"),
        (tasks.TASK_REGISTRY, "task", "task"),
        (criterions.CRITERION_REGISTRY, "criterion", "criterion"),
        (encoders.BPE_REGISTRY, "bpe", "bpe"),
        (encoders.TOKENIZER_REGISTRY, "tokenizer", "tokenizer"),
    ],
    ids=lambda registry: registry[1],
)
def test_all_names_of_a_component_are_judged(registry):
    """Wherever fairseq may look for the name; nothing of fairseq's but what is listed."""
    components, kind, key = registry
    allowed = set()
    for name, component in components.items():
        options = {**GOOD.get(kind, {}), key: name}
        found = foreign_component(OmegaConf.create({**GOOD, kind: options}))
        assert found == foreign_component({**GOOD, kind: {**options, "_name": name}})
        if found is None:
            allowed.add(component.__module__)
        else:
            assert found == f"{kind} {name}"
    ours = {module for module in allowed if not module.startswith("fairseq.")}
    assert {".".join(module.split(".")[:3]) for module in allowed - ours} <= MODULES
    assert kind == "bpe" or ours
    assert foreign_component({**GOOD, kind: {}}) == (f"no {kind}" if kind in GOOD else None)


def test_a_name_alone():
    """fairseq takes a word for the options of a component as its name."""
    assert foreign_component({**GOOD, "criterion": "ctc"}) == "criterion ctc"
    assert foreign_component({**GOOD, "criterion": "cross_entropy", "bpe": None}) is None


@pytest.mark.parametrize("kind", ["model", "task"])
def test_a_component_of_a_plugin_that_is_not_there(kind):
    """fairseq's own message of an unknown model fails before it is made."""
    groups = {"model": {"_name": "transformer"}, "task": {"_name": "translation"}}
    check_buildable(groups)
    groups[kind] = {"_name": "of_another_plugin"}
    with pytest.raises(UserError, match=f"{kind} 'of_another_plugin', which is not registered"):
        check_buildable(groups)


def test_a_part_that_fairseq_looks_for(tmp_path):
    """Checkpoints of its first years have another one in place of `optimizer_history`."""
    path = tmp_path / "checkpoint.pt"
    torch.save({"args": None, "model": {}, "cfg": {"model": {}}}, path)
    with pytest.raises(UserError, match=r"checkpoint.pt: lacks 'best_loss': give a whole"):
        checkpoint_utils.load_checkpoint_to_cpu(str(path))
