"""One run as a job: train or resume, evaluate, write the record, remove the checkpoints."""

import gzip
import json
import math
import platform
import re
import shutil
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

import syntax_nmt.plugin  # lets torch's safe loader read fairseq's checkpoints
from experiments.corpus import DONE
from experiments.programs import fill, run_program, write_json
from experiments.records import Records
from syntax_nmt.checkpoints.check import check_checkpoint, is_whole
from syntax_nmt.data.folder_lock import folder_lock
from syntax_nmt.data.text_files import read_lines, write_bytes_atomically
from syntax_nmt.errors import UserError, one_line_errors
from syntax_nmt.reporting.training_log import INTERVAL, TRAIN, read_training_log, training_figures
from syntax_nmt.scoring.translations.output_formats import parse_generate_output

_PACKAGES = ("syntax-nmt", "torch", "fairseq-fixed", "numpy", "sacrebleu", "sentencepiece")
_KEPT = (
    *(" | train | ", " | train_inner | ", " | valid on ", "' subset | ", " | done training in "),
    *(" | model: ", " | criterion: ", " | num. shared model params: "),
)
_VALID_NLL = re.compile(r'"valid_nll_loss": "?([\d.]+|nan|inf)', re.IGNORECASE)
_GAVE_UP = "FloatingPointError: "  # how fairseq ends where gradients are no numbers
_FACTS = ("parameters", "updates", "epochs", "seconds", "tokens_per_second", "training_nll")
_COMMITS = "commits.txt"  # of the code that each start of a training ran, in its folder

Plan = Mapping[str, Any]
"""Of :class:`experiments.runs.Run`."""


class RunJob:
    """A run on this machine.

    Args:
        folder: the run's own, for checkpoints and logs.
        data: folder that :mod:`experiments.corpus` has prepared.
        device: cpu or cuda.
        lock: a descriptor that programs hold on to.
    """

    def __init__(self, plan: Plan, folder: Path, data: Path, device: str, lock: int) -> None:
        self.run_program = partial(run_program, keep_open=[lock])
        self.plan, self.folder, self.checkpoints = plan, folder, folder / "checkpoints"
        self.train_log, self.log, self.output = (
            folder / name for name in ("train.log", "evaluate.log", "output")
        )
        self.prepared = json.loads((data / DONE).read_text(encoding="utf-8"))
        declared = json.loads((data / "data.json").read_text(encoding="utf-8"))["data"]
        # fairseq's own task tells the tokenizer no language that it finds out by itself.
        self.languages = [f"--{side}-lang={declared[side]}" for side in ("source", "target")]
        self.places = {
            "data": str(data / "prepared" / "data-bin"),
            "prepared": str(data / "prepared"),
            "corpus": str(data / "corpus"),
            "work": str(folder),
            "device": "--cpu" if device == "cpu" else "",
        }
        user_dir = Path(syntax_nmt.__file__).parent
        self.common = fill(f"{{data}} --user-dir '{user_dir}' {{device}}", self.places)

    def train(self) -> Path | None:
        """Trains, from the last checkpoint if there is one, and gives the model to evaluate.

        Returns:
            None of a training that diverged.
        """
        options = [*self.common, *fill(self.plan["options"], self.places)]
        options += ["--seed", str(self.plan["seed"]), "--save-dir", str(self.checkpoints)]
        options += ["--log-format", "simple"]
        if not self._is_trained():
            earlier = len(self._log_lines())
            try:
                self.run_program("fairseq_cli.train", options, self.train_log)
            except UserError:
                if any(line.startswith(_GAVE_UP) for line in self._log_lines()[earlier:]):
                    return None
                raise
        last = self.plan["average"]
        if not last:
            return self.checkpoints / "checkpoint_best.pt"
        model = self.folder / "averaged.pt"
        options = ["average", str(self.checkpoints), "--last", str(last), "--output", str(model)]
        self.run_program("syntax_nmt.cli", options, self.log)
        return model

    def commits(self, commit: str) -> str:
        """What code the training ran so far, this start included: a commit, or several."""
        file = self.folder / _COMMITS
        resumed = (self.checkpoints / "checkpoint_last.pt").is_file() and file.is_file()
        earlier = file.read_text(encoding="utf-8").split() if resumed else []
        found = list(dict.fromkeys([*earlier, commit]))
        write_bytes_atomically(file, "\n".join(found).encode())
        return ", ".join(found)

    def _is_trained(self) -> bool:
        """Whether the last checkpoint is the final one, from which fairseq makes an update more."""
        last = self.checkpoints / "checkpoint_last.pt"
        wanted = re.findall(r"--max-update (\d+)", self.plan["options"])
        if not wanted or not last.is_file() or not is_whole(last):
            return False
        return check_checkpoint(last)["optimizer_history"][-1]["num_updates"] >= int(wanted[-1])

    def validation_nll(self, model: Path) -> float | None:
        """Bits a token on the validation set; None of a training that diverged."""
        options = [*self._evaluation(model), "--valid-subset", "valid", "--log-format", "json"]
        self.run_program("fairseq_cli.validate", options, self.log, self.output)
        (nll,) = _VALID_NLL.findall(self.output.read_text(encoding="utf-8"))
        return float(nll) if math.isfinite(float(nll)) else None

    def translations(self, model: Path) -> Iterator[tuple[str, Sequence[str]]]:
        """Each test set by name, and its translations.

        What fairseq-generate printed stays in `{work}/generated-NAME`, for figures.
        """
        options = [*self._evaluation(model), *self.languages]
        options += fill(self.plan["generate"], self.places)
        for place, name in enumerate(self.prepared["tests"]):
            subset = ["--gen-subset", f"test{place or ''}"]
            output = self.folder / f"generated-{name}"
            self.run_program("fairseq_cli.generate", [*options, *subset], self.log, output)
            lines = list(read_lines(output))
            yield name, parse_generate_output(lines, name).hypotheses

    def further_figures(self, model: Path) -> dict[str, Any]:
        """What the commands of the YAML say."""
        found = {}
        for name, figure in self.plan["figures"].items():
            _, *command = fill(figure["command"], {**self.places, "model": str(model)})
            self.run_program("syntax_nmt.cli", command, self.log, self.output)
            content = json.loads(self.output.read_text(encoding="utf-8"))
            found[name] = value_at(content, figure["value"], f"figures.{name}.value")
        return found

    def training_facts(self, model: Path | None) -> dict[str, Any]:
        """What the log says of the training, such as its last finite loss; None of each fact if it
        diverged before its first line of losses."""
        try:
            log = read_training_log(self.train_log)
        except UserError:
            if model is not None:
                raise
            return dict.fromkeys(_FACTS)
        figures = training_figures(log)
        speeds = [row.values["wps"] for row in log.series.get(INTERVAL, []) if "wps" in row.values]
        epochs = [row.values for row in log.series.get(TRAIN, [])]
        losses = [values["nll_loss"] for values in epochs if "nll_loss" in values]
        values = (
            *(figures.parameters, figures.updates, figures.epochs, figures.seconds),
            *(statistics.median(speeds) if speeds else None, losses[-1] if losses else None),
        )
        return dict(zip(_FACTS, values))

    def kept_log(self) -> list[str]:
        """The lines of the log that figures and curves are made of; none has a path."""
        lines = read_lines(self.train_log)
        return [line for line in lines if any(mark in line for mark in _KEPT)]

    def _log_lines(self) -> list[str]:
        return list(read_lines(self.train_log)) if self.train_log.is_file() else []

    def _evaluation(self, model: Path) -> list[str]:
        options = "--task syntax_translation --max-tokens 4000 --required-batch-size-multiple 1"
        return [*self.common, "--path", str(model), *options.split()]


def machine(device: str) -> dict[str, Any]:
    """What time and rounding depend on."""
    names = re.findall(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return {
        "device": "CPU" if device == "cpu" else torch.cuda.get_device_name(),
        "cpu": names[0] if names else platform.machine(),
        "threads": torch.get_num_threads(),
        "versions": {"python": platform.python_version(), **{n: version(n) for n in _PACKAGES}},
    }


def value_at(content: Any, path: str, where: str) -> Any:
    """A value by keys and positions with dots between: `alignments.0.aer`.

    Args:
        where: the key of the YAML that has the path, for the message.

    Raises:
        UserError: there is no such value.
    """
    for step in path.split("."):
        try:
            content = content[int(step) if step.isdigit() else step]
        except (KeyError, IndexError, TypeError):
            there = list(content) if isinstance(content, Mapping) else content
            raise UserError(f"{where}: {path}: no {step} in {str(there)[:80]}") from None
    return content


def do_run(root: Path, key: str, record: Path, device: str, commit: str) -> None:
    """Trains, evaluates, and writes translations, log and last the record.

    The record of a training that diverged has neither validation nll nor translations.
    """
    folder = root / "runs" / key
    planned = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    with folder_lock(folder) as lock:
        if Records(record.parent).find(key) is not None:  # made by the one that was waited for
            return
        plan = planned["plan"]
        job = RunJob(plan, folder, root / "data" / plan["data"], device, lock)
        commits = job.commits(commit)
        model = job.train()
        content = {**planned, "commit": commits, "data_checksum": job.prepared["checksum"]}
        content |= {**machine(device), **job.training_facts(model)}
        nll = None if model is None else job.validation_nll(model)
        content |= {"validation_nll": nll, "figures": {}}
        texts: list[tuple[str, Sequence[str]]] = [("log", job.kept_log())]
        if model is not None and nll is not None:
            texts += job.translations(model)
            content["figures"] = job.further_figures(model)
        for name, lines in texts:
            text = "".join(f"{line}\n" for line in lines).encode()
            # Without the time: equal texts make equal files.
            write_bytes_atomically(record.with_suffix(f".{name}.gz"), gzip.compress(text, mtime=0))
        write_json(record, content)
        _report(planned["name"], content)
        shutil.rmtree(job.checkpoints, ignore_errors=model is None)
        (folder / "averaged.pt").unlink(missing_ok=True)


def _report(name: str, record: Mapping[str, Any]) -> None:
    """Prints a line of what came out."""
    nll, updates, seconds = (record[key] for key in ("validation_nll", "updates", "seconds"))
    outcome = "diverged" if nll is None else f"validation nll {nll}"
    took = "" if seconds is None else f"{updates:,} updates, {seconds / 60:.1f} minutes, "
    print(f"{name}: {took}{outcome}", flush=True)


def main() -> None:
    """`python -m experiments.training FOLDER KEY RECORD DEVICE COMMIT`."""
    root, key, record, device, commit = sys.argv[1:]
    with one_line_errors("experiments"):
        do_run(Path(root), key, Path(record), device, commit)


if __name__ == "__main__":
    main()
