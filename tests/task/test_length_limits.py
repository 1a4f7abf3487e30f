"""Sentences beyond limits, and lines that are not UTF-8, are named; batches of too few tokens."""

import logging

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary, LanguagePairDataset
from small_models import build

from syntax_nmt.errors import UserError
from syntax_nmt.task.batches import within_limits
from syntax_nmt.task.typed_lines import TypedLines


def dataset(*lengths, targets=True):
    dictionary = Dictionary()
    sentences = [torch.full((length,), 4) for length in lengths]
    sides = (sentences, list(lengths), dictionary)
    return LanguagePairDataset(*sides, *(sides if targets else ()))


@pytest.mark.parametrize("may_skip", [True, False])
def test_nothing_is_too_long(may_skip, caplog):
    indices = np.array([2, 0, 1])
    kept = within_limits(indices, dataset(3, 5, 4), (5, 5), may_skip)
    assert kept.tolist() == [2, 0, 1]
    assert not caplog.records


def test_the_first_of_them_is_named():
    with pytest.raises(UserError, match=r"sentence 1 \(6 source and 6 target tokens\)") as error:
        within_limits(np.arange(3), dataset(3, 6, 7), (5, 5), may_skip=False)
    assert "the limit is 5 source and 5 target tokens" in str(error.value)
    assert "tokens, EOS counts; the first sentence is 0), and 1 more: shorten" in str(error.value)
    with pytest.raises(UserError, match=r"the first sentence is 0\): shorten what is"):
        within_limits(np.arange(2), dataset(3, 6), (5, 5), may_skip=False)


def test_those_that_are_skipped_are_named(caplog):
    with caplog.at_level(logging.WARNING):
        kept = within_limits(np.arange(3), dataset(6, 3, 7, targets=False), (5, 9), True)
    assert kept.tolist() == [1]
    assert "2 sentences" in caplog.text
    assert "0 (6 source tokens), 2 (7 source tokens)" in caplog.text


def test_of_typed_text_the_lines_are_named(caplog):
    """From 1, as editors have them."""
    long = dataset(6, 3, 7, targets=False)
    with pytest.raises(UserError, match=r"^line 501 \(6 source tokens\) .*counts\), and 1 more"):
        within_limits(np.arange(3), long, (5, 9), False, 500)
    with caplog.at_level(logging.WARNING):
        within_limits(np.arange(3), long, (5, 9), True, 500)
    limit = "is too long (the limit is 5 source and 9 target tokens, EOS counts): it is skipped"
    assert caplog.messages == [
        f"line 501 (6 source tokens) {limit}", f"line 503 (7 source tokens) {limit}"
    ]  # fmt: skip


def test_many_are_not_all_named(caplog):
    within_limits(np.arange(31), dataset(*[9] * 30, 5), (5, 5), may_skip=True)
    assert "30 sentences" in caplog.text
    assert caplog.text.count("9 source") == 10


def test_all_of_them():
    """fairseq would stop at an empty list of batches."""
    with pytest.raises(UserError, match=r"every sentence is too long, such as 0 \(6 source"):
        within_limits(np.arange(2), dataset(6, 7), (5, 5), may_skip=True)


def test_lines_are_counted_over_all_buffers(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)  # where --input puts its file
    lines = TypedLines()
    lines.add(["a", "b", "👩\u200d👩"])
    assert lines.before == 0
    lines.add(["\u05e9"])
    assert lines.before == 3
    with pytest.raises(UserError, match="line 6 of the input is not UTF-8"):
        lines.add(["good", "bad \udcff"])


def test_all_of_a_typed_buffer_may_be_skipped(caplog):
    """Such as of the one line that fairseq-interactive reads at a time: others may follow."""
    with caplog.at_level(logging.WARNING):
        kept = within_limits(np.arange(1), dataset(6), (5, 5), may_skip=True, before=7)
    assert not len(kept)
    assert "line 8 (6 source and 6 target tokens) is too long" in caplog.text


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
    task.datasets = {name: dataset(1, 7, 13, 4) for name in loaded}
    limits = {"max_positions": (9, 9), "ignore_invalid_inputs": True}
    with caplog.at_level(logging.WARNING), pytest.raises(UserError) as refused:
        task.get_batch_iterator(task.datasets[split], max_tokens=6, **limits)
    expected = f"{option} 6: a sentence has 7 tokens: give at least as many"
    assert str(refused.value) == expected
    assert caplog.text.count("1 sentence is too long") == 1
    task.get_batch_iterator(task.datasets[split], max_tokens=7, **limits)


def test_only_training_leaves_out_an_incomplete_batch(folder):
    """As `--required-batch-size-multiple` says; elsewhere every sentence is in a batch."""
    _, task, _ = build(folder, "syntax_transformer_tiny")
    task.datasets = {split: dataset(*[4] * 9) for split in ("train", "valid")}
    sizes = {}
    for split, data in task.datasets.items():
        limits = {"max_tokens": 16, "required_batch_size_multiple": 4}
        batches = task.get_batch_iterator(data, **limits).next_epoch_itr(shuffle=False)
        sizes[split] = [len(batch["id"]) for batch in batches]
    assert sizes == {"train": [4, 4], "valid": [4, 4, 1]}
