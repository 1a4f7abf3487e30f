"""The keys of `model:` in a YAML of fairseq-hydra-train, checked."""

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from fairseq.models import ARCH_MODEL_REGISTRY
from omegaconf import OmegaConf

from syntax_nmt.arguments import Action, flag
from syntax_nmt.errors import UserError
from syntax_nmt.models.family_options import command_line_options, how_to_have, is_of_another

_OF_FAIRSEQ = ("_name", "arch")


def refuse_unknown_options(cfg: Any) -> None:
    """Refuses a key that is no option of the architecture, and text in place of a number.

    fairseq checks the other groups, but models registered for its command line accept any key.

    Args:
        cfg: the options of a model; only those of fairseq-hydra-train are checked.

    Raises:
        UserError: names the key, and the option that it may have been meant for.
    """
    if not OmegaConf.is_config(cfg):
        return
    name = cfg.get("_name")
    model = ARCH_MODEL_REGISTRY.get(name)
    if model is None or not hasattr(model, "add_args"):
        return
    options = command_line_options(model)
    _refuse(name, cfg.keys(), options)
    _refuse_text(cfg, options)


def _refuse(name: str, keys: Iterable[Any], known: Collection[str]) -> None:
    for key in map(str, keys):
        if key in known or key in _OF_FAIRSEQ:
            continue
        if is_of_another(key):
            raise UserError(f"model.{key}: {flag(key)} {how_to_have(key)}")
        close = get_close_matches(key, known, n=1)
        advice = f"did you mean model.{close[0]}?" if close else "leave it out"
        raise UserError(f"model.{key}: architecture {name} has no such option; {advice}")


def _refuse_text(cfg: Any, options: Mapping[str, Action]) -> None:
    """Text in place of a number or a switch; `"false"` would switch on."""
    for key, option in options.items():
        is_switch = option.nargs == 0
        if isinstance(cfg.get(key), str) and (is_switch or option.type in (int, float)):
            wanted = "true or false" if is_switch else "a number"
            raise UserError(
                f"model.{key}: '{cfg[key]}' is text: give {wanted}, without quotation marks"
            )
