"""Heatmap tables of numbers and of attention steps: text, hover, masked cells."""

import json

import numpy as np
import plotly.graph_objects as go
import pytest

from tests.ui.screen import decode
from viz import attention_steps, number_heatmap, number_text

VALUES = np.array([[1.0, -2.5, 0.0], [100.0, 3.14159, np.nan]])


def sent(figure: go.Figure, trace: int = 0) -> np.ndarray:
    return decode(json.loads(figure.to_json())["data"][trace]["z"])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (57.735, "57.73"),
        (-0.001, "0"),
        (1000.0, "1000"),
        (float("nan"), ""),
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
