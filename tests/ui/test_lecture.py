"""Lecture mode enlarges the type of figures and leaves their numbers alone."""

import numpy as np
import pytest
from ui.lecture import enlarged

import viz

WEIGHTS = np.full((3, 3), 1 / 3, np.float32)


def test_every_font_grows_and_no_number_changes():
    figure = viz.attention_heatmap(WEIGHTS, "가나다", "가나다", title="제목")
    bigger = enlarged(figure, 1.5)
    assert bigger.layout.font.size == 1.5 * figure.layout.font.size
    assert bigger.layout.xaxis.tickfont.size == 1.5 * figure.layout.xaxis.tickfont.size
    assert bigger.layout.title.font.size == 1.5 * figure.layout.title.font.size
    np.testing.assert_array_equal(bigger.data[0].z, WEIGHTS)
    # The room above the cells grows, the cells stay as high as they were.
    drawn = [each.layout.height - each.layout.margin.t for each in (figure, bigger)]
    assert drawn[0] == pytest.approx(drawn[1])
    assert bigger.layout.margin.t == pytest.approx(1.5 * figure.layout.margin.t)


def test_the_switch_enlarges_the_figure_and_keeps_the_view(open_app):
    small, large = (open_app(sentence="고갱이 왔다", lecture=on) for on in ("", "1"))
    assert not large.exception
    assert large.toggle(key="control_lecture").value is True
    specs = [each.get("plotly_chart")[-1].proto.spec for each in (small, large)]
    assert specs[0] != specs[1]
