"""The two pictures of similar positions hold the numbers they were given."""

import base64
import json

import numpy as np
import pytest

from viz import position_similarity_curve, position_similarity_heatmap

SIMILARITIES = np.array([[2, -1, 0.5], [-1, 2, -1], [0.5, -1, 2]], np.float32)


def test_the_heatmap_carries_the_exact_numbers():
    z = json.loads(position_similarity_heatmap(SIMILARITIES).to_json())["data"][0]["z"]
    flat = np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"])
    np.testing.assert_array_equal(flat.reshape(3, 3), SIMILARITIES)


def test_colours_are_even_around_zero_and_reach_the_diagonal():
    trace = position_similarity_heatmap(SIMILARITIES).data[0]
    assert (trace.zmin, trace.zmax) == (-2, 2)
    assert position_similarity_heatmap(np.zeros((2, 2))).data[0].zmax == 1


def test_position_1_is_the_top_left_corner_and_cells_are_square():
    layout = position_similarity_heatmap(SIMILARITIES).layout
    assert (layout.xaxis.range, layout.yaxis.range) == ((0.5, 3.5), (3.5, 0.5))
    assert layout.yaxis.scaleanchor == "x"


def test_the_curve_begins_at_distance_0():
    trace = position_similarity_curve([2, 1, 0.5], titles=("거리", "내적%")).data[0]
    assert (trace.x0, trace.dx) == (0, 1)
    np.testing.assert_array_equal(trace.y, np.array([2, 1, 0.5], np.float32))
    assert "내적&#37;: <b>%{y:.2f}</b>" in trace.hovertemplate


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_positions_are_empty_figures_with_their_titles(theme):
    for figure in (position_similarity_heatmap([], theme=theme), position_similarity_curve([], theme=theme)):
        assert not figure.data
        assert figure.layout.xaxis.title.text
        assert figure.layout.yaxis.title.text


def test_mistakes_show_what_was_received():
    with pytest.raises(ValueError, match=r"\(P, P\), received \(2, 3\)"):
        position_similarity_heatmap(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"received the shape \(3, 3\)"):
        position_similarity_curve(SIMILARITIES)
