"""The values of options that a checkpoint does not name."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import fields
from typing import Any

from fairseq.models import ARCH_MODEL_REGISTRY
from omegaconf import OmegaConf, open_dict


def set_option(cfg: Any, name: str, value: Any) -> None:
    """Sets an option of a model, in whichever form fairseq has its options.

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
    """Sets options that a checkpoint lacks to their defaults, before today's presets apply.

    fairseq saves options that were given or preset, and applies the architecture's preset again
    while it loads. An option that a checkpoint lacks had its default when the model was trained; a
    preset that sets it today must not change the model.

    Args:
        cfg: the options of a model out of a checkpoint.
    """
    names = vars(cfg) if isinstance(cfg, Namespace) else cfg
    model = ARCH_MODEL_REGISTRY.get(names.get("_name") or names.get("arch"))
    if not hasattr(model, "feature_options"):
        return  # not one of ours
    for option in fields(model.feature_options):
        if option.name != "_name" and option.name not in names:
            set_option(cfg, option.name, option.default)
