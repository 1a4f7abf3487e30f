"""fairseq-generate and fairseq-interactive, run inside the tests' own process.

Importing torch and fairseq takes longer than a translation of the small corpus; so dozens of calls
share one process. What they print is parsed.
"""

import contextlib
import io
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from commands import USER_DIR, in_a_program
from fairseq import options, tasks
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq_cli import generate, interactive
from methods import COMMON, METHODS, STOCK
from small_models import enlarge, save_checkpoint

SYSTEMS = {**{name: method.training for name, method in METHODS.items()}, "transformer": STOCK}

# Larger numbers in these would let rounding, which differs between processors, grow from step to
# step: their layers add up.
LARGER = {"relation_rnn": 1.5, "bi_scale_rnn": 2.0, "syntax_hybrid": 1.5}


def each_system(quick):
    """A fixture: the untrained model of each system; tests of those that are not quick are slow."""
    marked = [pytest.param(m, marks=[] if m in quick else pytest.mark.slow) for m in SYSTEMS]

    @pytest.fixture(scope="module", params=marked)
    def system(request, make_system) -> System:
        return make_system(request.param)

    return system


@dataclass(frozen=True)
class Printed:
    """What a program printed: the fields of its lines S-…, H-…, … by sentence number, in order."""

    text: str

    def fields(self, kind: str) -> dict[int, list[list[str]]]:
        """Fields of all lines of a kind."""
        found: dict[int, list[list[str]]] = {}
        for number, rest in re.findall(rf"^{kind}-(\d+)\t(.*)$", self.text, flags=re.MULTILINE):
            found.setdefault(int(number), []).append(rest.split("\t"))
        return found

    def one(self, kind: str) -> dict[int, str]:
        """The last field of lines of a kind that comes once a sentence."""
        return {number: lines[0][-1] for number, lines in self.fields(kind).items()}

    @property
    def best(self) -> dict[int, str]:
        """The best translation of each sentence."""
        return self.one("H")

    @property
    def nbest(self) -> dict[int, list[str]]:
        """All translations of each sentence."""
        return {n: [line[1] for line in lines] for n, lines in self.fields("H").items()}

    @property
    def scores(self) -> dict[int, list[float]]:
        """Scores of all translations of each sentence."""
        return {n: [float(line[0]) for line in lines] for n, lines in self.fields("H").items()}

    @property
    def tokens(self) -> dict[int, list[list[float]]]:
        """The score of each token, EOS included, of all translations of each sentence."""
        found = self.fields("P")
        return {n: [list(map(float, line[0].split())) for line in found[n]] for n in found}

    @property
    def order(self) -> list[int]:
        """Sentence numbers in the order of their translations."""
        return [int(number) for number in re.findall(r"^H-(\d+)\t", self.text, re.MULTILINE)]


@dataclass(frozen=True)
class System:
    """A method, its checkpoint and a data folder."""

    method: str
    data: Path
    path: Path | str

    @property
    def inputs(self) -> tuple[str, ...]:
        """Options that the method cannot do without."""
        return METHODS[self.method].inputs if self.method in METHODS else ()

    def generate(self, *arguments: str | Path) -> Printed:
        """What fairseq-generate prints."""
        parser = options.get_generation_parser(default_task="syntax_translation")
        with in_a_program("generate"):
            parsed = _parse(parser, self.data, "--path", self.path, *self.inputs, *arguments)
            return _printed(generate.main, parsed)

    def type(self, *arguments: str | Path) -> Printed:
        """What fairseq-interactive prints; the method's inputs must be given."""
        parser = options.get_interactive_generation_parser(default_task="syntax_translation")
        with in_a_program("interactive"):
            parsed = _parse(parser, self.data, "--path", self.path, *arguments)
            return _printed(interactive.main, parsed)


def untrained(data: Path, method: str, folder: Path, seed: int = 7) -> System:
    """A method as it is initialised, with larger numbers, so that translations differ.

    With those of EOS larger still sentences end, at different lengths. BOS is not printed, and here
    not chosen.
    """
    command = ("--task", "syntax_translation", *SYSTEMS[method], *COMMON)
    cfg = convert_namespace_to_omegaconf(_parse(options.get_training_parser(), data, *command))
    torch.manual_seed(seed)
    model = tasks.setup_task(cfg.task).build_model(cfg.model)
    enlarge(model, LARGER.get(method, 4.0))
    with torch.no_grad():
        symbols, embeddings = model.decoder.dictionary, model.decoder.embed_tokens.weight
        embeddings[symbols.eos()] *= 3
        embeddings[symbols.bos()] = 0
    folder.mkdir(parents=True, exist_ok=True)
    return System(method, data, save_checkpoint(folder / f"{method}.{seed}.pt", model, cfg))


def _parse(parser: ArgumentParser, data: Path, *arguments: str | Path) -> Namespace:
    quiet = ("--no-progress-bar", "--log-format", "none")
    # A worker process of the data would be waited for, 5 s each time, when it is collected.
    plugin = ("--user-dir", USER_DIR, "--task", "syntax_translation", "--cpu", "--num-workers", "0")
    command = [str(part) for part in (data, *plugin, *quiet, *arguments)]
    return options.parse_args_and_arch(parser, command)


def _printed(main: Callable[[Namespace], object], arguments: Namespace) -> Printed:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        main(arguments)
    return Printed(output.getvalue())
