"""The positional encoding: matrix, curves, similarities, shifts, sizes."""

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


def test_the_heatmaps_colours_always_run_from_minus_one_to_one():
    trace = positional_encoding_heatmap(positional_encoding(1, 4) / 10).data[0]
    assert (trace.zmin, trace.zmax) == (-1, 1)


def test_rows_of_positions_are_named_by_the_tokens_of_a_sentence():
    rows = positional_encoding_heatmap(positional_encoding(3, 4), tokens="가 ").layout.yaxis
    assert list(zip(rows.tickvals, rows.ticktext, strict=True)) == [(1, "1 가"), (2, "2 ␣"), (3, "3")]


def test_positions_run_down_from_1():
    figure = positional_encoding_heatmap(positional_encoding(5, 8))
    assert figure.layout.yaxis.range == (5.5, 0.5) and figure.data[0].y0 == 1
    assert figure.layout.xaxis.range == (-0.5, 7.5)


def test_size_of_the_largest_matrix():
    size = len(positional_encoding_heatmap(positional_encoding(512, 512)).to_json().encode())
    assert size < 2_000_000


def test_a_curve_is_a_column_and_its_name_says_which():
    matrix = positional_encoding(20, 16)
    figure = positional_encoding_curves(matrix, [4, 5, 0, 4])  # one that is repeated is drawn once
    assert [trace.name for trace in figure.data] == ["dim 4 (sin)", "dim 5 (cos)", "dim 0 (sin)"]
    for trace, dimension in zip(figure.data, (4, 5, 0), strict=True):
        np.testing.assert_array_equal(trace.y, matrix[:, dimension])
        assert (trace.x0, trace.dx) == (1, 1)


def test_sine_and_cosine_of_one_rate_share_a_colour_and_differ_in_dash():
    sine, cosine, other = positional_encoding_curves(positional_encoding(9, 16), [4, 5, 6]).data
    assert sine.line.color == cosine.line.color != other.line.color
    assert (sine.line.dash, cosine.line.dash, other.line.dash) == ("solid", "dash", "solid")


def test_no_two_of_sixteen_rates_look_the_same():
    traces = positional_encoding_curves(positional_encoding(9, 64), range(0, 32, 2)).data
    assert len({(trace.line.color, trace.line.width) for trace in traces}) == 16


SIMILARITIES = np.array([[2, -1, 0.5], [-1, 2, -1], [0.5, -1, 2]], np.float32)


def test_colours_are_even_around_zero_and_reach_the_diagonal():
    trace = position_similarity_heatmap(SIMILARITIES).data[0]
    assert (trace.zmin, trace.zmax) == (-2, 2)
    assert position_similarity_heatmap(np.zeros((2, 2))).data[0].zmax == 1


def test_position_1_is_the_top_left_corner_and_cells_are_square():
    layout = position_similarity_heatmap(SIMILARITIES).layout
    assert (layout.xaxis.range, layout.yaxis.range) == ((0.5, 3.5), (3.5, 0.5))
    assert layout.yaxis.scaleanchor == "x"


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


def test_the_bars_differ_in_more_than_colour():
    plain, scaled, _ = embedding_sizes("가", [1], [4], [5]).data
    assert plain.marker.pattern.shape != scaled.marker.pattern.shape


def test_the_moved_token_is_a_curve_and_the_others_are_levels():
    figure = position_shift([0, 2, 3], [ShiftReference("<", 5.0), ShiftReference("나", 7.0)])
    moved, first, second = figure.data
    np.testing.assert_array_equal(moved.y, [0, 2, 3])
    assert (first.x, first.y, second.y) == ((0, 2), (5.0, 5.0), (7.0, 7.0))
    assert first.name == "&lt; in its place"
    assert len({moved.line.dash, first.line.dash, second.line.dash}) == 3
