"""Charts of experiments: head mosaics, contribution panels, effects, pruning, reliability."""

import numpy as np
import pandas as pd
import pytest

from viz import THEMES, MethodPanel, attention_effect_scatter, head_mosaic, pruning_curve, reliability_curve
from viz.bars import contribution_panels
from viz.figure import Captions
from viz.head_mosaic import role_mosaic
from viz.theme import palette

KINDS = {
    "cross": np.array([[0.5, -2.0, 0.0], [1.0, 0.25, -0.5]]),
    "encoder": np.array([[0.1, 0.2, 0.3], [0.0, -0.1, -0.2]]),
}
HEADS = [(kind, *place) for kind, grid in KINDS.items() for place in np.ndindex(grid.shape)]


def test_each_head_is_a_square_with_its_effect_and_a_marker_that_names_it():
    figure = head_mosaic(KINDS, names={"cross": "<c>"}, value_title="Δ", chosen=[("encoder", 1, 2)])
    *squares, markers = figure.data
    for trace, grid in zip(squares, KINDS.values(), strict=True):
        np.testing.assert_array_equal(trace.z, grid.astype(np.float32))
        assert (trace.zmin, trace.zmax) == (-2, 2)
        assert [colour for _, colour in trace.colorscale] == list(palette("light").diverging)
    assert [tuple(head) for head in markers.customdata] == HEADS
    for (kind, layer, head), x, y in zip(HEADS, markers.x, markers.y, strict=True):
        trace = squares[list(KINDS).index(kind)]
        assert (x, y) == (trace.x0 + head, layer)
    assert "&lt;c&gt;" in markers.text[1] and "−2.000" in markers.text[1]
    assert len(set(zip(markers.x, markers.y, strict=True))) == len(HEADS)
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]
    (frame,), place = figure.layout.shapes, HEADS.index(("encoder", 1, 2))
    assert ((frame.x0 + frame.x1) / 2, (frame.y0 + frame.y1) / 2) == (markers.x[place], markers.y[place])
    assert head_mosaic(KINDS, largest=4).data[0].zmax == 4


def test_values_without_a_sign_begin_at_nothing_and_a_missing_one_is_a_dash():
    shares = {"cross": np.array([[0.5, np.nan]])}
    figure = head_mosaic(shares, signed=False, margins={"cross": np.array([[0.125, np.nan]])})
    squares, dashes, markers = figure.data
    assert (squares.zmin, squares.zmax) == (0, 0.5)
    assert [colour for _, colour in squares.colorscale] == list(palette("light").sequential)
    assert (dashes.x, dashes.y, dashes.text) == ((1,), (0,), ("–",))
    assert "<b>0.500</b> ± 0.125" in markers.text[0]
    assert "<b>–</b>" in markers.text[1]


@pytest.mark.parametrize("theme", THEMES)
def test_each_role_has_a_colour_a_sign_and_a_place_in_the_legend(theme):
    roles = {"cross": [["own", "none"], ["own", "next"]], "encoder": [["none"] * 2] * 2}
    labels = {"own": ("=", "copies"), "next": (">", "<next>"), "none": ("~", "no role")}
    details = {"cross": [["a", "b"], ["c", "<d>"]]}
    figure = role_mosaic(roles, labels, details=details, captions=Captions(theme=theme))
    assert [trace.name for trace in figure.data if trace.name] == [
        "= copies",
        "&gt; &lt;next&gt;",
        "~ no role",
    ]
    signs = {
        (x, y): trace.text[0]
        for trace in figure.data
        if trace.name
        for x, y in zip(trace.x, trace.y, strict=True)
    }
    markers = figure.data[-1]
    for (kind, layer, head), x, y in zip(markers.customdata, markers.x, markers.y, strict=True):
        assert signs[x, y] == labels[roles[kind][layer][head]][0].replace(">", "&gt;")
    assert markers.text[3].endswith("&lt;next&gt;<br>&lt;d&gt;")
    scale = figure.data[0].colorscale
    assert scale[0][1] == palette(theme).qualitative[0] and scale[-1][1] == palette(theme).grid


@pytest.mark.parametrize("theme", THEMES)
def test_each_head_is_a_point_of_its_kind(theme):
    attention = np.linspace(0, 1, len(HEADS))
    effects = np.concatenate([grid.ravel() for grid in KINDS.values()])
    figure = attention_effect_scatter(attention, effects, HEADS, chosen=[("cross", 0, 1)], theme=theme)
    assert [trace.name for trace in figure.data] == ["cross", "encoder"]
    found = {
        tuple(head): (x, y) for t in figure.data for head, x, y in zip(t.customdata, t.x, t.y, strict=True)
    }
    for head, x, y in zip(HEADS, attention, effects, strict=True):
        assert found[head] == (pytest.approx(x), pytest.approx(y))
    assert list(figure.data[0].marker.line.width) == [0, 3, 0, 0, 0, 0]
    assert len({trace.marker.symbol for trace in figure.data}) == 2
    assert "observed" in figure.layout.xaxis.title.text and "intervened" in figure.layout.yaxis.title.text


PANELS = [
    MethodPanel("attention", np.array([0.1, 0.4, 0.0]), note="ρ <0.5>"),
    MethodPanel("occlusion", np.array([-8.0, 2.0, 4.0]), intervened=True),
    MethodPanel("nothing", np.zeros(3)),
]


def test_panels_share_their_tokens_and_are_scaled_to_their_own_largest():
    figure = contribution_panels(PANELS, ["가", "<", "가"], outlined=[1], split=2)
    np.testing.assert_allclose(figure.data[0].y, [0.25, 1, 0])
    np.testing.assert_allclose(figure.data[1].y, [-1, 0.25, 0.5])
    np.testing.assert_allclose(figure.data[1].customdata, [-8, 2, 4])
    assert list(figure.data[2].y) == [0, 0, 0]
    assert list(figure.data[0].x) == [0, 1, 2]
    assert [trace.yaxis for trace in figure.data] == ["y", "y2", "y3"]
    assert {figure.layout[f"yaxis{n}"].range for n in (2, 3)} == {figure.layout.yaxis.range}
    assert list(figure.layout.xaxis.ticktext)[1].endswith("<b>&lt;</b>")
    assert figure.layout.shapes[0].x0 == 1.5
    assert "ρ &lt;0.5&gt;" in figure.layout.annotations[0].text
    attention, occlusion, nothing = figure.data
    assert attention.marker.color == nothing.marker.color != occlusion.marker.color
    assert occlusion.marker.pattern.shape and not attention.marker.pattern.shape
    assert [(trace.name, trace.showlegend) for trace in (attention, occlusion)] == [
        ("observed", True),
        ("what if", True),
    ]


def test_a_text_above_the_tallest_bar_keeps_clear_of_the_panels_name_on_the_lowest_window():
    labelled = MethodPanel("class", np.array([1.0, 2.0, 0.0]), labels=("1", "2", ""))
    layout = contribution_panels([labelled, *PANELS], ["가", "나", "다"]).layout
    pixels = layout.meta["least"] - layout.margin.t - layout.margin.b  # of all panels
    (start, end), (low, high) = layout.yaxis.domain, layout.yaxis.range
    above = pixels * (end - start) * (high - 1) / (high - low)
    name = pixels * (1 - end)  # between the panel and the upper edge, where its name begins
    assert above + name >= 2 * 15, "a line for the name and a line for the text"


CURVES = {
    "effect": [(0, 0.8, 0.99), (4, 0.7, 0.9), (48, 0, 0)],
    "random 1": [(0, 0.8, 0.99), (4, 0.2, 0.3), (48, 0, 0)],
    "random 2": [(0, 0.8, np.nan), (4, 0.1, 0.2), (48, 0, 0)],
}


def test_the_chosen_order_lies_on_top_of_the_random_ones():
    figure = pruning_curve(CURVES, main="effect")
    exact, untouched = figure.data[2], figure.data[5]
    assert (exact.yaxis, untouched.yaxis) == ("y", "y2")
    assert exact.line.width > figure.data[0].line.width
    np.testing.assert_allclose(exact.y, [0.8, 0.7, 0])
    np.testing.assert_allclose(untouched.y, [0.99, 0.9, 0])
    assert list(exact.x) == [0, 4, 48]
    assert [trace.name for trace in figure.data if trace.showlegend] == [
        "random order",
        "least effective first",
    ]


BINS = pd.DataFrame(
    {
        "low": [0.0, 0.5, 0.9],
        "high": [0.5, 0.9, 1.0],
        "count": [2, 0, 500],
        "mean_confidence": [0.3, np.nan, 0.97],
        "share_right": [0.5, np.nan, 0.95],
    }
)


def test_filled_bins_are_points_and_all_bins_are_bars_of_their_width():
    diagonal, curve, bars = reliability_curve(BINS).data
    assert (list(diagonal.x), list(diagonal.y)) == ([0, 1], [0, 1])
    assert (list(curve.x), list(curve.y), list(curve.customdata)) == ([0.3, 0.97], [0.5, 0.95], [2, 500])
    assert list(bars.y) == [2, 0, 500]
    np.testing.assert_allclose(bars.x - bars.width / 2, BINS["low"])
    np.testing.assert_allclose(bars.x + bars.width / 2, BINS["high"])
