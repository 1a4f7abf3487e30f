"""A small built-in corpus, prepared once, and a model trained on it for a few updates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import fairseq, succeed, syntax_nmt
from training import TEST_SENTENCES, TRAINING


@dataclass(frozen=True)
class Prepared:
    """What `syntax-nmt demo` and `syntax-nmt prepare` wrote."""

    corpus: Path
    folder: Path

    @property
    def data(self) -> Path:
        return self.folder / "data-bin"


@pytest.fixture(scope="session")
def prepared(tmp_path_factory) -> Prepared:
    folder = tmp_path_factory.mktemp("end_to_end")
    corpus = folder / "corpus"
    sizes = ("--train", "300", "--valid", "20", "--test", str(TEST_SENTENCES))
    syntax_nmt("demo", corpus, *sizes)
    prefixes = [(f"--{name}pref", corpus / name) for name in ("train", "valid", "test")]
    syntax_nmt(
        *("prepare", "--source-lang", "src", "--target-lang", "tgt"),
        *("--source-tokenizer", "none", "--target-tokenizer", "none"),
        *[part for prefix in prefixes for part in prefix],
        *("--vocab-size", "400", "--destdir", folder / "prepared"),
    )
    return Prepared(corpus, folder / "prepared")


@pytest.fixture(scope="session")
def checkpoint(prepared, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    succeed(*fairseq("train", prepared.data, *TRAINING, "--save-dir", folder))
    return folder / "checkpoint_last.pt"
