"""A small built-in corpus, prepared once, and a model trained on it for a few updates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import fairseq, succeed, syntax_nmt

TEST_SENTENCES = 20  # not a multiple of fairseq's required batch size multiple, 8


@dataclass(frozen=True)
class Prepared:
    """What `syntax-nmt demo` and `syntax-nmt prepare` wrote."""

    corpus: Path
    folder: Path

    @property
    def data(self) -> Path:
        return self.folder / "data-bin"


TRAINING = (
    *("--arch", "dependency_transformer_tiny", "--load-dependencies"),
    *("--criterion", "dependency_cross_entropy", "--label-smoothing", "0.1"),
    *("--share-all-embeddings", "--optimizer", "adam", "--lr", "3e-3"),
    *("--max-tokens", "2000", "--max-update", "12", "--no-epoch-checkpoints"),
    *("--log-format", "json", "--log-interval", "4"),
)


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
