"""What is read at each place of a network, as a grid of texts and as a curve."""

import numpy as np
import pytest

from viz.figure import to_json
from viz.layers import layer_curve, layer_grid

TEXTS, PROBABILITIES = [["가", "나", ""], ["각", "나", ""]], [[0.25, 0.5, np.nan], [0.75, 1.0, np.nan]]
PLACES, TOKENS = ["입력", "1층"], ["각", "나", "</s>"]


def test_the_grid_holds_each_text_with_its_probability_and_the_end_at_the_bottom():
    (cells,) = layer_grid(TEXTS, PROBABILITIES, PLACES, TOKENS).data
    assert [list(row) for row in cells.text] == TEXTS
    np.testing.assert_allclose(cells.z, PROBABILITIES)
    assert (cells.x0, cells.y0, cells.zmin, cells.zmax) == (1, 0, 0, 1)
    low, high = layer_grid(TEXTS, PROBABILITIES, PLACES, TOKENS).layout.yaxis.range
    assert low > high  # the first place is at the top


def test_a_token_that_has_no_room_in_its_cell_is_whole_in_the_hover():
    (cells,) = layer_grid([["<outside>"], ["Transformer"]], [[0.5], [0.5]], PLACES, ["각"]).data
    assert [row[0] for row in cells.text] == ["&lt;?&gt;", "Tra…"]
    assert [row[0] for row in cells.hovertext] == ["&lt;outside&gt;", "Transformer"]


def test_a_chosen_column_is_framed_and_changed_ones_are_bold():
    layout = layer_grid(TEXTS, PROBABILITIES, PLACES, TOKENS, outlined=1, emphasis=[0]).layout
    assert [(shape.x0, shape.x1) for shape in layout.shapes] == [(1.5, 2.5)]
    assert "<b>각" in layout.xaxis.ticktext[0] and "<b>" not in layout.xaxis.ticktext[1]


def test_the_curve_goes_through_its_values_and_marks_a_place():
    figure = layer_curve([-2.0, 3.5], PLACES, marked=1)
    np.testing.assert_allclose(figure.data[0].y, [-2.0, 3.5])
    assert [shape.x0 for shape in figure.layout.shapes] == [0, 1]  # the zero line across, and the place
    assert list(figure.layout.xaxis.ticktext) == PLACES


def test_nothing_is_an_empty_figure_with_its_layout():
    assert not layer_grid([], np.zeros((0, 0)), [], [], title="제목").data
    assert layer_curve([], [], title="제목").layout.title.text == "제목"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_travels_can_be_read_by_a_browser(theme):
    assert to_json(layer_grid.specification(TEXTS, PROBABILITIES, PLACES, TOKENS, theme=theme))
    assert to_json(layer_curve.specification([1.0, 2.0], PLACES, theme=theme))


def test_texts_and_names_are_neither_html_nor_templates():
    figure = layer_grid([["<b>"]], [[0.5]], ["<i>"], ["%{x}"], details=[["%{z}<u>"]])
    assert "<" not in figure.data[0].text[0][0] + figure.layout.yaxis.ticktext[0]
    assert "%{" not in figure.data[0].customdata[0][0] and "<" not in figure.data[0].customdata[0][0]


def test_what_does_not_fit_is_named():
    with pytest.raises(ValueError, match=r"should be \(P, T\) = \(2, 3\)"):
        layer_grid(TEXTS, np.zeros((2, 2)), PLACES, TOKENS)
    with pytest.raises(ValueError, match=r"0\.\.1, received"):
        layer_grid([["가"]], [[1.5]], ["입력"], ["가"])
    with pytest.raises(ValueError, match="columns should lie in"):
        layer_grid(TEXTS, PROBABILITIES, PLACES, TOKENS, outlined=3)
    with pytest.raises(ValueError, match="values should be finite"):
        layer_curve([1.0, float("inf")], PLACES)
    with pytest.raises(ValueError, match="marked should lie in"):
        layer_curve([1.0, 2.0], PLACES, marked=2)
