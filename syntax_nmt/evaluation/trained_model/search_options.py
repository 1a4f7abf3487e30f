"""Options of fairseq's search, as Python gives them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from fairseq.dataclass.configs import GenerationConfig
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from syntax_nmt.errors import UserError
from syntax_nmt.option_checks import flag

# What fairseq's interface itself takes beside the options of the search.
_OF_THE_HUB = (
    "verbose",
    "skip_invalid_size_inputs",
    "inference_step_args",
    "prefix_allowed_tokens_fn",
)


def check_search(beam: int, options: Mapping[str, Any]) -> None:
    """Refuses what fairseq would pass over, or fail at.

    Args:
        beam: hypotheses that are kept.
        options: the others, by fairseq's names.

    Raises:
        UserError: names the option, and the one that it may have been meant for.
    """
    known = [field.name for field in dataclasses.fields(GenerationConfig)]
    for name in options:
        if name not in known and name not in _OF_THE_HUB:
            close = get_close_matches(name, known, n=1)
            advice = f"did you mean {close[0]}?" if close else "leave it out"
            raise UserError(f"{name}: fairseq's search has no such option: {advice}")
    values = {name: value for name, value in options.items() if name in known} | {"beam": beam}
    try:
        checked = OmegaConf.merge(OmegaConf.structured(GenerationConfig()), values)
    except OmegaConfBaseException as error:
        raise UserError(f"{flag(str(error.full_key))}: {str(error).splitlines()[0]}") from None
    if checked.beam < 1:
        raise UserError(f"--beam: {beam} is not a whole number of 1 or more")
