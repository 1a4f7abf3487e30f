"""The fairseq components that the options of a checkpoint may name.

fairseq has models that load further checkpoints, which their options name (`pretrained_checkpoint`,
`w2v_path`), tasks that evaluate lines of files, and criterions that import local files: nothing
would have checked those.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fairseq.criterions import CRITERION_REGISTRY
from fairseq.data.encoders import BPE_REGISTRY, TOKENIZER_REGISTRY
from fairseq.models import ARCH_MODEL_REGISTRY, MODEL_REGISTRY
from fairseq.tasks import TASK_REGISTRY

from syntax_nmt.checkpoints.options import plain_container

# Modules of fairseq components that load nothing; components of a plugin are the user's own choice.
MODULES = frozenset(
    {f"fairseq.tasks.{name}" for name in ("language_modeling", "translation", "translation_lev")}
    | {f"fairseq.models.{name}" for name in ("fconv", "lightconv", "lstm", "nat", "transformer")}
    | {f"fairseq.models.{name}_lm" for name in ("fconv", "lightconv", "lstm", "transformer")}
    | {"fairseq.models.transformer_align"}
    | {f"fairseq.criterions.{name}" for name in ("adaptive_loss", "cross_entropy", "nat_loss")}
    | {
        f"fairseq.criterions.label_smoothed_cross_entropy{ending}"
        for ending in ("", "_with_alignment", "_with_rdrop")
    }
    | {"fairseq.data.encoders"}
)


class _Kind(NamedTuple):
    """One sort of component.

    Attributes:
        name: of the group of options.
        keys: the options that name the component; each must be allowed, so that fairseq's order
            does not matter.
        registries: where fairseq looks the name up.
        wanted: whether the component is required.
    """

    name: str
    keys: tuple[str, ...]
    registries: tuple[dict[str, Any], ...]
    wanted: bool = False


_KINDS = (
    _Kind("model", ("_name", "arch"), (ARCH_MODEL_REGISTRY, MODEL_REGISTRY), wanted=True),
    _Kind("task", ("_name", "task"), (TASK_REGISTRY,), wanted=True),
    _Kind("criterion", ("_name", "criterion"), (CRITERION_REGISTRY,)),
    _Kind("tokenizer", ("_name", "tokenizer"), (TOKENIZER_REGISTRY,)),
    _Kind("bpe", ("_name", "bpe"), (BPE_REGISTRY,)),
)


def foreign_component(cfg: Any) -> str | None:
    """The components in a checkpoint's options that are not of a translation or language model.

    That is, its model, its task, its criterion (which `fairseq-validate` builds), its tokenizer or
    its subwords (which the hub interface builds).

    Args:
        cfg: the options in groups, as fairseq builds them: fairseq itself groups the options of an
            old checkpoint while it loads them.
    """
    groups = plain_container(cfg)
    return next(filter(None, (_foreign(kind, groups.get(kind.name)) for kind in _KINDS)), None)


def _foreign(kind: _Kind, group: Any) -> str | None:
    options = plain_container(group)
    given = [options] if not isinstance(options, dict) else map(options.get, kind.keys)
    names = [name for name in given if isinstance(name, str) and name]
    if kind.wanted and not names:
        return f"no {kind.name}"
    for name in names:
        for registry in kind.registries:
            module = getattr(registry.get(name), "__module__", "")
            if module.split(".")[0] == "fairseq" and not _is_known(module):
                return f"{kind.name} {name}"
    return None


def _is_known(module: str) -> bool:
    return any(module == known or module.startswith(f"{known}.") for known in MODULES)
