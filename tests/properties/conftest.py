"""Every architecture that this package registers, small: a new one is covered on the day it is."""

from dataclasses import dataclass
from functools import cache

import pytest
from fairseq.tasks import FairseqTask
from methods import ALL_TRIALS, ARCHITECTURES, MIXED, OF_WORDS
from small_models import annotated_batch, build, enlarge, families, fill_zeros, write_dictionaries
from torch import nn

MORE = {**ALL_TRIALS, **MIXED, **OF_WORDS}


@dataclass
class Small:
    """A small model of one architecture in evaluation mode, without dropout."""

    arch: str
    model: nn.Module
    task: FairseqTask

    def batch(self, sources, targets, *layout, seed=0, searches=False):
        """A batch with the annotation that the model declares, handed over by the task."""
        return annotated_batch(
            self.model, self.task, sources, targets, *layout, seed=seed, searches=searches
        )

    @property
    def annotation(self):
        """The kinds that the model declares."""
        return self.model.reads_annotation


@pytest.fixture(scope="session")
def dictionaries(tmp_path_factory):
    """Data folders by whether their words have pieces."""
    folders = {}
    for pieces in (False, True):
        folders[pieces] = write_dictionaries(tmp_path_factory.mktemp("dictionaries"), pieces)
    return folders


@pytest.fixture(scope="session")
def build_small(dictionaries):
    @cache
    def built(name: str, *more: str) -> Small:
        arch, *options = MORE.get(name, (name,))
        model, task, _ = build(dictionaries[name.endswith("+pieces")], arch, *options, *more)
        halves = set(families(arch, options).values())
        if "rnn" in halves:
            enlarge(model, 4.0 if halves == {"rnn"} else 2.0)
        return Small(name, fill_zeros(model), task)

    return built


@pytest.fixture(params=[*ARCHITECTURES, *MORE])
def small(request, build_small) -> Small:
    yield_model = build_small(request.param)
    yield_model.model.zero_grad()
    yield yield_model
    yield_model.model.eval()
