"""Every architecture that this package registers, small: a new one is covered on the day it is."""

import argparse
from dataclasses import dataclass
from functools import cache

import pytest
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY
from fairseq.tasks import FairseqTask
from methods import ALL_TRIALS, ARCHITECTURES, MIXED, OF_WORDS
from small_models import (
    WIDTH,
    annotated_batch,
    build,
    enlarge,
    families,
    fill_zeros,
    small_sizes,
    write_dictionaries,
)
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


def architectures():
    """All; dear are those whose small models have the options of another one, and are copies."""
    known = set()
    for arch in ARCHITECTURES:
        options = options_when_small(arch)
        yield pytest.param(arch, marks=[pytest.mark.dear] if options in known else [])
        known.add(options)


def options_when_small(arch):
    """The class of a small model and its options, from the command line and the preset."""
    model = ARCH_MODEL_REGISTRY[arch]
    given = parser_of(model).parse_args(small_sizes(arch, WIDTH))
    ARCH_CONFIG_REGISTRY[arch](given)
    return model, repr(sorted(vars(given).items()))


@cache
def parser_of(model):
    """As fairseq asks for the options of models: it leaves out what is not given."""
    parser = argparse.ArgumentParser(argument_default=argparse.SUPPRESS, allow_abbrev=False)
    model.add_args(parser)
    return parser


@pytest.fixture(params=[*architectures(), *MORE])
def small(request, build_small) -> Small:
    yield_model = build_small(request.param)
    yield_model.model.zero_grad()
    yield yield_model
    yield_model.model.eval()
