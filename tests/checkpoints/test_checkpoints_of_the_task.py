"""Where the task looks for checkpoints and texts: wherever fairseq itself finds them."""

from argparse import Namespace
from unittest.mock import Mock

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.file_io import PathManager
from prepared_corpus import task_of

from syntax_nmt.checkpoints import task_checkpoints
from syntax_nmt.checkpoints.task_checkpoints import check_models
from syntax_nmt.errors import UserError
from syntax_nmt.task import resuming
from syntax_nmt.task.options import SyntaxTranslationConfig
from syntax_nmt.task.syntax_translation import SyntaxTranslationTask

REMOTE = "store://models/stock.pt"  # of a handler that fairseq's path manager was given


@pytest.fixture
def remote(monkeypatch):
    for name in ("isfile", "exists"):
        local = getattr(PathManager, name)
        there = lambda path, local=local: path == REMOTE or local(path)  # noqa: E731
        monkeypatch.setattr(PathManager, name, there)


def of_task(tmp_path, **options):
    values = {"save_dir": str(tmp_path), "restore_file": "checkpoint_last.pt"}
    cfg = SyntaxTranslationConfig(source_lang="src", target_lang="tgt", **{**values, **options})
    return SyntaxTranslationTask(cfg, Dictionary(), Dictionary())


def test_remote_models(remote):
    vocabularies = Dictionary(), Dictionary()
    cfg = Namespace(path=REMOTE, checkpoint_suffix="", checkpoint_shard_count=1)
    assert check_models(cfg, vocabularies) == [REMOTE]
    cfg.path = REMOTE.replace("stock", "lost")
    with pytest.raises(UserError, match="no such checkpoint"):
        check_models(cfg, vocabularies)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("en", "de"), ""),
        (("en", "deu"), "are en-deu: give -s en -t de, unless these are other names of the same"),
        ((None, None), ""),
    ],
)
def test_languages_of_a_model(tmp_path, monkeypatch, caplog, given, said):
    check_languages(tmp_path, monkeypatch, *given)
    assert said in caplog.text
    assert bool(caplog.text) == bool(said)


def check_languages(tmp_path, monkeypatch, source, target):
    """A model of en-de, for such languages."""
    (tmp_path / "a.pt").touch()
    state = {"cfg": {"task": {"source_lang": "en", "target_lang": "de"}}}
    monkeypatch.setattr(task_checkpoints, "check_weights", lambda path, vocabularies: state)
    cfg = Namespace(path=str(tmp_path / "a.pt"), source_lang=source, target_lang=target)
    check_models(cfg, (Dictionary(), Dictionary()))


def test_a_model_of_the_other_direction(tmp_path, monkeypatch):
    said = r"a\.pt translates en-de, and the languages given are de-en: give -s en -t de, and data"
    with pytest.raises(UserError, match=said):
        check_languages(tmp_path, monkeypatch, "de", "en")


def test_no_training_goes_on_in_the_other_direction(tmp_path):
    last = tmp_path / "checkpoint_last.pt"
    torch.save({"cfg": {"task": {"source_lang": "tgt", "target_lang": "src"}}, "model": {}}, last)
    with pytest.raises(UserError, match=r"checkpoint_last\.pt translates tgt-src"):
        of_task(tmp_path).resuming.begin((Dictionary(), Dictionary()))
    tuned = of_task(tmp_path / "new", finetune_from_model=str(last))  # a reasonable beginning
    tuned.resuming.begin((Dictionary(), Dictionary()))


def test_another_spelling_of_the_last_checkpoint_resumes_as_its_name_does(tmp_path, monkeypatch):
    """The count of `--patience` goes on; it does not from a copy elsewhere."""
    own = tmp_path / "own"
    own.mkdir()
    patience = {"best": 1.5, "num_runs": 2}
    state = {"cfg": {}, "model": {}, "last_optimizer_state": None, "task_state": {}}
    state["task_state"]["patience"] = patience
    for path in (own / "checkpoint_last.pt", tmp_path / "checkpoint_last.pt"):
        torch.save(state, path)
    monkeypatch.chdir(tmp_path)
    given = ("checkpoint_last.pt", "./own/checkpoint_last.pt", str(own / "checkpoint_last.pt"))
    for restore in (*given, "./checkpoint_last.pt"):
        counted = Namespace()
        monkeypatch.setattr(resuming, "_deciding_function", Mock(return_value=counted))
        of_task("own", restore_file=restore).resuming.begin((Dictionary(), Dictionary()))
        assert vars(counted) == ({} if restore == "./checkpoint_last.pt" else patience), restore


def test_language_models(remote, tmp_path):
    """fairseq gives some of their options to `eval`, too."""
    options = {"model": {"_name": "transformer_lm", "character_filters": "print(1)"}}
    options["task"] = {"_name": "language_modeling"}
    state = {"model": {}, "args": None, "cfg": options}
    torch.save(state, tmp_path / "lm.pt")
    cfg = Namespace(path=REMOTE, checkpoint_shard_count=1, lm_path=str(tmp_path / "lm.pt"))
    with pytest.raises(UserError, match=r"lm\.pt: option character_filters .*could run code"):
        check_models(cfg, (Dictionary(), Dictionary()))
    options["model"]["character_filters"] = "[(1, 64)]"
    torch.save(state, tmp_path / "lm.pt")
    assert check_models(cfg, (Dictionary(), Dictionary())) == [REMOTE]


def test_remote_model_to_begin_with(remote, tmp_path):
    assert of_task(tmp_path, finetune_from_model=REMOTE).resuming.checkpoint() == REMOTE
    lost = of_task(tmp_path, finetune_from_model=REMOTE.replace("stock", "lost"))
    with pytest.raises(UserError, match="no such file"):
        lost.resuming.checkpoint()


def test_continued_once(tmp_path):
    """Only where there is no last checkpoint, and before a model to begin with."""
    once = str(tmp_path / "once.pt")
    task = of_task(tmp_path, continue_once=once, finetune_from_model="lost.pt")
    assert task.resuming.checkpoint() == once
    last = tmp_path / "checkpoint_last.pt"
    torch.save({}, last)
    assert task.resuming.checkpoint() == str(last)


@pytest.mark.parametrize(
    ("suffix", "written", "begin"),
    [
        ("", "a.pt", "a.pt"),
        ("-model_part-0", "a-model_part-0.pt", "a-model_part-0.pt"),
        ("", "a-shard0.pt", "a.pt"),
    ],
)
def test_restored_files_of_several_workers(tmp_path, suffix, written, begin):
    restored = str(tmp_path / "a.pt")
    task = of_task(tmp_path, restore_file=restored, checkpoint_suffix=suffix)
    with pytest.raises(UserError, match="no such file"):
        task.resuming.checkpoint()
    torch.save({}, tmp_path / written)
    assert task.resuming.checkpoint() == str(tmp_path / begin)


def test_annotation_of_raw_text(tmp_path, capsys):
    for language in ("src", "tgt"):
        (tmp_path / f"valid.src-tgt.{language}").write_text("a b\n")
        (tmp_path / f"dict.{language}.txt").write_text("a 1\nb 1\n")
    task = task_of(tmp_path, "src", "tgt", dataset_impl="raw", load_dependencies=True)
    with pytest.raises(UserError, match="not binarised"):
        task.load_dataset("valid")
