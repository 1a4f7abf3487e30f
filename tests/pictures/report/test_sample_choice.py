"""Which sentences are shown."""

import numpy as np

from syntax_nmt.pictures.report_page.samples import choose_samples


def test_one_of_each_group_where_systems_differ_most():
    lengths = [9, 1, 5, 2, 8, 6]  # groups of two: sentences 1 3, 2 5, 4 0
    scores = np.array([[50, 10, 40, 20, 30, 60], [50, 15, 45, 90, 80, 5]])
    assert choose_samples(lengths, scores, 3) == [3, 5, 4]


def test_three_systems_by_the_widest_gap():
    scores = np.array([[50, 50], [60, 50], [60, 100]])
    assert choose_samples([1, 1], scores, 1) == [1]


def test_one_system_by_the_middle_score():
    assert choose_samples([1, 1, 1, 1, 1], np.array([[9.0, 1, 5, 7, 3]]), 1) == [2]
    assert choose_samples([2, 1, 1, 2], np.array([[9.0, 4, 3, 8]]), 2) == [2, 3]


def test_fewer_sentences_than_wanted_and_none():
    scores = np.array([[1.0, 2.0]])
    assert choose_samples([7, 3], scores, 8) == [1, 0]
    assert choose_samples([7, 3], scores, 0) == []
    assert choose_samples([3, 3], np.zeros((2, 2)), 1) == [0]
