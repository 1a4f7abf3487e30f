"""Every architecture that this package registers, small: a new one is covered on the day it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pytest
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.tasks import FairseqTask
from small_models import (
    ARCHITECTURES,
    build,
    enlarge,
    phrases_of_tokens,
    write_dictionaries,
)
from torch import nn

from syntax_nmt.models.syntax_rnn import SyntaxRNNModel

# Models that need a side file; the sentences of these tests bring their phrases along.
PARSED = {
    "phrase_transformer+parsed": (),
    "phrase_transformer+parsed+mean": ("--phrase-summary=mean", "--encoder-normalize-before"),
}


@dataclass
class Small:
    """A small model of one architecture in evaluation mode, without dropout."""

    arch: str
    model: nn.Module
    task: FairseqTask


@pytest.fixture(scope="session")
def dictionaries(tmp_path_factory):
    folder = write_dictionaries(tmp_path_factory.mktemp("dictionaries"))
    (folder / "dict.chunks.txt").write_text("NP\nVP\nO\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def build_small(dictionaries):
    @cache
    def built(arch: str) -> Small:
        if arch not in PARSED:
            model, task, _ = build(dictionaries, arch)
            if ARCH_MODEL_REGISTRY[arch] is SyntaxRNNModel:
                enlarge(model)
            return Small(arch, model, task)
        options = ("--phrase-segmentation=parsed", *PARSED[arch])
        model, task, _ = build(dictionaries, "phrase_transformer", *options)
        encode = model.encoder.forward
        model.encoder.forward = lambda src_tokens, **inputs: encode(
            src_tokens, **{**inputs, "phrase_lengths": phrases_of_tokens(src_tokens, task)}
        )
        return Small(arch, model, task)

    return built


@pytest.fixture(params=[*ARCHITECTURES, *PARSED])
def small(request, build_small) -> Small:
    yield_model = build_small(request.param)
    yield_model.model.zero_grad()
    yield yield_model
    yield_model.model.eval()
