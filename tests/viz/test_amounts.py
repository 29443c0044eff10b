"""Charts of amounts: waterfall, layer grid, layer curve; legend of both signs."""

import numpy as np
import pytest

from viz import Amount
from viz.amounts import waterfall
from viz.figure import Captions
from viz.head_mosaic import head_mosaic
from viz.layers import layer_curve, layer_grid
from viz.theme import palette

AMOUNTS = (Amount("4·1", 5.5, ("cross_attention", 3, 0)), Amount("4층", -2.0), Amount("나머지", 1.0))


def test_each_bar_begins_where_the_one_before_it_ends_and_tells_its_sign_and_its_head():
    bars, places, _ = waterfall(AMOUNTS).data
    np.testing.assert_allclose(bars.base, [0, 5.5, 3.5, 0])
    np.testing.assert_allclose(bars.x, [5.5, -2.0, 1.0, 4.5])
    assert list(bars.text) == ["+5.50", "−2.00", "+1.00", "+4.50"]
    assert [colour == "rgba(0,0,0,0)" for colour in bars.marker.color] == [False, True, False, False]
    assert [each and tuple(each) for each in bars.customdata] == [("cross_attention", 3, 0), None, None, None]
    assert [tuple(each) for each in places.customdata] == [("cross_attention", 3, 0)]
    assert list(places.y) == [0] and places.x[0] == pytest.approx(2.75)


def test_a_legend_names_both_signs_and_red_is_for_the_answer_in_bars_and_squares():
    bars, _, *legend, _ = waterfall(AMOUNTS, captions=Captions(names=("합", "‘같’ 쪽", "‘가’ 쪽"))).data
    assert [entry.name for entry in legend] == ["‘같’ 쪽", "‘가’ 쪽"]
    assert [entry.marker.color for entry in legend] == list(bars.marker.line.color[:2])
    red, blue = palette("light").diverging[-1], palette("light").diverging[0]
    for helps_below, lowest in ((True, red), (False, blue)):
        squares = head_mosaic({"cross": np.array([[-1.0, 2.0]])}, helps_below=helps_below).data[0]
        assert squares.colorscale[0][1] == lowest


def test_all_bars_lie_inside_the_axis():
    for amounts in (AMOUNTS, [Amount("가", -3.0), Amount("나", -1.0)], [Amount("가", 0.0)]):
        low, high = waterfall(amounts).layout.xaxis.range
        bars = waterfall(amounts).data[0]
        ends = np.add(bars.base, bars.x)
        assert low <= min(0, *ends) and high >= max(0, *ends) and high > low


def test_no_number_reaches_to_the_left_where_the_names_of_the_rows_are():
    bars, *_, numbers = waterfall([Amount("디코더 3·2", -1.56), Amount("디코더 3·1", 1.54)]).data
    assert list(bars.textposition) == ["none", "outside", "none"]  # outside of a bar to the right: at its end
    assert (numbers.text, numbers.textposition) == (("−1.56", "−0.02"), "middle right")
    assert list(numbers.x) == [0.0, 0.0]  # where the bars begin on their right


TEXTS, PROBABILITIES = [["가", "나", ""], ["각", "나", ""]], [[0.25, 0.5, np.nan], [0.75, 1.0, np.nan]]
PLACES, TOKENS = ["입력", "1층"], ["각", "나", "</s>"]


def test_the_grid_holds_each_text_with_its_probability_and_the_end_at_the_bottom():
    figure = layer_grid(TEXTS, PROBABILITIES, PLACES, TOKENS, outlined=1, emphasis=[0])
    (cells,), layout = figure.data, figure.layout
    assert [list(row) for row in cells.text] == TEXTS
    np.testing.assert_allclose(cells.z, PROBABILITIES)
    assert (cells.x0, cells.y0, cells.zmin, cells.zmax) == (1, 0, 0, 1)
    assert layout.yaxis.range[0] > layout.yaxis.range[1]  # the first place is at the top
    assert [(shape.x0, shape.x1) for shape in layout.shapes] == [(1.5, 2.5)]
    assert "<b>각" in layout.xaxis.ticktext[0] and "<b>" not in layout.xaxis.ticktext[1]


def test_a_token_that_has_no_room_in_its_cell_is_whole_in_the_hover():
    (cells,) = layer_grid([["<outside>"], ["Transformer"]], [[0.5], [0.5]], PLACES, ["각"]).data
    assert [row[0] for row in cells.text] == ["&lt;?&gt;", "Tra…"]
    assert [row[0] for row in cells.hovertext] == ["&lt;outside&gt;", "Transformer"]


def test_the_curve_goes_through_its_values_and_marks_a_place():
    figure = layer_curve([-2.0, 3.5], PLACES, marked=1)
    np.testing.assert_allclose(figure.data[0].y, [-2.0, 3.5])
    assert [shape.x0 for shape in figure.layout.shapes] == [0, 1]  # the zero line across, and the place
    assert list(figure.layout.xaxis.ticktext) == PLACES
    long = layer_curve([1, 2], ["Start (embedding + position)", "Layer 1, decoder attention"]).layout.margin
    short = figure.layout.margin
    assert long.l > short.l and long.b > short.b  # the room that long names need


def test_a_curve_of_many_places_names_a_few_and_has_a_point_beside_it():
    captions = Captions(titles=("Share", "Count"))
    numbers = [str(number) for number in range(1, 52)]
    figure = layer_curve([0.5] * 51, numbers, marked=44, beside=(16, 0.93, "17"), captions=captions)
    axis = figure.layout.xaxis
    assert list(axis.ticktext) == [str(number) for number in range(3, 52, 3)]
    assert [place + 1 for place in axis.tickvals] == [int(name) for name in axis.ticktext]
    assert (axis.title.text, axis.tickangle) == ("Count", 0)
    assert (figure.data[1].x, figure.data[1].y, figure.data[1].text) == ((16,), (0.93,), ("17",))
