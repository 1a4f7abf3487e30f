"""Untrained models of each method, and what they read, shared by the tests of a file."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import pytest
import torch
from parsing_stand_in import parsing
from prepared_corpus import Prepared
from programs import System, untrained
from small_models import build, save_checkpoint


@pytest.fixture(scope="module")
def corpus(prepared) -> Prepared:
    """What models and typed text are of; a file of tests may have another."""
    return prepared


@pytest.fixture(scope="module")
def make_system(corpus, tmp_path_factory) -> Callable[..., System]:
    """Gives a method's untrained model by its seed."""
    folder = tmp_path_factory.mktemp("untrained")
    return lru_cache(lambda method, seed=7: untrained(corpus.data, method, folder, seed))


@pytest.fixture(scope="module")
def inputs(system, tmp_path_factory) -> Iterator[tuple[str, ...]]:
    """What a method cannot translate typed text without."""
    if not system.inputs:
        yield ()
        return
    with parsing(tmp_path_factory.mktemp("parser")) as flags:
        yield flags


@pytest.fixture(scope="module")
def text(corpus) -> tuple[str, ...]:
    """Options by which raw text is cut into the pieces of the vocabulary."""
    return (
        *("--bpe", "sentencepiece"),
        *("--sentencepiece-model", str(corpus.folder / "sentencepiece.model")),
        *("--tokenizer", "syntax_words", "--source-tokenizer", "none"),
        *("--target-tokenizer", "none"),
    )


@pytest.fixture(scope="module")
def good(prepared, tmp_path_factory) -> Path:
    """A checkpoint without fault."""
    path = tmp_path_factory.mktemp("good") / "checkpoint.pt"
    model, _, cfg = build(prepared.data, "dependency_transformer", "--share-all-embeddings")
    return save_checkpoint(path, model, cfg)


@pytest.fixture(scope="module")
def state(good):
    return torch.load(good)
