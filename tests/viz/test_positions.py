"""Charts of the positional encoding: matrix, curves, similarities, shifts, sizes."""

import numpy as np

from model.activations.sublayers import positional_encoding
from viz import (
    ShiftReference,
    position_similarity_curve,
    position_similarity_heatmap,
    positional_encoding_curves,
    positional_encoding_heatmap,
)
from viz.figure import Captions
from viz.positions import embedding_sizes, position_shift


def test_positions_run_down_from_1_named_by_tokens_in_colours_from_minus_one_to_one():
    figure = positional_encoding_heatmap(positional_encoding(3, 4) / 10, tokens="가 ")
    trace, rows = figure.data[0], figure.layout.yaxis
    assert (trace.zmin, trace.zmax, trace.y0) == (-1, 1, 1)
    assert (rows.range, figure.layout.xaxis.range) == ((3.5, 0.5), (-0.5, 3.5))
    assert list(zip(rows.tickvals, rows.ticktext, strict=True)) == [(1, "1 가"), (2, "2 ␣"), (3, "3")]


def test_a_curve_is_a_column_and_its_name_says_which():
    matrix = positional_encoding(20, 16)
    figure = positional_encoding_curves(matrix, [4, 5, 0, 4])  # one that is repeated is drawn once
    assert [trace.name for trace in figure.data] == ["dim 4 (sin)", "dim 5 (cos)", "dim 0 (sin)"]
    for trace, dimension in zip(figure.data, (4, 5, 0), strict=True):
        np.testing.assert_array_equal(trace.y, matrix[:, dimension])
        assert (trace.x0, trace.dx) == (1, 1)


SIMILARITIES = np.array([[2, -1, 0.5], [-1, 2, -1], [0.5, -1, 2]], np.float32)


def test_similarities_run_from_position_1_in_square_cells_and_colours_even_around_zero():
    figure = position_similarity_heatmap(SIMILARITIES)
    assert (figure.data[0].zmin, figure.data[0].zmax) == (-2, 2)
    assert (figure.layout.xaxis.range, figure.layout.yaxis.range) == ((0.5, 3.5), (3.5, 0.5))
    assert figure.layout.yaxis.scaleanchor == "x"
    assert position_similarity_heatmap(np.zeros((2, 2))).data[0].zmax == 1


def test_the_curve_begins_at_distance_0():
    trace = position_similarity_curve([2, 1, 0.5], captions=Captions(titles=("거리", "내적%"))).data[0]
    assert (trace.x0, trace.dx) == (0, 1)
    np.testing.assert_array_equal(trace.y, np.array([2, 1, 0.5], np.float32))
    assert "내적&#37;: <b>%{y:.2f}</b>" in trace.hovertemplate


def test_bars_and_line_hold_the_lengths_and_repeated_tokens_keep_their_places():
    figure = embedding_sizes("가가␣", [1, 2, 3], [4, 8, 12], [5, 5, 5])
    plain, scaled, line = figure.data
    assert (plain.type, scaled.type, line.type) == ("bar", "bar", "scatter")
    for trace, values in zip(figure.data, ([1, 2, 3], [4, 8, 12], [5, 5, 5]), strict=True):
        np.testing.assert_array_equal(trace.y, values)
    assert figure.layout.xaxis.tickvals == (1, 2, 3)
    assert {trace.x0 for trace in figure.data} == {1}
    assert figure.layout.xaxis.ticktext == ("가", "가", "␣")
    assert plain.marker.pattern.shape != scaled.marker.pattern.shape


def test_the_moved_token_is_a_curve_and_the_others_are_levels():
    figure = position_shift([0, 2, 3], [ShiftReference("<", 5.0), ShiftReference("나", 7.0)])
    moved, first, second = figure.data
    np.testing.assert_array_equal(moved.y, [0, 2, 3])
    assert (first.x, first.y, second.y) == ((0, 2), (5.0, 5.0), (7.0, 7.0))
    assert first.name == "&lt; in its place"
    assert len({moved.line.dash, first.line.dash, second.line.dash}) == 3
