"""The positional encoding's two pictures show the matrix they were given."""

import base64
import json

import numpy as np
import pytest

from viz import positional_encoding_curves, positional_encoding_heatmap


def sinusoids(positions: int, dimensions: int) -> np.ndarray:
    """(P, D) after Vaswani et al. (2017), section 3.5."""
    dimension = np.arange(dimensions)
    angles = np.arange(positions)[:, None] / 10000 ** (2 * (dimension // 2) / dimensions)
    return np.where(dimension % 2, np.cos(angles), np.sin(angles)).astype(np.float32)


def test_the_heatmap_carries_the_exact_matrix():
    matrix = sinusoids(7, 12)
    z = json.loads(positional_encoding_heatmap(matrix).to_json())["data"][0]["z"]
    assert (z["dtype"], z["shape"]) == ("f4", "7, 12")
    flat = np.frombuffer(base64.b64decode(z["bdata"]), np.float32)
    np.testing.assert_array_equal(flat.reshape(7, 12), matrix)


def test_the_heatmaps_colours_always_run_from_minus_one_to_one():
    trace = positional_encoding_heatmap(sinusoids(1, 4) / 10).data[0]
    assert (trace.zmin, trace.zmax) == (-1, 1)


def test_positions_run_down_from_1_and_the_texts_are_the_callers():
    figure = positional_encoding_heatmap(
        sinusoids(5, 8), title="<위치>", titles=("차원", "위치", "값"), hover=("차원", "위치", "값%")
    )
    assert figure.layout.yaxis.range == (5.5, 0.5)
    assert figure.data[0].y0 == 1
    assert figure.layout.xaxis.range == (-0.5, 7.5)
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("차원", "위치")
    assert figure.layout.title.text == "&lt;위치&gt;"
    assert figure.data[0].colorbar.title.text == "값"
    assert "값&#37;: <b>%{z:.3f}</b>" in figure.data[0].hovertemplate


def test_size_of_the_largest_matrix():
    size = len(positional_encoding_heatmap(sinusoids(512, 512)).to_json().encode())
    assert size < 2_000_000


def test_a_curve_is_a_column_and_its_name_says_which():
    matrix = sinusoids(20, 16)
    figure = positional_encoding_curves(matrix, [4, 5, 0])
    assert [trace.name for trace in figure.data] == ["dim 4 (sin)", "dim 5 (cos)", "dim 0 (sin)"]
    for trace, dimension in zip(figure.data, (4, 5, 0), strict=True):
        np.testing.assert_array_equal(trace.y, matrix[:, dimension])
        assert (trace.x0, trace.dx) == (1, 1)


def test_sine_and_cosine_of_one_rate_share_a_colour_and_differ_in_dash():
    sine, cosine, other = positional_encoding_curves(sinusoids(9, 16), [4, 5, 6]).data
    assert sine.line.color == cosine.line.color != other.line.color
    assert (sine.line.dash, cosine.line.dash, other.line.dash) == ("solid", "dash", "solid")


def test_no_two_of_sixteen_rates_look_the_same():
    traces = positional_encoding_curves(sinusoids(9, 64), range(0, 32, 2)).data
    assert len({(trace.line.color, trace.line.width) for trace in traces}) == 16


def test_curve_texts_are_the_callers_and_a_repeated_dimension_is_drawn_once():
    figure = positional_encoding_curves(
        sinusoids(9, 8),
        [3, 3],
        titles=("위치", "값"),
        curve_names=("{dimension}차원 <sin>", "{dimension}차원 <cos>"),
    )
    assert [trace.name for trace in figure.data] == ["3차원 &lt;cos&gt;"]
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("위치", "값")


@pytest.mark.parametrize("matrix", [[], np.zeros((0, 0)), np.zeros((0, 8))])
def test_no_positions_give_empty_figures_with_their_layout(matrix):
    for figure in (positional_encoding_heatmap(matrix), positional_encoding_curves(matrix, [0])):
        assert not figure.data
        assert figure.layout.xaxis.title.text
        assert figure.layout.yaxis.title.text


def test_no_dimensions_give_no_curves():
    assert not positional_encoding_curves(sinusoids(4, 4), []).data


@pytest.mark.parametrize(
    "draw", [positional_encoding_heatmap, lambda matrix: positional_encoding_curves(matrix, [0])]
)
def test_mistakes_in_the_matrix_are_named(draw):
    with pytest.raises(ValueError, match=r"\(P, D\), received \(4,\)"):
        draw(np.zeros(4))
    with pytest.raises(ValueError, match="-1..1, received 0.0 to 2.0"):
        draw(np.array([[0.0, 2.0]]))


def test_a_dimension_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match=r"0\.\.7, received \[8, -1\]"):
        positional_encoding_curves(sinusoids(4, 8), [8, 0, -1])
