"""Options of a resumed training that differ from its checkpoint's.

fairseq silently takes the new ones. If `--save-dir` belongs to another training by mistake, that
training would continue, or end at once, under the new training's name.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator, Mapping
from typing import Any

from omegaconf import DictConfig, OmegaConf

from syntax_nmt.arguments import flag

logger = logging.getLogger(__name__)


def warn_of_changed_options(path: str, built: Any, saved: Any, given: Any) -> None:
    """Says in the log which options differ, of those that a model or a criterion has.

    Args:
        built: the model or the criterion.
        saved: its options in the checkpoint; None = not known.
        given: its options now, after it was built, which may complete them.
    """
    changed = list(_differences(type(built), _by_name(saved), _by_name(given)))
    if changed:
        logger.warning(
            f"{path} is resumed with other options: {', '.join(changed)}; for a new training give "
            "a --save-dir of its own"
        )


def _differences(
    component: Any, saved: Mapping[str, Any], given: Mapping[str, Any]
) -> Iterator[str]:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    component.add_args(parser)
    for name in ("arch", *vars(parser.parse_args([]))):
        if name in saved and name in given and saved[name] != given[name]:
            yield f"{flag(name)} {given[name]} (there: {saved[name]})"


def _by_name(options: Any) -> Mapping[str, Any]:
    """fairseq has a namespace of all options where a program was given `--arch`."""
    if isinstance(options, DictConfig):  # as fairseq saves it
        options = OmegaConf.to_container(options, resolve=True, enum_to_str=True)
    return vars(options) if isinstance(options, argparse.Namespace) else options or {}
