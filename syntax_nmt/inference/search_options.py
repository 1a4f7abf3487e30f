"""Options of fairseq's search, from Python."""

import dataclasses
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from fairseq.dataclass.configs import GenerationConfig
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from syntax_nmt.errors import UserError

# Options that change what the search of one model finds. The others of fairseq's group are about
# files and what `fairseq-generate` prints, or need inputs that raw text does not have.
SEARCH_OPTIONS = (
    *("max_len_a", "max_len_b", "min_len", "match_source_len", "no_repeat_ngram_size"),
    *("lenpen", "unnormalized", "unkpen", "temperature"),
    *("sampling", "sampling_topk", "sampling_topp"),
    *("diverse_beam_groups", "diverse_beam_strength", "diversity_rate"),
)
# Arguments of fairseq's interface in addition to the options of the search.
_OF_THE_HUB = (
    "verbose",
    "skip_invalid_size_inputs",
    "inference_step_args",
    "prefix_allowed_tokens_fn",
)


def check_search(beam: int, options: Mapping[str, Any]) -> None:
    """Refuses options that fairseq would ignore or fail at.

    Args:
        beam: number of hypotheses.
        options: the others, by fairseq's names.

    Raises:
        UserError: names the option, and the one that it may have been meant for.
    """
    of_programs = {field.name for field in dataclasses.fields(GenerationConfig)}
    for name in options:
        if name not in SEARCH_OPTIONS and name not in _OF_THE_HUB:
            if name in of_programs:
                raise UserError(f"{name} is for fairseq's programs, not for Python: leave it out")
            close = get_close_matches(name, SEARCH_OPTIONS, n=1)
            advice = f"did you mean {close[0]}?" if close else "leave it out"
            raise UserError(f"{name}: fairseq's search has no such option: {advice}")
    values = {name: options[name] for name in options if name in SEARCH_OPTIONS} | {"beam": beam}
    try:
        checked = OmegaConf.merge(OmegaConf.structured(GenerationConfig()), values)
    except OmegaConfBaseException as error:
        raise UserError(f"{error.full_key}: {str(error).splitlines()[0]}") from None
    if checked.beam < 1:
        raise UserError(f"beam: {beam} is not a whole number of 1 or more")
