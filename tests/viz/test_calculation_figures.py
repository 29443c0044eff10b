"""Tables of numbers show each number, and masked, padded and small ones look different."""

import json

import numpy as np
import plotly.graph_objects as go
import pytest

from tests.ui.screen import decode
from viz import Hidden, attention_steps, number_heatmap, number_text
from viz.figure import TITLE_HEIGHT
from viz.labels import weight_text

VALUES = np.array([[1.0, -2.5, 0.0], [100.0, 3.14159, np.nan]])


def sent(figure: go.Figure, trace: int = 0) -> np.ndarray:
    return decode(json.loads(figure.to_json())["data"][trace]["z"])


def test_rows_of_a_long_table_stay_high_enough_to_read():
    tall, taller = (number_heatmap(np.zeros((n, 2)), ["가"] * n, "ab").layout.height for n in (100, 200))
    assert taller - tall >= 100 * 12


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10.0, "10"),
        (57.735, "57.73"),
        (-0.001, "0"),
        (-2.5, "−2.5"),
        (1000.0, "1000"),
        (8e-26, "0"),
        (float("nan"), ""),
        (float("-inf"), "−∞"),
        (float("inf"), "∞"),
    ],
)
def test_numbers_are_written_for_people(value, text):
    assert number_text(value) == text


def test_every_number_is_in_the_figure_and_in_its_cell():
    figure = number_heatmap(VALUES, "ab", "xyz")
    np.testing.assert_array_equal(sent(figure), VALUES.astype(np.float32))
    assert [list(row) for row in figure.data[0].text] == [["1", "−2.5", "0"], ["100", "3.14", ""]]
    assert (figure.data[0].zmin, figure.data[0].zmax) == (-100, 100)
    assert figure.layout.yaxis.range == (1.5, -0.5)


def test_a_number_too_small_for_its_cell_is_whole_in_the_hover():
    figure = number_heatmap([[8.4e-26]], "a", "x")
    assert figure.data[0].text[0][0] == "0" and figure.data[0].customdata[0, 0].tolist() == ["8.4e−26", "x"]


def test_many_columns_are_colours_with_a_scale():
    figure = number_heatmap(np.ones((2, 30)), "ab", ["x"] * 30)
    assert figure.data[0].text is None
    assert figure.data[0].showscale
    assert len(figure.data[0].colorscale) == 7


@pytest.mark.parametrize("numbers", [True, False])
@pytest.mark.parametrize("title", ["", "A title"])
def test_no_label_of_a_column_lies_under_the_toolbar(numbers, title):
    figure = number_heatmap(VALUES, "ab", "xyz", numbers=numbers, title=title)
    labels = (
        figure.layout.margin.t - max(label.count("<br>") + 1 for label in figure.layout.xaxis.ticktext) * 20
    )
    assert labels >= TITLE_HEIGHT


def test_rows_line_up_beside_a_figure_with_a_longer_legend():
    cells = np.eye(2, 3, dtype=bool)
    one, both = (
        number_heatmap(np.ones((2, 3)), "ab", "xyz", hidden=hidden, design_width=300, legend_lines=2)
        for hidden in (Hidden(padded=cells), Hidden(masked=cells, padded=~cells))
    )
    assert (one.layout.height, one.layout.margin) == (both.layout.height, both.layout.margin)
    single = number_heatmap(np.ones((2, 3)), "ab", "xyz", design_width=300)
    assert one.layout.height - one.layout.margin.b == single.layout.height - single.layout.margin.b


def test_the_steps_of_one_query_end_in_weights():
    logits = np.array([1.0, 2.0, -np.inf])
    weights = np.array([0.27, 0.73, 0.0])
    figure = attention_steps(
        [np.array([2.0, 4.0, 6.0]), logits], weights, "가나다", ["q·k", "mask", "softmax"]
    )
    np.testing.assert_array_equal(sent(figure), [[2, 1], [4, 2], [6, np.nan]])
    np.testing.assert_array_equal(sent(figure, 1)[:, 0], weights.astype(np.float32))
    assert list(figure.data[1].x) == [2]
    assert [row[1] for row in figure.data[0].text] == ["1", "2", "−∞"]
    assert (figure.data[2].fillpattern.shape, min(x for x in figure.data[2].x if x is not None)) == ("/", 0.5)


def test_maps_from_tokens_to_tokens_are_about_square():
    count, width = 16, 320
    figure = number_heatmap(np.ones((count, count)), "가" * count, "가" * count, design_width=width)
    margin = figure.layout.margin
    assert figure.layout.height - margin.t - margin.b == pytest.approx(width)


def test_numbered_columns_need_not_all_be_labelled():
    figure = number_heatmap(np.ones((1, 32)), "a", [str(number) for number in range(32)], label_every=8)
    assert figure.layout.xaxis.tickvals == (0, 8, 16, 24)
    assert [label.strip("<br> ") for label in figure.layout.xaxis.ticktext] == ["0", "8", "16", "24"]
    assert figure.data[0].customdata[0, 31].tolist() == ["1", "31"]
    many = number_heatmap(np.ones((1, 256)), "a", [str(number) for number in range(256)], label_every=32)
    assert many.data[0].xgap == 0 and many.layout.xaxis.tickvals == tuple(range(0, 256, 32))


def test_a_softmax_is_0_only_where_a_mask_makes_it_so():
    figure = attention_steps(
        [np.array([9.0, -99.0, 3.0]), np.array([9.0, -99.0, -np.inf])],
        np.array([1 - 1e-6, 0.0, 0.0]),  # the second is too small for a float
        "가나다",
        ["÷√d", "+ mask", "softmax"],
    )
    weights = [trace for trace in figure.data if trace.type == "heatmap"][1]
    assert [list(row) for row in weights.text] == [[">0.999"], ["<0.001"], ["0"]]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "<0.001"), (0.004, "0.004"), (0.99, "0.990"), (0.9996, ">0.999"), (1.0, "1")],
)
def test_a_weight_is_never_rounded_to_none_or_all(value, text):
    assert weight_text(value) == text
