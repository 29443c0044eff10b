"""Sizes of embeddings and what moving a token does: the figures hold the numbers, typed text is escaped."""

import numpy as np
import pytest

from viz import ShiftReference
from viz.positions import embedding_sizes, position_shift


def test_bars_and_line_hold_the_lengths_and_repeated_tokens_keep_their_places():
    figure = embedding_sizes("가가␣", [1, 2, 3], [4, 8, 12], [5, 5, 5])
    plain, scaled, line = figure.data
    assert (plain.type, scaled.type, line.type) == ("bar", "bar", "scatter")
    for trace, values in zip(figure.data, ([1, 2, 3], [4, 8, 12], [5, 5, 5]), strict=True):
        np.testing.assert_array_equal(trace.y, values)
    assert figure.layout.xaxis.tickvals == (1, 2, 3)
    assert {trace.x0 for trace in figure.data} == {1}
    assert figure.layout.xaxis.ticktext == ("가", "가", "␣")


def test_the_bars_differ_in_more_than_colour():
    plain, scaled, _ = embedding_sizes("가", [1], [4], [5]).data
    assert plain.marker.pattern.shape != scaled.marker.pattern.shape


def test_crowded_labels_step_downwards():
    labels = embedding_sizes("가" * 60, *[[1] * 60] * 3).layout.xaxis.ticktext
    assert labels[:2] == ("가", " <br>가")


def test_a_typed_tag_is_no_tag():
    figure = embedding_sizes(["<b>"], [1], [1], [1], names=("<i>", "b", "c"))
    assert figure.layout.xaxis.ticktext == ("&lt;b&gt;",)
    assert figure.data[0].name == "&lt;i&gt;"
    assert figure.data[0].customdata[0] == "&lt;b&gt;"


def test_no_tokens_are_an_empty_figure():
    assert not embedding_sizes([], [], [], []).data


def test_lengths_that_do_not_match_are_named():
    with pytest.raises(ValueError, match=r"2 tokens .* received \[\(2,\), \(1,\), \(2,\)\]"):
        embedding_sizes("가나", [1, 2], [1], [1, 2])


def test_the_moved_token_is_a_curve_and_the_others_are_levels():
    figure = position_shift([0, 2, 3], [ShiftReference("<", 5.0), ShiftReference("나", 7.0)])
    moved, first, second = figure.data
    np.testing.assert_array_equal(moved.y, [0, 2, 3])
    assert (first.x, first.y, second.y) == ((0, 2), (5.0, 5.0), (7.0, 7.0))
    assert first.name == "&lt; in its place"
    assert len({moved.line.dash, first.line.dash, second.line.dash}) == 3


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_moved_is_an_empty_figure(theme):
    assert not position_shift([], theme=theme).data


def test_a_matrix_is_no_curve():
    with pytest.raises(ValueError, match=r"\(P,\), received \(2, 2\)"):
        position_shift(np.zeros((2, 2)))
