"""Replaced attention and alternative continuations, on a planted head."""

import numpy as np
import pytest

from model.analysis.counterfactuals import (
    alternative_continuation,
    can_write,
    painted_row,
    replaced_attention,
    replaced_for_change,
)
from model.trace.interventions import Head
from tests.planted import CAUSE, CODA, EDIT, RIGHT, ROW, WRONG


def replaced(planted, head, **more):
    return {each.how: each for each in replaced_attention(planted, EDIT, head, **more)}


def test_the_coda_head_needs_its_own_weights(planted):
    found = replaced(planted, CODA)
    assert found["observed"].text == RIGHT
    assert found["observed"].written_probability > 0.9
    for how in ("uniform", "copy"):  # a sixth of the coda is too little; 머 itself has none
        assert found[how].text == WRONG
        assert found[how].written_probability < 0.1
        assert found[how].instead_probability > 0.9
    np.testing.assert_allclose(found["copy"].weights, np.eye(6))
    assert [each.intervened for each in found.values()] == [False, True, True, True]


@pytest.mark.parametrize(
    ("kind", "row", "weights", "message"),
    [
        ("cross_attention", 9, np.ones(6), "received row 9"),
        ("cross_attention", 0, np.ones(5), r"with \(5,\)"),
        ("cross_attention", 0, np.zeros(6), "not all 0"),
        ("cross_attention", 0, -np.ones(6), "0 or more"),
        ("decoder_attention", 1, np.ones(6), "cannot see what comes later"),
    ],
)
def test_a_row_that_cannot_be_painted_is_named(planted, kind, row, weights, message):
    with pytest.raises(ValueError, match=message):
        painted_row(planted.trace(WRONG, RIGHT), kind, row, weights)


def test_the_road_not_taken(planted):
    fork = alternative_continuation(planted, WRONG, RIGHT, ROW, "머")
    assert fork.text == WRONG
    assert fork.observed.target_tokens[:-1] == tuple(RIGHT)
    assert fork.other.target_tokens[:-1] == tuple(WRONG)
    assert fork.other.log_probabilities[ROW] < -2  # the network would not have chosen it
    assert fork.other.log_probabilities[ROW + 1] > -0.1
    np.testing.assert_allclose(
        fork.observed.cross_attention[:, :, : ROW + 1], fork.other.cross_attention[:, :, : ROW + 1], atol=1e-5
    )


def test_the_road_may_end_or_take_the_same_turn(planted):
    assert alternative_continuation(planted, WRONG, RIGHT, 2, "</s>").text == RIGHT[:2]
    assert alternative_continuation(planted, WRONG, RIGHT, 2, "거").text == RIGHT
    assert alternative_continuation(planted, WRONG, RIGHT, 0, "가").text == "가먹거요."


@pytest.mark.parametrize(
    ("row", "candidate"), [(6, "가"), (0, "힣"), (0, "가나"), (-1, "가"), (2, "<outside>")]
)
def test_a_road_that_cannot_be_taken_is_named(planted, row, candidate):
    with pytest.raises(ValueError, match="received") as refused:
        alternative_continuation(planted, WRONG, RIGHT, row, candidate)
    assert can_write(planted, candidate) == (candidate == "가")
    assert candidate not in str(refused.value)  # a log may hold it


@pytest.mark.parametrize("place", [(9, 0), (0, 9), (-1, 0)])
def test_a_head_that_is_not_there_is_named(planted, place):
    with pytest.raises(ValueError, match="one of the network's 12, received Head"):
        replaced(planted, Head("cross_attention", *place))


def test_a_visitor_paints_the_row_of_the_fix(planted):
    contrast, found = replaced_for_change(planted, EDIT, CODA, painted=[CAUSE, 99])
    by_name = {each.how: each for each in found}
    assert (contrast.row, contrast.written_token, contrast.instead_token) == (ROW, "먹", "머")
    np.testing.assert_allclose(by_name["painted"].weights[ROW], np.eye(6)[CAUSE])
    assert by_name["painted"].text == RIGHT
    _, found = replaced_for_change(planted, EDIT, CODA, painted=[0, 1])
    assert found[-1].text == WRONG  # half of the weight on each of two that do not matter
    assert len(replaced_for_change(planted, EDIT, CODA)[1]) == 4  # nothing painted


def test_a_decoder_row_is_painted_only_where_it_can_see(planted):
    head = Head("decoder_attention", 0, 0)
    _, found = replaced_for_change(planted, EDIT, head, painted=[0, ROW + 1])
    np.testing.assert_allclose(found[-1].weights[ROW], np.eye(6)[0])
    assert len(replaced_for_change(planted, EDIT, head, painted=[5])[1]) == 4
