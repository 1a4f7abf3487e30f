"""Work in this process or in others, through one interface."""

from __future__ import annotations

import os
from concurrent.futures.process import BrokenProcessPool

import pytest

from syntax_nmt.errors import UserError
from syntax_nmt.preprocess.annotation.executor import open_executor, ordered_results


def square(number: int) -> int:
    return number * number


def die(number: int) -> int:
    os._exit(1)


def refuse(number: int) -> int:
    raise UserError(f"not {number}")


def test_in_process_and_in_order():
    with open_executor(1) as executor:
        assert list(ordered_results(executor, square, range(5), 2)) == [0, 1, 4, 9, 16]


def test_tasks_are_drawn_as_results_are_taken():
    drawn = []
    tasks = (drawn.append(number) or number for number in range(100))
    with open_executor(1) as executor:
        results = ordered_results(executor, square, tasks, 3)
        assert next(results) == 0
        assert len(drawn) == 3


def test_errors_come_out_as_they_are():
    with open_executor(1) as executor, pytest.raises(UserError, match="not 0"):
        list(ordered_results(executor, refuse, range(2), 1))


def test_no_workers_is_an_error():
    with pytest.raises(UserError, match="--workers 0"), open_executor(0):
        pass


def test_the_advice_about_a_dead_process_suits_every_command():
    def broken(number):
        raise BrokenProcessPool

    with (
        open_executor(1) as executor,
        pytest.raises(UserError, match=r"^a worker process died.* with fewer --workers$"),
    ):
        list(ordered_results(executor, broken, [1], 1))


@pytest.mark.slow
def test_a_dying_process_is_one_line():
    with open_executor(2) as executor:
        assert list(ordered_results(executor, square, range(5), 4)) == [0, 1, 4, 9, 16]
        with pytest.raises(UserError, match="a worker process died"):
            list(ordered_results(executor, die, range(2), 4))
