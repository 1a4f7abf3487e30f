"""Checks every checkpoint that fairseq loads before it builds from its options.

A check of the file alone is not enough, because fairseq determines the options only while it loads
it: it may read another file (a shard), attributes of a mapping, or another name of the model; it
converts old options, and adds the user's. So this module checks what fairseq has loaded, before it
is used.

fairseq has models that load further checkpoints, which their options name (`pretrained_checkpoint`,
`w2v_path`), tasks that evaluate lines of files, and criterions that import local files: nothing
would have checked those. So options may name only known components.

fairseq has no hook there. The task is no hook either: if a checkpoint names its task, the task is
built from the same options. Therefore a check is added to two functions of
`fairseq.checkpoint_utils`; nothing else of fairseq is patched.
"""

import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import wraps
from typing import Any, NamedTuple

from fairseq import checkpoint_utils, utils
from fairseq.criterions import CRITERION_REGISTRY
from fairseq.data.encoders import BPE_REGISTRY, TOKENIZER_REGISTRY
from fairseq.models import ARCH_MODEL_REGISTRY, MODEL_REGISTRY
from fairseq.tasks import TASK_REGISTRY
from omegaconf import open_dict

from syntax_nmt.arguments import Namespace
from syntax_nmt.checkpoints.check import check_plain
from syntax_nmt.checkpoints.options import executable_option, plain_container
from syntax_nmt.checkpoints.task_checkpoints import NO_CHECKPOINT, interpolated_option
from syntax_nmt.data.data_bin_names import check_folders, check_format, check_name
from syntax_nmt.data.text_files import check_regular
from syntax_nmt.errors import UserError, errors_of, exits_in_fairseq_programs

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


def _names(kind: _Kind, group: Any) -> list[str]:
    options = plain_container(group)
    given = [options] if not isinstance(options, dict) else map(options.get, kind.keys)
    return [name for name in given if isinstance(name, str) and name]


def _unregistered(cfg: Any) -> str | None:
    """The model or task of a checkpoint that fairseq does not find here, to build it."""
    groups = plain_container(cfg)
    for kind in (kind for kind in _KINDS if kind.wanted):
        for name in _names(kind, groups.get(kind.name))[:1]:
            if not any(name in registry for registry in kind.registries):
                return f"{kind.name} {name!r}"
    return None


def _foreign(kind: _Kind, group: Any) -> str | None:
    names = _names(kind, group)
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


_WHOLE = "give a whole checkpoint of fairseq-train"
# What a checkpoint says of them would be opened wherever it is loaded.
_FILES = {"task": "parser_config"}

# Whether a task and a model are built from the loaded file; a resumed training builds its own.
_builds = ContextVar("builds", default=False)


def check_whatever_is_loaded() -> None:
    """Makes fairseq check each checkpoint that it loads, for every task.

    This holds for all of its programs, for `from_pretrained` of its own models, and for a file that
    a model loads while it is built. A file that is not allowed raises a :class:`UserError`, in a
    program of fairseq's a SystemExit.
    """
    module: Any = checkpoint_utils
    module.load_checkpoint_to_cpu = _checking(module.load_checkpoint_to_cpu)
    module.load_model_ensemble_and_task = _building(module.load_model_ensemble_and_task)


def check_buildable(cfg: Any) -> None:
    """Refuses options that could run code, or build components that load further files.

    Args:
        cfg: all options of a checkpoint, in groups.

    Raises:
        UserError: it holds such an option, is of no translation or language model, or of one that
            is not registered.
    """
    _check_executable(cfg)
    foreign = foreign_component(cfg)
    if foreign is not None:
        raise UserError(
            f"has {foreign}, and is no translation or language model: give a checkpoint of one, or "
            f"load it in a program that does not import syntax_nmt"
        )
    unregistered = _unregistered(cfg)
    if unregistered is not None:
        raise UserError(
            f"has {unregistered}, which is not registered here: give the --user-dir of the plugin "
            "that it was trained with, or another checkpoint"
        )


def _checking(load: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """fairseq's function that reads a file and gives its content, with the options in groups.

    Files that the options name are forgotten, unless whoever loads the checkpoint gives them.
    """

    @wraps(load)
    def load_checkpoint_to_cpu(
        path: str, arg_overrides: Any = None, *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        with exits_in_fairseq_programs():
            _check_file(path)
            try:
                state = load(path, arg_overrides, *args, **kwargs)
            except KeyError as error:  # fairseq looks for what checkpoints of its first years have
                raise UserError(f"{path}: lacks {error}: {_WHOLE}") from error
            check_plain(path, state)
        with exits_in_fairseq_programs(), errors_of(path):
            cfg = state.get("cfg")
            if cfg is not None:
                state["args"] = None  # fairseq would convert them once more; they are in cfg
                check_buildable(cfg) if _builds.get() else _check_executable(cfg)
                _forget_files(cfg, arg_overrides or {})
        return state

    return load_checkpoint_to_cpu


def _check_file(path: str) -> None:
    """Refuses a pipe or a device; fairseq opens addresses that are no paths by itself."""
    try:
        if os.path.exists(path):
            check_regular(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}): {_WHOLE}") from None


def _forget_files(cfg: Any, given: Mapping[str, Any]) -> None:
    """Takes files out of the options that whoever loads a checkpoint names, not the checkpoint.

    Args:
        cfg: the options in groups.
        given: options that replace the checkpoint's.
    """
    for group, name in _FILES.items():
        options = cfg.get(group)
        if name in given or options is None or name not in plain_container(options):
            continue
        if isinstance(options, Namespace):
            setattr(options, name, None)
        else:
            with open_dict(options):
                options[name] = None


def _building(load: Callable[..., Any]) -> Callable[..., Any]:
    """fairseq's function that builds a task and models from files."""

    @wraps(load)
    def load_model_ensemble_and_task(*args: Any, **kwargs: Any) -> Any:
        before = _builds.set(True)
        try:
            loaded = load(*args, **kwargs)
        except OSError as error:
            said, _, path = str(error).partition(": ")
            if said != "Model file not found":
                raise
            with exits_in_fairseq_programs():
                raise UserError(f"{path}: {NO_CHECKPOINT}") from error
        finally:
            _builds.reset(before)
        with exits_in_fairseq_programs():
            _check_texts_of(loaded[-1])
        for model, path in zip(loaded[0], args[0] if args else kwargs["filenames"]):
            model.checkpoint = str(path)  # for messages
        return loaded

    return load_model_ensemble_and_task


def _check_texts_of(task: Any) -> None:
    """Refuses a task whose texts would be read by a shell, before it loads any.

    Its languages may come from the names of files.
    """
    cfg = getattr(task, "cfg", None) or getattr(task, "args", None)
    folders = interpolated_option(cfg, "data") or ""
    check_folders(utils.split_paths(folders) if isinstance(folders, str) else folders)
    check_format(interpolated_option(cfg, "dataset_impl"), "dataset_impl")
    for name in ("source_lang", "target_lang"):
        language = interpolated_option(cfg, name)
        if language is not None:
            check_name(str(language), name)


def _check_executable(cfg: Any) -> None:
    executable = executable_option(cfg)
    if executable is not None:
        raise UserError(
            f"{executable}, which could run code: load no such file from an untrusted source"
        )
