"""Prepared folders of tests: a small built-in corpus, made once for all tests and for the processes
that run them, and the task over a folder."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import syntax_nmt
from filelock import FileLock

from syntax_nmt.data.annotation import COLUMNS
from syntax_nmt.task.syntax_translation import SyntaxTranslationConfig, SyntaxTranslationTask

TEST_SENTENCES = 20  # not a multiple of fairseq's required batch size multiple, 8


@dataclass(frozen=True)
class Prepared:
    """What `syntax-nmt demo` and `syntax-nmt prepare` wrote."""

    corpus: Path
    folder: Path

    @property
    def data(self) -> Path:
        return self.folder / "data-bin"


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory, request) -> Path:
    """A temporary folder that the processes of a parallel run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if hasattr(request.config, "workerinput") else own


@pytest.fixture(scope="session")
def prepared(shared_folder) -> Prepared:
    """The corpus and what `prepare` made of it; nothing may write there."""
    made = Prepared(shared_folder / "corpus", shared_folder / "prepared")
    with FileLock(f"{made.folder}.lock"):
        if not made.folder.is_dir():
            make(made)
    return made


def make(wanted: Prepared) -> None:
    """Draws the corpus and prepares it."""
    sizes = ("--train", "300", "--valid", "20", "--test", str(TEST_SENTENCES))
    syntax_nmt("demo", wanted.corpus, *sizes)
    prefixes = [(f"--{name}pref", wanted.corpus / name) for name in ("train", "valid", "test")]
    syntax_nmt(
        *("prepare", "--source-lang", "src", "--target-lang", "tgt"),
        *("--source-tokenizer", "none", "--target-tokenizer", "none"),
        *[part for prefix in prefixes for part in prefix],
        *("--vocab-size", "400", "--destdir", wanted.folder),
        *("--features", ",".join(column.name for column in COLUMNS)),
        *("--target-features", "upos,deprel"),
    )


# What fairseq's programs take from groups of options that are not there.
OF_PROGRAMS = {"train_subset": "train", "dataset_impl": None, "required_seq_len_multiple": 1}


def task_of(data: Path, source: str, target: str, **options) -> SyntaxTranslationTask:
    """The task over a data-bin folder, as a training sets it up.

    Args:
        options: of the task.
    """
    cfg = {"data": str(data), "source_lang": source, "target_lang": target}
    return SyntaxTranslationTask.setup_task(
        SyntaxTranslationConfig(**cfg, **{**OF_PROGRAMS, **options})
    )
