"""``head_grid``: a tile for each head, masked cells, order, frames, long sentences."""

import numpy as np
import pytest

from viz import cells_joined, head_grid
from viz.head_grid import MOST_CELLS, NO_CELL, STRONGEST, WEAKEST


def random_weights(layers=2, heads=3, queries=4, keys=5) -> np.ndarray:
    return np.random.default_rng(0).dirichlet(np.ones(keys), (layers, heads, queries))


def tile(figure, layer: int, head: int, queries: int, keys: int) -> np.ndarray:
    """One head's bytes, around the centre of its marker."""
    heatmap, markers = figure.data
    place = [tuple(pair) for pair in markers.customdata].index((layer, head))
    top, left = markers.y[place] - (queries - 1) / 2, markers.x[place] - (keys - 1) / 2
    return np.asarray(heatmap.z)[int(top) : int(top) + queries, int(left) : int(left) + keys]


def test_a_zero_weight_is_a_cell_and_a_masked_one_is_not():
    masked = np.triu(np.ones((3, 3), bool), 1)
    figure = head_grid(np.zeros((1, 1, 3, 3)), masked=masked)
    np.testing.assert_array_equal(np.asarray(figure.data[0].z), np.where(masked, NO_CELL, WEAKEST))
    strong = head_grid(np.full((1, 1, 1, 2), [0.25, 0.9]), colour_max=0.25).data[0]
    assert np.asarray(strong.z).tolist() == [[STRONGEST, STRONGEST]]
    assert list(strong.colorbar.ticktext) == ["0", "0.125", "0.25"]


def test_layers_run_down_and_heads_to_the_right_with_their_names():
    figure = head_grid(random_weights(), layer_title="층", head_title="머리", head_names=["<가>", "나", "다"])
    x, y, markers = figure.layout.xaxis, figure.layout.yaxis, figure.data[1]
    assert (x.title.text, y.title.text) == ("머리", "층")
    assert list(x.ticktext) == ["&lt;가&gt;", "나", "다"]
    assert list(y.ticktext) == ["1", "2"]
    assert y.range[0] > y.range[1]
    assert list(x.tickvals) == [2, 8, 14]
    assert markers.text[0] == "층 1<br>머리 &lt;가&gt;"
    assert markers.text[5] == "층 2<br>머리 다"
    assert figure.data[0].hoverinfo == "skip"


ORDER = [(1, 2), (0, 0), (1, 0), (0, 2)]


def test_tiles_stand_in_the_order_asked_for_with_their_labels_above_them():
    weights = random_weights()
    figure = head_grid(weights, order=ORDER, labels=["<a>", "b", "c", "d"])
    for layer, head in ORDER:
        shown = (tile(figure, layer, head, 4, 5).astype(float) - WEAKEST) / (STRONGEST - WEAKEST)
        np.testing.assert_allclose(shown, weights[layer, head], atol=0.5 / (STRONGEST - WEAKEST) + 1e-6)
    markers, notes = figure.data[1], figure.layout.annotations
    assert [note.text for note in notes] == ["&lt;a&gt;", "b", "c", "d"]
    gap = markers.y[3] - markers.y[0] - 4  # between two tiles of four rows, with a label in the middle
    assert [note.y for note in notes] == [y - 2 - gap / 2 for y in markers.y]
    assert list(markers.x) == [2, 8, 14, 2]
    assert markers.y[0] == markers.y[2] < markers.y[3]
    assert markers.text[0].endswith("<b>&lt;a&gt;</b>")
    assert not figure.layout.xaxis.showticklabels and not figure.layout.yaxis.showticklabels


def test_the_chosen_tiles_are_framed_inside_the_gaps():
    figure = head_grid(random_weights(), order=ORDER, chosen=[(0, 2), (1, 2)])
    markers, frames = figure.data[1], figure.layout.shapes
    assert [(frame.x0 + frame.x1) / 2 for frame in frames] == [markers.x[0], markers.x[3]]
    assert [(frame.y0 + frame.y1) / 2 for frame in frames] == [markers.y[0], markers.y[3]]
    assert {(frame.x1 - frame.x0, frame.y1 - frame.y0) for frame in frames} == {(6, 5)}
    assert not head_grid(random_weights()).layout.shapes


def test_long_sentences_are_shrunk_to_the_strongest_of_the_cells_that_are_joined():
    size = MOST_CELLS * 3 - 1
    weights = np.zeros((1, 2, size, size), np.float32)
    weights[0, 1, 4, size - 1] = 1
    assert cells_joined(size, 7) == 3
    assert cells_joined(MOST_CELLS, 7) == 1
    shown = tile(head_grid(weights), 0, 1, MOST_CELLS, MOST_CELLS)
    assert shown[1, MOST_CELLS - 1] == STRONGEST
    assert (shown == WEAKEST).sum() == shown.size - 1


def test_a_cell_is_masked_where_all_that_it_joins_is():
    size = MOST_CELLS * 2
    masked = np.triu(np.ones((size, size), bool), 1)
    mosaic = np.asarray(head_grid(np.zeros((1, 1, size, size)), masked=masked).data[0].z)
    np.testing.assert_array_equal(mosaic == NO_CELL, np.triu(np.ones((MOST_CELLS, MOST_CELLS), bool), 1))


def test_512_tokens_travel_as_lightly_as_128():
    def size(tokens):
        return len(head_grid(np.zeros((4, 4, tokens, tokens), np.float32)).to_json())

    assert size(512) < 1.01 * size(128)
    assert size(512) < 500_000


@pytest.mark.parametrize(("heads", "named"), [(8, 8), (16, 16), (32, 16)])
def test_the_numbers_of_many_heads_do_not_stand_on_each_other(heads, named):
    layout = head_grid(np.full((4, heads, 3, 3), 1 / 3)).layout
    assert len(layout.xaxis.ticktext) == len(layout.xaxis.tickvals) == named
    assert layout.xaxis.ticktext[:2] == ("1", str(1 + heads // named))
    assert len(layout.yaxis.ticktext) == 4
