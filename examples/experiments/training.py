"""One run as a job: train or resume, evaluate, write the record, remove the checkpoints."""

from __future__ import annotations

import fcntl
import gzip
import json
import platform
import re
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

import syntax_nmt
from experiments.corpus import DONE
from experiments.programs import fill, run_program
from syntax_nmt.data.text_files import NEWLINE_ONLY, read_lines, write_bytes_atomically
from syntax_nmt.errors import one_line_errors
from syntax_nmt.evaluation.report_page.training_log import INTERVAL, TRAIN, read_training_log
from syntax_nmt.evaluation.report_page.training_summary import training_figures
from syntax_nmt.evaluation.translation.generate_output import parse_generate_output

_VERSIONS = ("torch", "fairseq-fixed", "numpy", "sacrebleu", "sentencepiece", "stanza")
_FIGURES = ("| train |", "| train_inner |", "| valid |", "'valid' subset |")
_FACTS = ("| model: ", "| criterion: ", "num. shared model params", "done training")
_VALID_NLL = re.compile(r'"valid_nll_loss": "?([\d.]+)')


class RunJob:
    """A run on this machine.

    Args:
        plan: of :class:`experiments.runs.Run`.
        folder: the run's own, for checkpoints and logs.
        data: of :mod:`experiments.corpus`, prepared.
        device: cpu or cuda.
    """

    def __init__(self, plan: Mapping[str, Any], folder: Path, data: Path, device: str) -> None:
        self.plan, self.folder = plan, folder
        self.prepared = json.loads((data / DONE).read_text(encoding="utf-8"))
        self.log = folder / "train.log"
        self.checkpoints = folder / "checkpoints"
        self.device = ["--cpu"] if device == "cpu" else []
        self.databin = str(data / "prepared" / "data-bin")
        self.user_dir = ["--user-dir", str(Path(syntax_nmt.__file__).parent)]
        self.places = {
            "data": self.databin,
            "prepared": str(data / "prepared"),
            "corpus": str(data / "corpus"),
            "work": str(folder),
        }

    def train(self, keep_open: Sequence[int]) -> Path:
        """Trains, from the last checkpoint if there is one, and gives the model to evaluate.

        Args:
            keep_open: what the training holds on to.
        """
        options = [self.databin, *self.user_dir, *fill(self.plan["options"], self.places)]
        options += ["--seed", str(self.plan["seed"]), "--save-dir", str(self.checkpoints)]
        options += ["--log-format", "simple", *self.device]
        run_program("fairseq_cli.train", options, self.log, keep_open=keep_open)
        average = self.plan["average"]
        if not average:
            return self.checkpoints / "checkpoint_best.pt"
        model = self.folder / "averaged.pt"
        options = ["average", str(self.checkpoints), "--last", str(average), "--output", str(model)]
        run_program("syntax_nmt.cli", options, self.folder / "evaluate.log")
        return model

    def evaluate(self, model: Path) -> tuple[dict[str, Any], list[tuple[str, ...]]]:
        """The figures of a model, and its translations of each test set.

        Args:
            model: a checkpoint.
        """
        log, output = self.folder / "evaluate.log", self.folder / "output"
        common = [self.databin, *self.user_dir, "--path", str(model), *self.device]
        common += ["--max-tokens", "4000", "--required-batch-size-multiple", "1"]
        common += ["--task", "syntax_translation"]
        validate = [*common, "--valid-subset", "valid", "--log-format", "json"]
        run_program("fairseq_cli.validate", validate, log, output)
        (nll,) = _VALID_NLL.findall(output.read_text(encoding="utf-8"))
        generate = [*common, *fill(self.plan["generate"], self.places)]
        start, outputs = time.monotonic(), []
        for i, name in enumerate(self.prepared["tests"]):
            options = [*generate, "--gen-subset", f"test{i or ''}"]
            run_program("fairseq_cli.generate", options, log, output)
            lines = list(read_lines(output, NEWLINE_ONLY))
            outputs.append(parse_generate_output(lines, name).hypotheses)
        seconds = round(time.monotonic() - start, 1)
        places = {**self.places, "model": str(model), "device": "".join(self.device)}
        further = {}
        for name, figure in self.plan["figures"].items():
            _, *command = fill(figure["command"], places)
            run_program("syntax_nmt.cli", command, log, output)
            further[name] = _value_at(json.loads(output.read_text("utf-8")), figure["value"])
        figures = {"validation_nll": float(nll), "translation_seconds": seconds, "figures": further}
        return figures, outputs

    def training_facts(self) -> dict[str, Any]:
        """What the log says of the training."""
        log = read_training_log(self.log)
        figures = training_figures(log)
        speeds = [row.values["wps"] for row in log.series.get(INTERVAL, []) if "wps" in row.values]
        losses = [row.values["nll_loss"] for row in log.series.get(TRAIN, [])]
        return {
            "parameters": figures["parameters"],
            "updates": figures["updates"],
            "epochs": figures["epochs"],
            "seconds": figures["seconds"],
            "tokens_per_second": statistics.median(speeds) if speeds else None,
            "training_nll": losses[-1] if losses else None,
        }

    def kept_log(self) -> bytes:
        """The lines of the log that figures and curves are made of, without this machine's paths."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        kept = [line for line in lines if any(mark in line for mark in (*_FIGURES, *_FACTS))]
        return "".join(f"{line}\n" for line in kept).encode()


def write_record(record: Path, content: Mapping[str, Any], job: RunJob, outputs: list) -> None:
    """Writes translations, log and, when they are there, the record.

    Args:
        record: the file; the others lie beside it.
        content: of the record.
        job: that was done.
        outputs: translations of each test set.
    """
    texts = {
        name: "".join(f"{line}\n" for line in output).encode()
        for name, output in zip(job.prepared["tests"], outputs)
    }
    for name, text in {**texts, "log": job.kept_log()}.items():
        packed = gzip.compress(text, mtime=0)  # equal texts, equal files
        write_bytes_atomically(record.with_suffix(f".{name}.gz"), packed)
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    write_bytes_atomically(record, text.encode())


def machine(device: str) -> dict[str, Any]:
    """What a run's time depends on.

    Args:
        device: cpu or cuda.
    """
    return {
        "device": "CPU" if device == "cpu" else torch.cuda.get_device_name(),
        "cpu": _cpu_name(),
        "threads": torch.get_num_threads(),
        "versions": {
            "python": platform.python_version(),
            "syntax_nmt": version("syntax-nmt"),
            **{name: version(name) for name in _VERSIONS},
        },
    }


def _cpu_name() -> str:
    try:
        names = re.findall(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def _value_at(content: Any, path: str) -> Any:
    """A value by keys and positions with dots between: `alignments.0.aer`."""
    steps = [int(step) if step.isdigit() else step for step in path.split(".")]
    return reduce(lambda inside, step: inside[step], steps, content)


@contextmanager
def sole_owner(folder: Path) -> Iterator[int]:
    """Waits until no other process works on a run, its orphans included.

    Args:
        folder: of the run.

    Yields:
        The descriptor of the lock, for child processes to hold on to.
    """
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def main() -> None:
    """`python -m experiments.training FOLDER DATA RECORD DEVICE COMMIT`."""
    folder, data, record = map(Path, sys.argv[1:4])
    device, commit = sys.argv[4:]
    with one_line_errors("experiments"), sole_owner(folder) as lock:
        if record.is_file():  # made by the one that was waited for
            return
        planned = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        job = RunJob(planned["plan"], folder, data, device)
        figures, outputs = job.evaluate(job.train([lock]))
        content = {
            **planned,
            "commit": commit,
            "data_checksum": job.prepared["checksum"],
            **machine(device),
            **job.training_facts(),
            **figures,
        }
        write_record(record, content, job, outputs)
        for left in (job.checkpoints, folder / "averaged.pt"):
            shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(
                missing_ok=True
            )


if __name__ == "__main__":
    main()
