"""A warm-up that never ends is noticed."""

import math

import pytest

from syntax_nmt.task.training_checks import planned_updates, warn_of_long_warmup


@pytest.mark.parametrize(
    ("batches", "update_freq", "max_epoch", "max_update", "updates"),
    [(10, 1, 3, 0, 30), (10, 4, 3, 0, 9), (10, 1, 3, 20, 20), (10, 1, 0, 0, math.inf)],
)
def test_planned_updates(batches, update_freq, max_epoch, max_update, updates):
    assert planned_updates(batches, update_freq, max_epoch, max_update) == updates


def test_only_a_warm_up_that_is_longer_is_reported(caplog):
    warn_of_long_warmup(30, 30)
    warn_of_long_warmup(4000, math.inf)
    assert not caplog.records
    warn_of_long_warmup(31, 30)
    assert "--warmup-updates 31 is more than the 30 updates" in caplog.text
    assert "give --warmup-updates 7 or less, or train longer" in caplog.text
