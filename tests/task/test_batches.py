"""What a task says of batches: of too few tokens, and of a training too short for its warm-up."""

import logging
from argparse import Namespace

import pytest
from fairseq.data import LanguagePairDataset
from small_models import build, random_sentences

from syntax_nmt.errors import UserError
from syntax_nmt.task.training_checks import warn_of_long_warmup

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
    ("loaded", "split", "option"),
    [
        (["train", "valid"], "train", "--max-tokens"),
        (["train", "valid"], "valid", "--max-tokens-valid"),
        (["valid"], "valid", "--max-tokens"),
    ],
)
def test_the_longest_sentence_that_is_kept_is_named(folder, loaded, split, option, caplog):
    _, task, _ = build(folder, "syntax_transformer_tiny")
    task.datasets = {name: sentences(task) for name in loaded}
    limits = {"max_positions": (9, 9), "ignore_invalid_inputs": True}
    with caplog.at_level(logging.WARNING), pytest.raises(UserError) as refused:
        task.get_batch_iterator(task.datasets[split], max_tokens=6, **limits)
    expected = f"{option} 6: a sentence has 7 tokens: give at least as many"
    assert str(refused.value) == expected
    assert caplog.text.count("1 sentence is too long") == 1
    task.get_batch_iterator(task.datasets[split], max_tokens=7, **limits)


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
