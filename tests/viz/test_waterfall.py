"""Bars that add up: each begins where the one before it ends, and the last one is the sum."""

import numpy as np
import pytest

from viz import Amount
from viz.amounts import waterfall

AMOUNTS = (Amount("4·1", 5.5, ("cross_attention", 3, 0)), Amount("4층", -2.0), Amount("나머지", 1.0))


def test_each_bar_begins_where_the_one_before_it_ends():
    bars, _ = waterfall(AMOUNTS).data
    np.testing.assert_allclose(bars.base, [0, 5.5, 3.5, 0])
    np.testing.assert_allclose(bars.x, [5.5, -2.0, 1.0, 4.5])
    assert list(bars.text) == ["+5.50", "−2.00", "+1.00", "+4.50"]


def test_filled_and_hollow_bars_tell_the_signs_apart():
    bars, _ = waterfall(AMOUNTS).data
    hollow = [colour == "rgba(0,0,0,0)" for colour in bars.marker.color]
    assert hollow == [False, True, False, False]


def test_what_can_be_chosen_answers_a_click_and_the_arrow_keys():
    bars, places = waterfall(AMOUNTS).data
    assert [each and tuple(each) for each in bars.customdata] == [("cross_attention", 3, 0), None, None, None]
    assert [tuple(each) for each in places.customdata] == [("cross_attention", 3, 0)]
    assert list(places.y) == [0] and places.x[0] == pytest.approx(2.75)


def test_all_bars_lie_inside_the_axis():
    for amounts in (AMOUNTS, [Amount("가", -3.0), Amount("나", -1.0)], [Amount("가", 0.0)]):
        low, high = waterfall(amounts).layout.xaxis.range
        bars = waterfall(amounts).data[0]
        ends = np.add(bars.base, bars.x)
        assert low <= min(0, *ends) and high >= max(0, *ends) and high > low


def test_the_longest_number_has_its_room_in_pixels_however_narrow_the_window():
    layout = waterfall([Amount("가", 13.9), Amount("나", -0.5)]).layout
    assert layout.margin.r >= len("+13.90") * 8  # type of 13 pixels
    longer = waterfall([Amount("가", 1390.0)]).layout
    assert longer.margin.r > layout.margin.r


def test_no_amounts_are_an_empty_figure_with_its_layout():
    figure = waterfall([], title="제목")
    assert not figure.data and figure.layout.title.text == "제목"


def test_names_are_neither_html_nor_templates():
    figure = waterfall([Amount("<b>%{x}", 1.0)])
    assert "<b>" not in figure.layout.yaxis.ticktext[0] + figure.data[0].hovertext[0]
    assert "%{" not in figure.data[0].hovertext[0]


def test_what_is_no_number_is_named():
    with pytest.raises(ValueError, match="values should be finite, received"):
        waterfall([Amount("가", float("nan"))])
    with pytest.raises(ValueError, match="theme"):
        waterfall(AMOUNTS, theme="sepia")
