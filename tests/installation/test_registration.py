"""What an import registers with fairseq, and what the quick commands do without."""

import json
import subprocess
import sys

import pytest
from commands import REPOSITORY, USER_DIR

pytestmark = pytest.mark.dear

REGISTERED = """
import json, sys
from fairseq import registry, tasks
from fairseq.models import ARCH_MODEL_REGISTRY
names = {name: sorted(found["registry"]) for name, found in registry.REGISTRIES.items()}
names["task"] = sorted(tasks.TASK_REGISTRY)
names["arch"] = sorted(ARCH_MODEL_REGISTRY)
print(json.dumps({kind: [n for n in found if n not in before.get(kind, ())]
                  for kind, found in names.items()}))
"""
BY_USER_DIR = f"""
from argparse import Namespace
from fairseq.utils import import_user_module
import_user_module(Namespace(user_dir={USER_DIR!r}))
"""


def python(code: str) -> str:
    """What a fresh process prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def registered(code: str) -> dict[str, list[str]]:
    return json.loads(python("before = {}\n" + code + REGISTERED))


@pytest.fixture(scope="module")
def everything():
    """By hand: each module that has a name for fairseq, imported."""
    marks = ("@register_", "register_model_architecture(")
    modules = [
        ".".join(path.relative_to(REPOSITORY).with_suffix("").parts)
        for path in sorted((REPOSITORY / "syntax_nmt").rglob("*.py"))
        if any(mark in path.read_text(encoding="utf-8") for mark in marks)
    ]
    assert len(modules) > 5
    return registered("import importlib\n" + "".join(f"import {name}\n" for name in modules))


@pytest.mark.parametrize(
    "code",
    [
        BY_USER_DIR,
        "import fairseq, syntax_nmt",
        "import syntax_nmt.plugin",
        "from syntax_nmt import load",
    ],
)
def test_registers_everything(code, everything):
    assert "bi_scale_rnn" in everything["arch"]
    assert registered(code) == everything


@pytest.mark.parametrize(
    "arguments",
    [
        ["user-dir"],
        *([command, "--help"] for command in ("demo", "score", "compare", "trees")),
        ["trees", "--hypothesis", "none.conllu", "--draw", "1"],
    ],
)
def test_quick_commands_load_neither_fairseq_nor_torch(arguments):
    code = (
        "import sys\nfrom syntax_nmt.cli import main\n"
        f"try:\n    main({arguments})\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('fairseq', 'torch', 'stanza') if name in sys.modules])"
    )
    assert python(code).splitlines()[-1] == "[]"
