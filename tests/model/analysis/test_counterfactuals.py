"""Replaced attention and alternative continuations, on a planted head."""

import numpy as np
import pytest

from model.analysis.counterfactuals import (
    alternative_continuation,
    can_write,
    copy_rows,
    painted_row,
    permuted_rows,
    replaced_attention,
    replaced_for_change,
    uniform_rows,
)
from model.text.changes import find_changes
from model.trace.interventions import Head
from tests.planted import CAUSE, CHANGE, CODA, COPY, DECOY, EDIT, RIGHT, ROW, WRONG
from tests.ui.fake_corrector import random_trace


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


def test_copying_works_with_the_diagonal_and_with_nothing_else(planted):
    found = replaced(planted, COPY)
    assert found["copy"].text == RIGHT
    assert found["copy"].written_probability > 0.9
    assert found["uniform"].text != RIGHT


def test_a_head_that_does_nothing_may_look_anywhere(planted):
    for each in replaced(planted, DECOY).values():
        assert each.text == RIGHT
        assert each.written_probability == pytest.approx(
            replaced(planted, DECOY)["observed"].written_probability, abs=1e-5
        )


def test_a_painted_row_is_the_only_one_that_changes(planted):
    trace = planted.trace(WRONG, RIGHT)
    at_itself = painted_row(trace, "cross_attention", ROW, np.eye(6)[ROW])
    back = painted_row(trace, "cross_attention", ROW, 3 * np.eye(6)[CAUSE])
    found = replaced(planted, CODA, painted={"off": at_itself, "on": back})
    assert (found["off"].text, found["on"].text) == (WRONG, RIGHT)
    own = found["observed"].weights
    np.testing.assert_allclose(np.delete(found["off"].weights, ROW, 0), np.delete(own, ROW, 0), atol=1e-5)
    np.testing.assert_allclose(found["on"].weights[ROW], np.eye(6)[CAUSE])


def test_rows_are_distributions_over_what_may_be_seen(planted):
    trace = planted.trace(WRONG, RIGHT)
    for kind in ("encoder_attention", "decoder_attention", "cross_attention"):
        for rows in (
            uniform_rows(kind, 6),
            copy_rows(trace, kind, [CHANGE]),
            permuted_rows(trace, Head(kind, 1, 1)),
        ):
            np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-5)
            assert kind != "decoder_attention" or (np.triu(rows, 1) == 0).all()
    own = trace.cross_attention[1, 1]
    shuffled = permuted_rows(trace, CODA, seed=3)
    np.testing.assert_array_equal(np.sort(shuffled, axis=1), np.sort(own, axis=1))
    assert (shuffled != own).any()


def test_a_copy_follows_what_is_inserted_and_left_out():
    source, target = "가나다", "가라나"
    trace = random_trace(source, target)
    positions = copy_rows(trace, "cross_attention", find_changes(source, target)).argmax(axis=1)
    assert positions.tolist() == [0, 1, 1, 3]  # 라 goes before 나, 다 is left out, the end mark is copied


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
