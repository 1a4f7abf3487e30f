"""Every architecture that this package registers, small: a new one is covered on the day it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pytest
from fairseq.tasks import FairseqTask
from small_models import ARCHITECTURES, build, write_dictionaries
from torch import nn


@dataclass
class Small:
    """A small model of one architecture in evaluation mode, without dropout."""

    arch: str
    model: nn.Module
    task: FairseqTask


@pytest.fixture(scope="session")
def dictionaries(tmp_path_factory):
    return write_dictionaries(tmp_path_factory.mktemp("dictionaries"))


@pytest.fixture(scope="session")
def build_small(dictionaries):
    @cache
    def built(arch: str) -> Small:
        model, task, _ = build(dictionaries, arch)
        return Small(arch, model, task)

    return built


@pytest.fixture(params=ARCHITECTURES)
def small(request, build_small) -> Small:
    yield_model = build_small(request.param)
    yield_model.model.zero_grad()
    yield yield_model
    yield_model.model.eval()
