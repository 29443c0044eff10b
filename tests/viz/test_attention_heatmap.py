"""``attention_heatmap``: cells, masks, labels, colour scales, frames, size in bytes."""

import json

import numpy as np
import plotly.graph_objects as go
import pytest

from tests.ui.screen import decode
from viz import MapTexts, attention_heatmap

SENTENCE = "손니미 완는데 방이 업쓰며 너떠캐요? "


def tokens(count: int) -> list[str]:
    return list((SENTENCE * 30)[:count])


def uniform_causal(count: int) -> np.ndarray:
    """(Q, K): row q looks equally at the columns 0..q."""
    return np.tril(np.ones((count, count))) / np.arange(1, count + 1)[:, None]


def sent(figure: go.Figure) -> np.ndarray:
    """The cells, decoded from the JSON for the browser."""
    return decode(json.loads(figure.to_json())["data"][0]["z"])


def look_ahead(count: int) -> np.ndarray:
    return np.triu(np.ones((count, count), bool), 1)


@pytest.mark.parametrize("count", [10, 128])
def test_repeated_tokens_keep_their_own_ticks(count):
    figure = attention_heatmap(uniform_causal(count), tokens(count), tokens(count))
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        assert list(axis.tickvals) == list(range(1, count + 1))
        shown = [
            text.removesuffix("<br> ").removesuffix("<br> ").removesuffix("<br> ") for text in axis.ticktext
        ]
        assert shown == [token.replace(" ", "␣") for token in tokens(count)]


def test_the_hatching_covers_the_masked_cells_and_no_other():
    masked = np.array([[0, 1, 1, 0, 1], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], bool)
    hatching = attention_heatmap(np.zeros((3, 5)), "가나다", "가나다라마", masked=masked).data[1]
    covered = np.zeros((3, 5), bool)
    for corner in range(0, len(hatching.x), 5):
        left, right = hatching.x[corner], hatching.x[corner + 1]
        top, bottom = hatching.y[corner], hatching.y[corner + 2]
        covered[int(top - 0.5) : int(bottom - 0.5), int(left - 0.5) : int(right - 0.5)] = True
    np.testing.assert_array_equal(covered, masked)


def test_padded_masked_and_merely_small_look_different():
    weights = np.array([[1, 0, 0], [0.999, 0.001, 0], [0.2, 0.3, 0.5]])
    padded = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 1]], bool)
    figure = attention_heatmap(weights, "가나다", "라마바", masked=look_ahead(3), padded=padded)
    areas = [(trace.fillpattern.shape, trace.name) for trace in figure.data[1:3]]
    assert areas == [("/", "masked"), (".", "padding")]  # a small weight has its colour and no pattern
    text = figure.data[0].text.tolist()
    assert text == [["", " (masked)", " (masked)"], ["", "", " (masked)"], [" (padding)"] * 3]
    assert "</b>%{text}<br>" in figure.data[0].hovertemplate
    np.testing.assert_allclose(figure.data[0].z[2], weights[2])  # a row of padding keeps its weights


def test_the_hover_finds_the_label_of_every_place_even_where_none_is_in_sight():
    layout = attention_heatmap(np.zeros((200, 400)), ["나"] * 200, ["가"] * 400, first=(0, 3)).layout
    assert len(layout.xaxis.ticktext) < 400 and len(layout.yaxis.ticktext) < 200
    for hidden, shown, size, start in (("xaxis2", "x", 400, 4), ("yaxis2", "y", 200, 1)):
        axis = layout[hidden]
        assert (axis.overlaying, axis.matches, axis.showticklabels) == (shown, shown, False)
        assert list(axis.tickvals) == list(range(start, start + size))
        assert len(axis.ticktext) == size


def test_positions_count_from_where_the_first_cell_stands():
    figure = attention_heatmap(
        np.eye(3), "가나다", "라마바", first=(2, 1), emphasis_rows=[3], selected=(4, 1), masked=1 - np.eye(3)
    )
    heatmap, hatching = figure.data[:2]
    assert (heatmap.y0, heatmap.x0) == (3, 2)
    assert figure.layout.yaxis.range == (5.5, 2.5)
    assert figure.layout.xaxis.range == (1.5, 4.5)
    assert list(figure.layout.yaxis.tickvals) == [3, 4, 5]
    assert figure.layout.yaxis.ticktext[1].startswith("<b>")
    assert (min(x for x in hatching.x if x is not None), hatching.y[0]) == (1.5, 2.5)


def test_the_row_and_the_column_of_the_selected_cell_are_framed_and_in_the_legend():
    texts = MapTexts(selected="고른 줄")
    figure = attention_heatmap(np.eye(4), "가나다라", "마바사아", selected=(1, 3), texts=texts)
    frames = [((shape.x0, shape.x1), (shape.y0, shape.y1)) for shape in figure.layout.shapes]
    assert frames == [((0.5, 4.5), (1.5, 2.5)), ((3.5, 4.5), (4.5, 0.5))]
    assert [trace.name for trace in figure.data if trace.showlegend] == ["almost 0", "고른 줄"]
    assert not attention_heatmap(np.eye(4), "가나다라", "마바사아").layout.shapes


def test_a_difference_keeps_its_numbers_and_parts_at_0():
    values = np.array([[-0.75, 0.5]], np.float32)
    figure = attention_heatmap(values, "가", "나다", difference=True)
    np.testing.assert_array_equal(sent(figure), values)
    assert (figure.data[0].zmin, figure.data[0].zmax) == (-1, 1)
    assert "%{z:+.3f}" in figure.data[0].hovertemplate
    fitted = attention_heatmap(values, "가", "나다", difference=True, colour_max=None).data[0]
    assert (fitted.zmin, fitted.zmax) == (-0.75, 0.75)


@pytest.mark.parametrize("difference", [False, True])
def test_a_logarithm_changes_the_colours_and_not_the_numbers(difference):
    weights = np.array([[0.9, 0.09, 0.01]], np.float32)
    figure = attention_heatmap(weights, "가", "나다라", logarithmic=True, difference=difference)
    np.testing.assert_array_equal(sent(figure), weights)
    assert not figure.data[0].showscale
    bar = figure.data[-1].marker
    assert (bar.showscale, bar.cmax) == (True, pytest.approx(3))
    assert bar.colorbar.ticktext[-1] == "1"


def test_the_colour_range_is_fixed_unless_asked_otherwise():
    weights = np.array([[0.25, 0.125]])
    assert [attention_heatmap(weights, "가", "나다").data[0][end] for end in ("zmin", "zmax")] == [0, 1]
    assert attention_heatmap(weights, "가", "나다", colour_max=0.5).data[0].zmax == 0.5
    assert attention_heatmap(weights, "가", "나다", colour_max=None).data[0].zmax == 0.25
    assert attention_heatmap(weights * 0, "가", "나다", colour_max=None).data[0].zmax == 1


def test_maps_of_one_sentence_share_an_extent_that_is_never_shorter_than_a_side():
    sizes = [(4, 6), (6, 6), (4, 4)]
    for asked, expected in ((6, [6, 6, 6]), (None, [6, 6, 4]), (2, [6, 6, 4])):
        maps = [attention_heatmap(np.zeros(s), tokens(s[0]), tokens(s[1]), extent=asked) for s in sizes]
        assert [each.layout.meta["extent"] for each in maps] == expected
    assert attention_heatmap([], [], []).layout.meta["extent"] == 1


def test_hundreds_of_rows_share_out_the_height_and_the_changed_ones_keep_their_labels():
    layout = attention_heatmap(np.zeros((512, 9)), tokens(512), tokens(9), emphasis_rows=[101]).layout
    assert layout.height < 1_000
    shown = list(layout.yaxis.tickvals)
    assert 102 in shown
    assert 40 < len(shown) < 110
    assert min(np.diff(shown)) >= 5


@pytest.mark.parametrize(("count", "most"), [(40, 45_000), (128, 330_000)])
def test_size_of_what_travels(count, most):
    figure = attention_heatmap(uniform_causal(count), tokens(count), tokens(count), masked=look_ahead(count))
    assert len(figure.to_json().encode()) < most
