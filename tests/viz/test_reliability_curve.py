"""A reliability curve: each filled bin is a point at (confidence, share right), each bin a bar."""

import numpy as np
import pandas as pd
import pytest

from viz import THEMES, reliability_curve

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


def test_both_panels_share_the_confidence_and_every_bar_lies_inside():
    layout = reliability_curve(BINS).layout
    assert layout.xaxis.anchor == "y2"
    assert layout.yaxis.domain[0] > layout.yaxis2.domain[1]
    assert layout.yaxis2.range[0] < np.log10(1) and layout.yaxis2.range[1] > np.log10(500)


@pytest.mark.parametrize("theme", THEMES)
def test_texts_are_the_callers_and_escaped(theme):
    figure = reliability_curve(
        BINS, title="<t>", titles=("<1>", "2", "3"), curve_name="<m>", diagonal_name="<d>", theme=theme
    )
    layout = figure.layout
    assert (layout.title.text, layout.xaxis.title.text) == ("&lt;t&gt;", "&lt;1&gt;")
    assert (layout.yaxis.title.text, layout.yaxis2.title.text) == ("2", "3")
    assert [trace.name for trace in figure.data[:2]] == ["&lt;d&gt;", "&lt;m&gt;"]
    assert not [trace for trace in figure.data if "<1>" in (trace.hovertemplate or "")]


@pytest.mark.parametrize("empty", [pd.DataFrame(), BINS.iloc[:0]])
def test_no_bins_leave_the_diagonal_in_its_layout(empty):
    figure = reliability_curve(empty)
    assert len(figure.data) == 1
    assert figure.layout.xaxis.title.text == "Confidence"


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        (BINS.drop(columns="count"), r"\['count'\] too, received \['low', 'high'"),
        (BINS.assign(share_right=[0.5, np.nan, 1.5]), "0..1, received .*1.5"),
        (BINS.assign(mean_confidence=np.nan), "0..1, received .*nan"),
    ],
)
def test_mistakes_are_named_with_what_was_received(bins, message):
    with pytest.raises(ValueError, match=message):
        reliability_curve(bins)
