"""Before a training: processes train together, a warm-up is not too long, counts begin anew."""

import re
from argparse import Namespace

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.data import LanguagePairDataset
from fairseq_cli import train
from small_models import build, random_sentences

from syntax_nmt.errors import UserError
from syntax_nmt.task.misspelled_names import refuse_misspelled_overrides
from syntax_nmt.task.resuming import is_at_end
from syntax_nmt.task.training_checks import check_joined, warn_of_long_warmup

TORCHRUN = {"MASTER_ADDR": "localhost", "MASTER_PORT": "1", "RANK": "1", "WORLD_SIZE": "3"}


@pytest.mark.parametrize(
    ("overrides", "meant"),
    [
        ("{'no_joint_scor': True}", "no_joint_score"),
        ("{'no_joint_score': True, 'decoder_layer': 3}", "decoder_layers"),
        ("{'no_joint_score': True, 'data': 'x', 'max_source_positions': 3, 'beam': 1}", None),
        ("{'of_another_model': 1}", None),
        ("{'encoder_layers': 3}", None),  # of a Transformer in the same ensemble
        ("{'task': {'data': 'x'}}", None),
        ("{", None),
        (None, None),
    ],
)
def test_misspelled_overrides(overrides, meant):
    options = Namespace(arch="bi_scale_rnn_tiny")
    if meant is None:
        refuse_misspelled_overrides(overrides, options)
        return
    said = f"is no option of bi_scale_rnn_tiny: did you mean {meant}?"
    with pytest.raises(UserError, match=re.escape(said)):
        refuse_misspelled_overrides(overrides, options)


@pytest.fixture
def torchrun(monkeypatch):
    for name, value in TORCHRUN.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.mark.parametrize("gpu", [True, False])
def test_processes_that_would_train_alone(torchrun, gpu):
    torchrun.setattr(torch.cuda, "is_available", lambda: gpu)
    with pytest.raises(UserError, match="each would train alone") as refused:
        check_joined()
    assert "--distributed-world-size 3" in str(refused.value)
    assert ("--distributed-rank $RANK" in str(refused.value)) == (not gpu)


def test_the_only_process(torchrun):
    torchrun.setenv("WORLD_SIZE", "1")
    check_joined()


@pytest.mark.parametrize("name", TORCHRUN)
def test_not_started_by_torchrun(torchrun, name):
    torchrun.delenv(name)
    check_joined()


def test_joined_processes(torchrun, tmp_path):
    torch.distributed.init_process_group(
        "gloo", f"file://{tmp_path / 'rendezvous'}", rank=0, world_size=1
    )
    try:
        check_joined()
    finally:
        torch.distributed.destroy_process_group()


WARM_UP = ("--max-update=10", "--warmup-updates=4000", "--lr-scheduler=inverse_sqrt")


def sentences(task):
    """Of 1, 7, 13 and 4 tokens."""
    dictionary, texts = task.source_dictionary, random_sentences([1, 7, 13, 4])
    side = (texts, [len(text) for text in texts], dictionary)
    return LanguagePairDataset(*side, *side)


@pytest.mark.parametrize("subset", ["train", "train_small"])
def test_long_warm_up_of_any_training_set(folder, subset, caplog):
    options = (*WARM_UP, "--train-subset", subset)
    _, task, _ = build(folder, "syntax_transformer_tiny", *options)
    task.datasets = {"valid": sentences(task), subset: sentences(task)}
    task.get_batch_iterator(task.datasets["valid"], max_tokens=100)
    assert "--warmup-updates 4000" not in caplog.text
    task.get_batch_iterator(task.datasets[subset], max_tokens=100)
    assert "--warmup-updates 4000 is more than the 10 updates" in caplog.text


@pytest.mark.parametrize(
    ("update_freq", "max_epoch", "max_update", "updates", "fewer"),
    [(1, 3, 0, 30, 7), (4, 3, 0, 9, 2), (1, 3, 20, 20, 5)],
)
def test_only_a_warm_up_that_is_longer_is_reported(
    update_freq, max_epoch, max_update, updates, fewer, caplog
):
    cfg = Namespace(update_freq=[update_freq], max_epoch=max_epoch, max_update=max_update)
    warn_of_long_warmup(cfg, Namespace(warmup_updates=updates), 10)
    assert not caplog.records
    warn_of_long_warmup(cfg, Namespace(warmup_updates=updates + 1), 10)
    expected = f"--warmup-updates {updates + 1} is more than the {updates} updates"
    assert expected in caplog.text
    assert f"give --warmup-updates {fewer} or less, or train longer" in caplog.text


def test_a_training_without_end_has_any_warm_up(caplog):
    endless = Namespace(update_freq=[1], max_epoch=0, max_update=0)
    warn_of_long_warmup(endless, Namespace(warmup_updates=4000), 10)
    assert not caplog.records


def test_the_next_training_of_a_process_begins_to_count_anew(folder):
    """`fairseq-hydra-train -m` has several of them."""
    for function in (train.should_stop_early, checkpoint_utils.save_checkpoint):
        function.best = 1.5
    train.should_stop_early.num_runs = 3
    assert is_at_end(3)
    _, task, _ = build(folder, "syntax_transformer_tiny")
    assert not is_at_end(1)
    assert task.state_dict()["patience"] == {}
    assert not hasattr(checkpoint_utils.save_checkpoint, "best")
