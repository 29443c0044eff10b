"""Marks against attention: shares worked out by hand, and what holds for any attention."""

from itertools import combinations

import numpy as np
import pytest

from model.analysis.edits import agreeing_head, agreement, attention_of_change
from model.text.changes import find_changes
from tests.ui.fake_corrector import random_trace


def test_shares_worked_out_by_hand():
    weights = np.array([[0.5, 0.25, 0.125, 0.0, 0.125], [0.0, 0.25, 0.25, 0.5, 0.0]])
    found = agreement(weights, [0, 2])
    np.testing.assert_allclose(found.share, [0.625, 0.25])
    np.testing.assert_allclose(found.best, [0.75, 0.75])
    np.testing.assert_allclose(found.random, [0.4, 0.4])
    np.testing.assert_array_equal(found.hits, [1, 0])  # the top two are {0, 1} and {3, 1}
    np.testing.assert_array_equal(found.precision, [0.5, 0.0])


def test_random_is_the_mean_over_all_choices_and_best_their_maximum():
    weights = np.random.default_rng(0).dirichlet(np.ones(7))[:6]  # a part of a row: sums to less than 1
    for count in range(1, 7):
        shares = [agreement(weights, marked).share for marked in combinations(range(6), count)]
        found = agreement(weights, range(count))
        np.testing.assert_allclose(found.random, np.mean(shares))
        np.testing.assert_allclose(found.best, np.max(shares))


def test_marking_everything_leaves_nothing_to_compare():
    found = agreement(np.full((2, 3, 4), 0.25), range(4))
    for share in (found.share, found.best, found.random, found.precision):
        np.testing.assert_allclose(share, np.ones((2, 3)))


def test_a_mark_set_twice_counts_once():
    weights = np.array([0.5, 0.3, 0.2])
    assert agreement(weights, [1, 1]) == agreement(weights, [1])


@pytest.mark.parametrize("marked", [[], [3], [-1, 0]])
def test_marks_that_are_no_candidates_are_refused(marked):
    with pytest.raises(ValueError, match=r"some of 0\.\.2, received"):
        agreement(np.array([0.5, 0.3, 0.2]), marked)


def test_attention_of_a_change_is_the_mean_over_the_rows_that_write_it():
    source, target = "머꼬 가", "먹고서 가"
    trace, (change,) = random_trace(source, target), find_changes(source, target)
    attention = attention_of_change(trace, change)
    np.testing.assert_allclose(attention, trace.cross_attention[:, :, 0:3].mean(axis=2), rtol=1e-6)
    np.testing.assert_allclose(attention.sum(axis=-1), 1, rtol=1e-5)


def test_a_deletion_is_read_off_the_row_that_follows():
    source, target = "가  나", "가 나"
    trace, (change,) = random_trace(source, target), find_changes(source, target)
    row = change.target_start
    np.testing.assert_allclose(attention_of_change(trace, change), trace.cross_attention[:, :, row])


def test_the_agreeing_head_looks_most_at_the_marks():
    weights = np.full((2, 3, 5), 0.1)
    weights[1, 2, 4] = 0.6
    assert agreeing_head(agreement(weights, [4, 0])) == (1, 2)
