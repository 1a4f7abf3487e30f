"""Reading the options of all model families, including those that a checkpoint does not name."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.tasks import FairseqTask
from omegaconf import OmegaConf, open_dict

from syntax_nmt.arguments import Namespace
from syntax_nmt.checkpoints.label_text import join_labels
from syntax_nmt.errors import UserError, exits_in_fairseq_programs
from syntax_nmt.methods import METHODS, prepare_options


def build_for_syntax_translation(
    build: Callable[[Any, FairseqTask], Any], args: Any, task: FairseqTask, family: str
) -> Any:
    """Builds a model for `fairseq-train`, `fairseq-hydra-train` or a checkpoint.

    Args:
        build: builds the model from a namespace of options and the task.
        family: the name of the model, for messages.

    Raises:
        UserError: options that contradict each other, or another task; one line says which.
    """
    given = args
    if OmegaConf.is_config(args):  # started by fairseq-hydra-train
        plain: Any = OmegaConf.to_container(args, resolve=True)
        args = Namespace(**plain)
    with exits_in_fairseq_programs():
        if not getattr(task, "hands_over_annotation", False):
            raise UserError(
                f"architecture {getattr(args, 'arch', family)} runs under its own task, this is "
                f"{type(task).__name__}: add --task syntax_translation"
            )
        try:
            prepare_options(args, task)
            model = build(args, task)
        # how fairseq reports options that contradict each other
        except (ValueError, AssertionError) as error:
            if not str(error):
                raise
            raise UserError(
                f"{error}: correct the options, or give the data they are for (this is "
                f"{task.cfg.data})"
            ) from error
    for kind, labels in model.annotation_labels.items():  # checkpoints keep them
        set_option(given, kind.key, join_labels(labels))
    return model


def set_option(cfg: Any, name: str, value: Any) -> None:
    """Sets an option of a model in either form of fairseq's options.

    Args:
        cfg: the options, a namespace or those of fairseq-hydra-train.
        value: a builtin, as torch's safe loader reads nothing else.
    """
    if OmegaConf.is_config(cfg):
        with open_dict(cfg):
            cfg[name] = value
    else:
        setattr(cfg, name, value)


def keep_defaults(cfg: Any) -> None:
    """Sets options that a checkpoint lacks, or that have no effect in it, to their defaults.

    fairseq saves options that were given or preset, and applies the architecture's preset again
    while it loads. An option that a checkpoint lacks had its default when the model was trained; a
    newer preset that sets it must not change the model.

    Args:
        cfg: the options of a model out of a checkpoint.
    """
    names = vars(cfg) if isinstance(cfg, Namespace) else cfg
    model = ARCH_MODEL_REGISTRY.get(names.get("_name") or names.get("arch"))
    if not hasattr(model, "feature_options"):
        return  # not one of ours
    defaults = {x.name: x.default for x in fields(model.feature_options) if x.name != "_name"}
    # 0.1.0 accepted them, but did not read them; they are now refused.
    unread = {
        option
        for method in METHODS
        for switch, options in method.ignored_in_0_1_0.items()
        if not names.get(switch)
        for option in options
    }
    for name, default in defaults.items():
        if name not in names or name in unread:
            set_option(cfg, name, default)
