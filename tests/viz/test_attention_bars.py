"""``attention_bars``: panels on one scale, outlines around runs of marked tokens."""

import numpy as np
import pytest

from viz import THEMES, attention_bars
from viz.theme import palette

TOKENS = ("가", "가", "␣", "<b>", "</s>")
WEIGHTS = np.array([[0.5, 0.25, 0.125, 0.125, 0.0], [0.0, 0.0, 0.25, 0.0, 0.75]])


def test_panels_share_one_scale_and_do_not_overlap():
    figure = attention_bars(WEIGHTS, TOKENS, ["one", "two"], first=7)
    bars, layout = figure.data, figure.layout
    np.testing.assert_array_equal([bar.y for bar in bars], WEIGHTS)
    assert list(bars[0].x) == list(layout.xaxis.tickvals) == [7, 8, 9, 10, 11]
    assert layout.yaxis.range == layout.yaxis2.range
    assert layout.yaxis.range[1] > 0.75
    assert layout.yaxis.domain[0] > layout.yaxis2.domain[1]
    assert layout.xaxis.anchor == "y2"
    assert [note.text for note in layout.annotations] == ["one", "two"]


@pytest.mark.parametrize("theme", THEMES)
def test_an_outline_encloses_each_run_in_every_panel_and_its_labels_are_bold(theme):
    figure = attention_bars(
        WEIGHTS, TOKENS, ["one", "two"], outlined=[3, 0, 1], outlined_title="<mine>", theme=theme
    )
    outlines = [trace for trace in figure.data if trace.type == "scatter"]
    assert [outline.yaxis for outline in outlines] == ["y", "y2"]
    assert [outline.showlegend for outline in outlines] == [True, False]
    for outline in outlines:
        assert outline.line.color == palette(theme).accent
        corners = [x for x in outline.x if x is not None]
        assert len(corners) == 10  # two closed rectangles
        assert (min(corners[:5]), max(corners[:5])) == pytest.approx((-0.47, 1.47))
        assert (min(corners[5:]), max(corners[5:])) == pytest.approx((2.53, 3.47))
    assert outlines[0].name == "&lt;mine&gt;"
    assert list(figure.layout.xaxis.ticktext) == [
        "<b>가</b>",
        "<b>가</b>",
        "␣",
        "<b>&lt;b&gt;</b>",
        "&lt;/s&gt;",
    ]
