"""The types of the parts of a checkpoint that fairseq and this package read without checks."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from syntax_nmt.checkpoints.plain_content import MAPPINGS
from syntax_nmt.errors import UserError


class _Kind(NamedTuple):
    """What a single value must be.

    Attributes:
        name: for messages.
        fits: whether a value is of the kind.
    """

    name: str
    fits: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    """fairseq keeps figures as tensors of one number, too."""
    if isinstance(value, torch.Tensor):
        return value.numel() == 1
    return isinstance(value, (bool, int, float, np.number))


_MOST = 2**31  # seeds are made of counts
_EACH = "*"  # every other entry of a dictionary
_REQUIRED = "!"  # ends the name of an entry that must be there

_TEXT = _Kind("text", lambda value: type(value) is str)
_FLAG = _Kind("a bool", lambda value: type(value) is bool)
_NUMBER = _Kind("a number", _is_number)
_COUNT = _Kind(
    f"a whole number from 0 to {_MOST - 1}",
    lambda value: type(value) is int and 0 <= value < _MOST,
)
_TENSOR = _Kind("a tensor", lambda value: isinstance(value, torch.Tensor))
_FIGURE = _Kind(
    "a number, or several",  # as BLEU has them: an array
    lambda value: _is_number(value) or isinstance(value, (torch.Tensor, np.ndarray)),
)
_AVERAGE = {"val": _FIGURE, "sum!": _FIGURE, "count!": _NUMBER, "round": _COUNT}
# The classes of fairseq.logging.meters that it saves; it would call whatever the name is there.
_METERS: dict[str, Any] = {
    "AverageMeter": _AVERAGE,
    "SumMeter": {"sum!": _FIGURE, "round": _COUNT},
    "TimeMeter": {"init!": _NUMBER, "n!": _NUMBER, "round": _COUNT},
    "StopwatchMeter": {"sum!": _NUMBER, "n!": _NUMBER, "round": _COUNT},
    "ConcatTensorMeter": {"tensor!": _TENSOR},
}
_METER = _Kind("the name of a meter", lambda value: type(value) is str and value in _METERS)

# A dictionary of entries, a list of one form, a tuple of forms, or a kind of single value. None
# counts as missing.
_FORMS: dict[str, Any] = {
    "model!": {},
    "criterion": {},
    "task_state": {
        "patience": {"best": _NUMBER, "num_runs": _COUNT},
        "vocabularies": {"source": _TEXT, "target": _TEXT},
    },
    "optimizer_history": [
        {
            "criterion_name": _TEXT,
            "optimizer_name": _TEXT,
            "lr_scheduler_state": {"lr": _NUMBER, "best": _NUMBER},
            "num_updates": _COUNT,
            "best_loss": _NUMBER,
        }
    ],
    "last_optimizer_state": {
        "state": {_EACH: {}},
        "param_groups": [{"params": [_COUNT], "lr": _NUMBER}],
        "loss_scale": _NUMBER,
    },
    "extra_state": {
        "train_iterator": {
            "epoch!": _COUNT,
            "iterations_in_epoch": _COUNT,
            "shuffle": _FLAG,
            "version": _COUNT,
        },
        "metrics": {_EACH: [(_NUMBER, _TEXT, _METER, {})]},
        "previous_training_time": _NUMBER,
        "val_loss": _NUMBER,
        "best": _NUMBER,
        "epoch": _COUNT,
        "batch_offset": _COUNT,
        "ema": {},
    },
}


def check_types(path: str | Path, state: Mapping[str, Any], remedy: str) -> None:
    """Refuses parts of other types than programs read.

    Args:
        path: of the checkpoint, for messages.
        remedy: what to do, for messages.

    Raises:
        UserError: names the first.
    """
    wrong = _of_dictionary(state, _FORMS, "") or _of_history(state) or _of_meters(state)
    if wrong is not None:
        raise UserError(f"{path}: its {wrong}: {remedy}")


def _difference(value: Any, form: Any, name: str) -> str | None:
    """What is of another form, and how; None = nothing."""
    if isinstance(form, _Kind):
        return None if form.fits(value) else f"{name} is {_described(value)}, not {form.name}"
    if isinstance(form, dict):
        if type(value) not in MAPPINGS:
            return f"{name} is of type {type(value).__name__}, not dict"
        return _of_dictionary(value, form, f"{name}.")
    if type(value) not in (list, tuple):
        return f"{name} is of type {type(value).__name__}, not list"
    if isinstance(form, tuple) and len(value) != len(form):
        return f"{name} has {len(value)} entries, not {len(form)}"
    forms = form if isinstance(form, tuple) else form * len(value)
    for place, (part, of_it) in enumerate(zip(value, forms)):
        wrong = _difference(part, of_it, f"{name}[{place}]")
        if wrong is not None:
            return wrong
    return None


def _of_dictionary(value: Any, form: dict[str, Any], prefix: str) -> str | None:
    """As :func:`_difference`, of the entries of a dictionary."""
    for key, of_it in form.items():
        name = key.removesuffix(_REQUIRED)
        entries = dict.items(value) if key == _EACH else [(name, dict.get(value, name))]
        for entry, part in entries:
            if part is None:
                if key.endswith(_REQUIRED):
                    return f"{prefix}{entry} is missing"
                continue
            wrong = _difference(part, of_it, f"{prefix}{entry}")
            if wrong is not None:
                return wrong
    return None


def _of_history(state: Mapping[str, Any]) -> str | None:
    """fairseq reads the last entry."""
    return "optimizer_history is empty" if state.get("optimizer_history") in ([], ()) else None


def _of_meters(state: Mapping[str, Any]) -> str | None:
    """The figures of each meter, each name once."""
    metrics = (state.get("extra_state") or {}).get("metrics") or {}
    for group, meters in dict.items(metrics):
        names = [name for _, name, _, _ in meters or ()]
        for _, name, meter, figures in meters or ():
            prefix = f"extra_state.metrics.{group}.{name}"
            if names.count(name) > 1:
                return f"{prefix} is there {names.count(name)} times"
            wrong = _of_dictionary(figures, _METERS[meter], f"{prefix}.")
            if wrong is not None:
                return wrong
    return None


def _described(value: Any) -> str:
    shown = repr(value) if type(value) in (bool, int, float, str) else type(value).__name__
    return shown[:60]
