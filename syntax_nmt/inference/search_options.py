"""Options of fairseq's search, from Python."""

import dataclasses
import math
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
# Below them fairseq would fail, or search as without the option; its default means that.
_LEAST = {
    **{name: 0 for name in ("max_len_a", "max_len_b", "min_len", "no_repeat_ngram_size")},
    **{name: 1 for name in ("beam", "sampling_topk", "diverse_beam_groups")},
    "sampling_topp": 0,
}


def checked_search(beam: Any, options: Mapping[str, Any], vocabulary: int) -> dict[str, Any]:
    """The beam and the options of a search, with values of the types that fairseq reads.

    Args:
        beam: number of hypotheses.
        options: the others, by fairseq's names; `"3"` is 3 and `"no"` False, as in its YAML files.
        vocabulary: number of target tokens.

    Raises:
        UserError: names an option that fairseq would ignore or fail at, and the one that it may
            have been meant for.
    """
    of_programs = {field.name for field in dataclasses.fields(GenerationConfig)}
    for name in options:
        if name not in SEARCH_OPTIONS:
            if name in of_programs:
                raise UserError(f"{name} is for fairseq's programs, not for Python: leave it out")
            close = get_close_matches(name, SEARCH_OPTIONS, n=1)
            advice = f"did you mean {close[0]}?" if close else "leave it out"
            raise UserError(f"{name}: fairseq's search has no such option: {advice}")
    defaults: Any = OmegaConf.structured(GenerationConfig())
    try:
        merged: Any = OmegaConf.merge(defaults, dict(options, beam=beam))
    except OmegaConfBaseException as error:
        raise UserError(f"{error.full_key}: {str(error).splitlines()[0]}") from None
    greatest = {"sampling_topk": vocabulary, "sampling_topp": 1}
    checked = {name: merged[name] for name in ("beam", *options)}
    for name, value in checked.items():
        least, most = _LEAST.get(name, -math.inf), greatest.get(name, math.inf)
        if value != defaults[name] and not (math.isfinite(value) and least <= value <= most):
            bounds = [f" from {least}"] * (name in _LEAST) + [f" to {most}"] * (name in greatest)
            raise UserError(f"{name} {value}: give a finite number{''.join(bounds)}")
    return checked
