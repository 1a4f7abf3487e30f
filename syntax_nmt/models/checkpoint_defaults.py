"""The values of options that a checkpoint does not name."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import fields
from typing import Any

from fairseq.models import ARCH_MODEL_REGISTRY
from omegaconf import OmegaConf, open_dict

# Options that 0.1.0 took, and did not read, where the first one was off; they are refused today.
_UNREAD = {
    "phrase_segmentation": ("phrase_summary",),
    "latent_phrase_layers": (
        "syntactic_distance_lookback", "syntactic_distance_temperature", "syntactic_distance_gate",
    ),
    "local_attention_window": ("local_attention_layers",),
    "relation_kernels": ("relation_hidden_dim",),
}  # fmt: skip


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
    """Sets options that a checkpoint lacks, or that have no effect in it, to their defaults.

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
    defaults = {x.name: x.default for x in fields(model.feature_options) if x.name != "_name"}
    unread = {x for switch, of_it in _UNREAD.items() if not names.get(switch) for x in of_it}
    for name, default in defaults.items():
        if name not in names or name in unread:
            set_option(cfg, name, default)
