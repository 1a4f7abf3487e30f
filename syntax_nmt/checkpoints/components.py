"""Which of fairseq's models and tasks a checkpoint may name, where its own options build them.

fairseq has models that load further checkpoints, which their options name (`pretrained_checkpoint`,
`w2v_path`), and nobody would have looked through those.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from fairseq.models import ARCH_MODEL_REGISTRY, MODEL_REGISTRY
from fairseq.tasks import TASK_REGISTRY
from omegaconf import DictConfig

# Where fairseq has those that load nothing; what is of a plugin is the user's own choice.
MODULES = frozenset(
    {f"fairseq.tasks.{name}" for name in ("language_modeling", "translation", "translation_lev")}
    | {f"fairseq.models.{name}" for name in ("fconv", "lightconv", "lstm", "nat", "transformer")}
    | {f"fairseq.models.{name}_lm" for name in ("fconv", "lightconv", "lstm", "transformer")}
    | {"fairseq.models.transformer_align"}
)


def foreign_component(options: Any) -> str | None:
    """What a checkpoint's options would build that is neither a translation nor a language model.

    Args:
        options: its `args` or `cfg`.
    """
    return foreign_model(_part(options, "model")) or foreign_task(_part(options, "task"))


def foreign_model(options: Any) -> str | None:
    """The model that options name if it is no translation or language model."""
    name = _value(options, "_name") or _value(options, "arch")
    return _foreign("model", name, ARCH_MODEL_REGISTRY.get(name) or MODEL_REGISTRY.get(name))


def foreign_task(options: Any) -> str | None:
    """The task that options name if it is not for translation or language models."""
    name = _value(options, "_name") or _value(options, "task")
    return _foreign("task", name, TASK_REGISTRY.get(name))


def _foreign(kind: str, name: Any, component: type | None) -> str | None:
    if name is None:
        return f"no {kind}"
    package, *module = getattr(component, "__module__", "").split(".")
    known = ".".join([package, *module[:2]]) in MODULES
    return f"{kind} {name}" if package == "fairseq" and not known else None


def _part(options: Any, name: str) -> Any:
    """The options of a part; an old checkpoint has all in one place."""
    part = _value(options, name)
    return options if part is None or isinstance(part, str) else part


def _value(options: Any, name: str) -> Any:
    if isinstance(options, Namespace):
        options = vars(options)
    return options.get(name) if isinstance(options, (Mapping, DictConfig)) else None
