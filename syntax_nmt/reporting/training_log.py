"""The log of fairseq-train: what a model is, and how its losses and accuracies went.

It reads `--log-format simple`, and the lines of `tqdm` at the end of an epoch. A log
may hold several starts of one training, one after the other: what a later start does again replaces
what an earlier one did. Curves and the figures of a training are made of it.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from syntax_nmt.data.text_files import line_starts, not_utf8
from syntax_nmt.errors import UserError

TRAIN, INTERVAL = "train", "train_inner"
"""Averages over an epoch, and between two lines of `--log-interval`, under fairseq's names."""

_UPDATES = "num_updates"
_VALID = re.compile(r"\bepoch (\d+) \| valid on '([^']*)' subset \| (.+)")
_EPOCH = re.compile(r"\bepoch (\d+) \| (\S+ \S+ \| .+)")
_INTERVAL = re.compile(r"\bepoch (\d+):.*? (\S+=.+)")
_START = re.compile(r"\bLoaded checkpoint .* @ (\d+) updates\)")
_FACTS = {
    "model": re.compile(r"\| model: (\S+)"),
    "architecture": re.compile(r"\barch='([^']+)'"),
    "criterion": re.compile(r"\| criterion: (\S+)"),
    "parameters": re.compile(r"\bnum\. shared model params: ([\d,]+)"),
    "done": re.compile(r"\bdone training in ([\d.]+)"),
}


@dataclass(frozen=True)
class Measurement:
    """A line with figures.

    Attributes:
        updates: of the parameters, until then.
        epoch: counted from 1.
        values: by fairseq's names, such as `nll_loss`; finite ones only.
        not_finite: names of the others, such as a loss that has become NaN.
    """

    updates: int
    epoch: int
    values: Mapping[str, float]
    not_finite: tuple[str, ...] = ()


@dataclass
class TrainingLog:
    """A training.

    Attributes:
        name: of the file.
        series: by `train`, `train_inner` and the names of the validation sets: measurements by
            rising number of updates.
        facts: what the log says of the model: `model`, `architecture`, `criterion`, `parameters`;
            and `done`, if the training came to its end.
        resumed: the updates that later starts began with, rising.
    """

    name: str
    series: dict[str, list[Measurement]] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    resumed: list[int] = field(default_factory=list)

    @property
    def validation(self) -> str | None:
        """The first validation set; None = there is none."""
        return next((subset for subset in self.series if subset not in (TRAIN, INTERVAL)), None)

    @property
    def last(self) -> Measurement:
        """The one with the most updates."""
        return max((rows[-1] for rows in self.series.values()), key=lambda row: row.updates)

    def best(self) -> Measurement | None:
        """The validation at which the loss was least, the first of equals."""
        rows = self.series[self.validation] if self.validation else []
        rows = [row for row in rows if "loss" in row.values]
        return min(rows, key=lambda row: row.values["loss"], default=None)

    def forget_after(self, updates: int) -> None:
        """Removes later measurements of an earlier start.

        Args:
            updates: where the new start begins.
        """
        for subset, rows in list(self.series.items()):
            self.series[subset] = [row for row in rows if row.updates <= updates]
            if not self.series[subset]:
                del self.series[subset]
        self.resumed = [each for each in self.resumed if each <= updates]
        self.facts.pop("done", None)

    def add(self, subset: str, measurement: Measurement) -> None:
        """Adds a line, which replaces others of the same or a later time.

        Args:
            subset: as in :attr:`series`.
            measurement: what it says.
        """
        rows = self.series.get(subset, [])
        if rows and rows[-1].updates >= measurement.updates:
            self.forget_after(measurement.updates - 1)
        self.series.setdefault(subset, []).append(measurement)


def read_training_log(path: str | Path) -> TrainingLog:
    """Reads a log.

    Args:
        path: the file, plain or `.gz`; its last line may be incomplete while the training runs.

    Raises:
        UserError: it cannot be read, or has no figures of a training.
    """
    log = TrainingLog(str(path))
    for line in _whole_lines(path):
        start = _START.search(line)
        if start:
            log.forget_after(int(start[1]))
            log.resumed.append(int(start[1]))
            continue
        found = _measurement(line)
        if found is not None:
            log.add(*found)
            continue
        for fact, pattern in _FACTS.items():
            match = pattern.search(line)
            if match:
                log.facts[fact] = match[1]
    if not log.series:
        raise UserError(
            f"{path}: no losses of a training: give what fairseq-train printed with --log-format "
            f"simple"
        )
    return log


def _whole_lines(path: str | Path) -> Iterator[str]:
    """The lines, without a last one that is being written, which may end inside a character."""
    for number, (_, line) in enumerate(line_starts(path), start=1):
        if not line.endswith(b"\n"):
            return
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            raise not_utf8(path, number, error) from error


def _measurement(line: str) -> tuple[str, Measurement] | None:
    """The subset and the figures of a line, if it has any."""
    match = _VALID.search(line)
    if match:
        return _counted(match[2], match[1], _pairs(match[3].split(" | "), " "))
    match = _EPOCH.search(line)
    if match:
        return _counted(TRAIN, match[1], _pairs(match[2].split(" | "), " "))
    match = _INTERVAL.search(line)
    if match:
        return _counted(INTERVAL, match[1], _pairs(match[2].split(", "), "="))
    return None


def _pairs(parts: list[str], separator: str) -> dict[str, str]:
    """Names and values, without what is no such pair."""
    found = {}
    for part in parts:
        name, there, value = part.strip().partition(separator)
        if there:
            found[name] = value
    return found


def _counted(subset: str, epoch: str, values: Mapping[str, str]) -> tuple[str, Measurement] | None:
    """A line that says how many updates there have been; others are damaged."""
    numbers = {}
    for name, value in values.items():
        try:
            numbers[name] = float(value)
        except ValueError:
            continue
    updates = numbers.pop(_UPDATES, math.nan)
    if not math.isfinite(updates) or not numbers:
        return None
    finite = {name: value for name, value in numbers.items() if math.isfinite(value)}
    others = tuple(name for name in numbers if name not in finite)
    return subset, Measurement(int(updates), int(epoch), finite, others)


Logs = Mapping[str, Sequence[TrainingLog]]
"""The logs of each system, by its name."""

_LABELS = {
    "loss": "training objective",
    "nll_loss": "negative log-likelihood, bits a token",
    "uas": "UAS of supervised heads, %",
    "accuracy": "accuracy of tokens, %",
    "bleu": "BLEU",
}
_NO_RESULTS = (
    *("wps", "ups", "wpb", "bsz", "lr", "gnorm", "clip", "loss_scale", "gb_free", "train_wall"),
    *("wall", "ppl", "supervised", "update", "n_correct", "total", "cuda_gb_allocated"),
    *("cuda_gb_reserved", "cuda_gb_free"),
)
_FEW_EPOCHS = 5
_MOST_POINTS = 300


def quantities(logs: Logs) -> dict[str, str]:
    """Names of what is worth a curve, as fairseq and as people call it; the losses first.

    Speed, sizes of batches and the like are not among them, nor the perplexity, which is 2 to the
    power of the negative log-likelihood.

    Args:
        logs: of all systems.
    """
    found: dict[str, str] = {}
    for log in (log for of_system in logs.values() for log in of_system):
        for name in (name for rows in log.series.values() for row in rows for name in row.values):
            if name not in _NO_RESULTS and not name.startswith("best_"):
                found.setdefault(name, _label(name))
    first = [name for name in ("loss", "nll_loss") if name in found]
    return {name: found[name] for name in [*first, *(n for n in found if n not in first)]}


def _label(name: str) -> str:
    if name in _LABELS:
        return _LABELS[name]
    percent = ", %" if name.endswith("accuracy") else ""
    return name.replace("_", " ") + percent


def training_curve(log: TrainingLog, quantity: str) -> list[tuple[float, float]]:
    """Averages over epochs, or over shorter intervals where there are few epochs, thinned out."""
    rows = log.series.get(TRAIN, [])
    if len(rows) < _FEW_EPOCHS:
        rows = log.series.get(INTERVAL, []) or rows
    return _curve(rows, quantity)


def validation_curve(log: TrainingLog, quantity: str) -> list[tuple[float, float]]:
    """All measurements on the first validation set, thinned out."""
    return _curve(log.series[log.validation] if log.validation else [], quantity)


def _curve(rows: Sequence[Measurement], quantity: str) -> list[tuple[float, float]]:
    points = [(float(r.updates), r.values[quantity]) for r in rows if quantity in r.values]
    step = -(-len(points) // _MOST_POINTS)
    return points if step < 2 else [*points[:-1:step], points[-1]]


@dataclass(frozen=True)
class TrainingFigures:
    """The properties of a training; None = the log does not say it.

    Attributes:
        file: the log.
        model: its class.
        parameters: how many it has.
        epochs: so far, and `updates` likewise.
        finished: whether fairseq says that it is done.
        seconds: that it has trained for.
        best: the best validation.
        not_finite: the quantities of which some values are infinite or no numbers.
    """

    file: str
    model: str | None
    architecture: str | None
    criterion: str | None
    parameters: int | None
    epochs: int
    updates: int
    finished: bool
    seconds: float | None
    best: Measurement | None
    not_finite: tuple[str, ...]


def training_figures(log: TrainingLog) -> TrainingFigures:
    """The properties of a training."""
    facts, parameters = log.facts, log.facts.get("parameters")
    rows = [row for series in log.series.values() for row in series]
    return TrainingFigures(
        log.name,
        facts.get("model"),
        facts.get("architecture"),
        facts.get("criterion"),
        None if parameters is None else int(parameters.replace(",", "")),
        log.last.epoch,
        log.last.updates,
        "done" in facts,
        _seconds(log),
        log.best(),
        tuple(sorted({name for row in rows for name in row.not_finite})),
    )


def _seconds(log: TrainingLog) -> float | None:
    """The time that fairseq says it has trained for, all starts together.

    Its clock begins anew when a training resumes; what a killed start did after the checkpoint that
    was resumed from does not count.
    """
    found = [*log.series.get(TRAIN, []), *log.series.get(INTERVAL, [])]
    rows = sorted((row for row in found if "wall" in row.values), key=_order)
    if not rows:
        return None
    ends = [row for row, later in zip(rows, rows[1:]) if _is_of_another_start(log, row, later)]
    return sum(row.values["wall"] for row in [*ends, rows[-1]])


def _is_of_another_start(log: TrainingLog, row: Measurement, later: Measurement) -> bool:
    """Whether a training was resumed between two lines: the log says so, or the clock fell."""
    said = any(row.updates <= updates < later.updates for updates in log.resumed)
    return said or later.values["wall"] < row.values["wall"]


def _order(row: Measurement) -> tuple[int, float]:
    """The order of lines; of two with the same updates, at the end of an epoch, by the clock."""
    return row.updates, row.values.get("wall", 0.0)
